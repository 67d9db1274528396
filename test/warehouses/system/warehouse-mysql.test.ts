/*
 * Special features of MySQL: TLS and logins, results that break, and servers that answer what no
 * server would, against an imitation of its protocol. warehouse-kinds.test.ts has the common
 * behaviour of all kinds. A real server: test/warehouses/system/night/warehouse-mariadb.test.ts
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { startServer } from "../../harness.ts";
import { startIntegration } from "../../sync-runs.ts";
import { OTHER_AUTHORITY } from "../fakes/certificates.ts";
import { startMysql } from "../fakes/mysql.ts";

const server = await startServer();
const fake = await startMysql();
const table = "crm.users";
await fake.engine.run(
  `create table ${table} as select timestamptz '2026-01-01 12:00:00Z' + to_seconds(i // 100) as UPDATED_AT,
     'u' || (i % 10) as EXTERNAL_ID, '{"name":"e"}' as PAYLOAD from range(3000) t(i)`,
);

const start = (settings: object = {}) =>
  startIntegration(server, {
    type: "events",
    warehouse: { ...fake.settings, table, ...settings },
  });

const { url = "" } = fake.settings;

test("a password that mysql refuses ends the run as config_error, and is not in its message", async () => {
  const { sync } = await start({ url: url.replace(/:[^:@]+@/, ":hunter2@") });
  const run = await sync();
  assert.equal(run.job_status, "config_error");
  assert.match(`${run.message}`, /^The server refuses: Access denied/);
  assert.doesNotMatch(`${run.message}`, /hunter2/);
});

test("a certificate that another authority signed, or that is for another host, ends the run before the login", async () => {
  for (const [settings, message] of [
    [{ ca: OTHER_AUTHORITY }, /certificate is refused.*'ca' takes the authority/],
    [{ url: url.replace("localhost", "127.0.0.1") }, /certificate is refused: .*altnames/],
  ] as const) {
    const { sync } = await start(settings);
    fake.logins = 0;
    const run = await sync();
    assert.equal(run.job_status, "config_error", `${run.message}`);
    assert.match(`${run.message}`, message);
    assert.equal(fake.logins, 0);
  }
});

test("a server of mysql without TLS gets no login, unless tls is off", async () => {
  fake.hasTls = false;
  try {
    fake.logins = 0;
    const run = await (await start()).sync();
    assert.equal(run.job_status, "config_error");
    assert.match(`${run.message}`, /^The server has no TLS\./);
    assert.equal(fake.logins, 0);
    assert.equal((await (await start({ tls: "off" })).sync()).job_status, "success");
  } finally {
    fake.hasTls = true;
  }
});

test("a server of mysql that asks for the password in clear text does not get it", async () => {
  fake.afterLogin = Buffer.from("\xfemysql_clear_password\0", "latin1");
  const run = await (await start()).sync();
  fake.afterLogin = undefined;
  assert.equal(run.job_status, "config_error");
  assert.match(`${run.message}`, /another way to log in/);
});

test("a result of mysql that is cut in its middle fails the run, and the next one applies the rest once", async () => {
  const { workspace, sync } = await start();
  fake.faults.push({ on: /order by/, isCut: true });
  const run = await sync();
  assert.equal(run.job_status, "error");
  assert.match(`${run.message}`, /^The source failed: the connection was closed/);
  assert.ok(run.rows_synced > 0 && run.rows_synced < 3_000, `${run.rows_synced}`);
  assert.equal((await sync()).job_status, "success");
  const external_ids = Array.from({ length: 10 }, (_, index) => `u${index}`);
  const users = await workspace.profiles({ external_ids });
  assert.deepEqual(
    users.map((user: any) => user.custom_events[0].count),
    Array(10).fill(300),
  );
});

test("a run on mysql tries again by itself after a cut, as often as the integration says", async () => {
  const { sync } = await startIntegration(server, {
    type: "events",
    retry: { attempts: 2, delay_seconds: 1 },
    warehouse: { ...fake.settings, table },
  });
  fake.faults.push({ on: /order by/, isCut: true });
  const run = await sync();
  assert.deepEqual([run.job_status, run.rows_synced], ["success", 3_000], `${run.message}`);
});

/** A packet of the largest size: the next one belongs to the same row. */
const endless = Buffer.alloc(0xff_ff_ff, 0x20);

for (const [what, hostile, message] of [
  [
    "sends a row without an end",
    async (send: (payload: Buffer) => boolean) => {
      for (let packet = 0; packet < 4; packet++) {
        send(endless);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
    /sends more than was asked for/,
  ],
  [
    "asks for a file of the client",
    (send: (payload: Buffer) => boolean) => void send(Buffer.from("\xfb/etc/passwd", "latin1")),
    /the connection was closed/,
  ],
  [
    "describes a column that is none",
    (send: (payload: Buffer) => boolean) => {
      send(Buffer.from([1]));
      send(Buffer.from([0xfd, 0xff, 0xff, 0xff, 0x7f]));
    },
    /./,
  ],
] as const) {
  test(`a server of mysql that ${what} fails the run, and the server goes on`, async () => {
    const { sync } = await start();
    fake.faults.push({
      on: /limit 0/,
      before: () => {
        fake.hostile = hostile;
      },
    });
    const run = await sync();
    fake.hostile = undefined;
    assert.equal(run.job_status, "error", `${run.message}`);
    assert.match(`${run.message}`, message);
    assert.equal((await sync()).job_status, "success");
  });
}

test("an address of mysql with parameters, without a user or of another database is refused when it is declared", async () => {
  for (const wrong of [
    `${url}?ssl=false`,
    "mysql://localhost/crm",
    "postgres://rapport@localhost/crm",
    "mysql://rap%port@localhost/crm",
  ]) {
    const { status, body } = await server.admin("PUT", "/admin/v1/connections/wrong", {
      type: "mysql",
      url: wrong,
      workspaces: [],
    });
    assert.equal(status, 400, wrong);
    assert.match(body.message, /must be mysql:\/\/user:password@host:port\/database/, wrong);
  }
});
