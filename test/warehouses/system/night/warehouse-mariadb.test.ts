/*
 * Syncs from a real MariaDB, which the test starts itself: its SQL, its types and its locks behave
 * as the imitation of the protocol says. Skipped where `mariadbd` is not installed (Debian: apt-get
 * install mariadb-server-core).
 */
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import type { Connection } from "mysql2";
import { startServer } from "../../../harness.ts";
import { temporaryFolder } from "../../../stored-rows.ts";
import { startIntegration } from "../../../sync-runs.ts";
import { AUTHORITY, CERTIFICATE, CERTIFICATE_KEY } from "../../fakes/certificates.ts";

const PROGRAM = ["/usr/sbin/mariadbd", "/usr/local/sbin/mariadbd"].find(existsSync);

/** The statements of an empty server, which its package brings. */
const TABLES = ["system_tables", "performance_tables", "system_tables_data"].map(
  (name) => `/usr/share/mysql/mysql_${name}.sql`,
);

const skip =
  PROGRAM === undefined || !TABLES.every(existsSync) ? "mariadbd is not installed here" : false;

interface MariaDb {
  readonly port: number;
  run(statement: string): Promise<any>;
}

async function startMariaDb(program: string): Promise<MariaDb> {
  const folder = await temporaryFolder();
  const data = join(folder, "data");
  await mkdir(data);
  const common = ["--no-defaults", `--user=${process.env.USER ?? "root"}`, `--datadir=${data}`];
  const input = [
    "create database mysql;\nuse mysql;\nset @auth_root_socket=null;",
    ...TABLES.map((path) => readFileSync(path, "utf8")),
  ].join("\n");
  const prepared = spawnSync(program, [...common, "--bootstrap"], { input, encoding: "utf8" });
  assert.equal(prepared.status, 0, prepared.stderr);
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  await writeFile(key, CERTIFICATE_KEY);
  await writeFile(cert, CERTIFICATE);
  const port = await freePort();
  const socketPath = join(folder, "socket");
  const child = spawn(
    program,
    [...common, `--port=${port}`, "--bind-address=127.0.0.1", `--socket=${socketPath}`].concat(
      [`--ssl-cert=${cert}`, `--ssl-key=${key}`, "--innodb-flush-log-at-trx-commit=0"],
      // Dates without a month are allowed, as on servers of old.
      ["--sql-mode=", "--default-time-zone=-05:00", "--character-set-server=latin1"],
    ),
    { stdio: "ignore" },
  );
  after(() => void child.kill("SIGKILL"));
  const { createConnection } = await import("mysql2");
  const tryToConnect = () =>
    new Promise<Connection | undefined>((resolve) => {
      const client = createConnection({ socketPath, user: "root" });
      client.on("error", () => resolve(undefined)).on("connect", () => resolve(client));
    });
  let client: Connection | undefined;
  for (let tries = 0; client === undefined && tries < 300; tries++) {
    await pause(100);
    client = await tryToConnect();
  }
  assert.ok(client, "MariaDB does not start.");
  const connected = client;
  after(() => connected.destroy());
  return {
    port,
    run: (statement) =>
      new Promise((resolve, reject) => {
        connected.query(statement, (error, rows) => (error ? reject(error) : resolve(rows)));
      }),
  };
}

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const listener = createServer().listen(0, "127.0.0.1", () => {
      const { port } = listener.address() as { port: number };
      listener.close(() => resolve(port));
    });
  });

describe("a real MariaDB", { skip }, async () => {
  if (skip) return;
  const server = await startServer();
  const mariadb = await startMariaDb(PROGRAM as string);
  await mariadb.run("create database crm character set utf8mb4");
  await mariadb.run("use crm");
  await mariadb.run("create user reader@'%' identified by 'pass/word#1' require ssl");
  const url = `mysql://reader:${encodeURIComponent("pass/word#1")}@localhost:${mariadb.port}/crm`;
  let tables = 0;

  /** A table that the user may read, and nothing else. */
  async function startTable(columns: string, values: string, declared: object = {}) {
    const table = `crm.t${++tables}`;
    await mariadb.run(`create table ${table} (${columns})`);
    if (values) await mariadb.run(`insert into ${table} ${values}`);
    await mariadb.run(`grant select on ${table} to reader@'%'`);
    const warehouse = { type: "mysql", url, ca: AUTHORITY, table };
    return { table, ...(await startIntegration(server, { warehouse, ...declared })) };
  }

  test("a time of MariaDB keeps its microseconds, and is in UTC if it has no zone", async () => {
    for (const [column, value, expected] of [
      // The zone of the server is five hours behind.
      ["timestamp(6)", "'2026-01-01 07:00:00.123456'", "2026-01-01T12:00:00.123456Z"],
      ["datetime(6)", "'2026-03-29 02:30:00.5'", "2026-03-29T02:30:00.500000Z"],
      ["datetime", "'2026-03-29 02:30:00'", "2026-03-29T02:30:00.000000Z"],
      ["date", "'2026-01-01'", "2026-01-01T00:00:00.000000Z"],
      ["date", "'2026-00-00'", "2026-01-01T00:00:00.000000Z"],
      ["datetime", "'2026-03-00 10:00:00'", "2026-03-01T00:00:00.000000Z"],
    ]) {
      const { sync } = await startTable(
        `UPDATED_AT ${column}, EXTERNAL_ID varchar(50), PAYLOAD text`,
        `values (${value}, 'ada', '{"a":1}')`,
      );
      const run = await sync();
      assert.deepEqual(
        [run.job_status, run.last_timestamp_synced, run.message],
        ["success", expected, null],
        column,
      );
      const again = await sync();
      assert.deepEqual([again.job_status, again.rows_synced], ["success", 0], column);
    }
  });

  test("texts and whole numbers of MariaDB are ids with all their digits, other types are none", async () => {
    for (const [column, value, expected] of [
      ["varchar(50)", "'Ada Ωmega 🙂'", "Ada Ωmega 🙂"],
      ["varchar(50) character set latin1", "'Zoë'", "Zoë"],
      ["enum('ada', 'bob')", "'bob'", "bob"],
      ["bigint unsigned", "18446744073709551615", "18446744073709551615"],
      ["decimal(65,0)", "9".repeat(65), "9".repeat(65)],
      ["int(8) zerofill", "7", "00000007"],
      ["uuid", "'0b2f5c1e-6d0f-4e5e-9f43-2d1c0c8f6a11'", "0b2f5c1e-6d0f-4e5e-9f43-2d1c0c8f6a11"],
    ] as const) {
      const { sync, workspace } = await startTable(
        `UPDATED_AT datetime, EXTERNAL_ID ${column}, PAYLOAD text`,
        `values ('2026-01-01', ${value}, '{"a":1}')`,
      );
      const run = await sync();
      assert.equal(run.job_status, "success", `${column}: ${run.message}`);
      assert.equal((await workspace.profile({ external_ids: [expected] })).external_id, expected);
    }
    for (const column of ["double", "decimal(9,2)", "boolean", "varbinary(9)", "blob", "bit(8)"]) {
      const { sync } = await startTable(
        `UPDATED_AT datetime, EXTERNAL_ID ${column}, PAYLOAD text`,
        "",
      );
      const run = await sync();
      assert.equal(
        run.message,
        "The column EXTERNAL_ID must be text or whole numbers.",
        `${column}: ${run.message}`,
      );
    }
  });

  test("payloads of MariaDB are JSON or text of any size up to 1 MB, and tell null from missing", async () => {
    for (const [column, value, expected] of [
      [
        "json",
        `'{"plan":"gold","n":9007199254740993,"old":null,"deep":{"b":[1,2]}}'`,
        { plan: "gold", n: "9007199254740993", deep: { b: [1, 2] }, kept: 2 },
      ],
      ["longtext character set latin1", `'{"plan":"zoë"}'`, { plan: "zoë", old: 1, kept: 2 }],
    ] as const) {
      const { sync, workspace } = await startTable(
        `UPDATED_AT datetime, EXTERNAL_ID varchar(50), PAYLOAD ${column}`,
        `values ('2026-01-01', 'ada', ${value})`,
      );
      await workspace.track({ attributes: [{ external_id: "ada", old: 1, kept: 2 }] });
      const run = await sync();
      assert.deepEqual([run.job_status, run.message], ["success", null], column);
      const { custom_attributes } = await workspace.profile({ external_ids: ["ada"] });
      assert.deepEqual(custom_attributes, expected, column);
    }
    const { syncWithLog } = await startTable(
      "UPDATED_AT datetime, EXTERNAL_ID varchar(50), PAYLOAD longtext",
      `values ('2026-01-01', 'big', concat('{"a":"', repeat('x', 9000000), '"}')),
         ('2026-01-01', 'none', null), ('0000-00-00', 'zero', '{}'), (null, 'never', '{}')`,
    );
    const { rows } = await syncWithLog();
    assert.deepEqual(rows.map(({ identity, code }) => `${identity.external_id} ${code}`).sort(), [
      "big PAYLOAD_TOO_LARGE",
      "never INVALID_UPDATED_AT",
      "none PAYLOAD_MISSING",
      "zero INVALID_UPDATED_AT",
    ]);
    const binary = await startTable(
      "UPDATED_AT datetime, EXTERNAL_ID varchar(50), PAYLOAD longblob",
      "",
    );
    assert.match(`${(await binary.sync()).message}`, /PAYLOAD must be JSON as text/);
  });

  test("ties at the watermark that come late to MariaDB are applied once", async () => {
    const row = "('2026-01-01 12:00:00.5', 'ada', '{\"name\":\"e\"}')";
    const { sync, table, workspace } = await startTable(
      "UPDATED_AT timestamp(6) not null default '2026-01-01', EXTERNAL_ID varchar(50), PAYLOAD json",
      `values ${row}, ${row}`,
      { type: "events" },
    );
    assert.equal((await sync()).rows_synced, 2);
    await mariadb.run(`insert into ${table} values ${row}`);
    const run = await sync();
    assert.deepEqual([run.rows_read, run.rows_synced], [3, 1]);
    const ada = await workspace.profile({ external_ids: ["ada"] });
    assert.equal(ada.custom_events[0].count, 3);
  });

  test("a table of MariaDB that the user may not read, or that is missing, ends the run as config_error without its name", async () => {
    await mariadb.run("create table crm.secret (UPDATED_AT datetime)");
    for (const table of ["crm.secret", "crm.missing", "mysql.user"]) {
      const warehouse = { type: "mysql", url, ca: AUTHORITY, table };
      const { sync } = await startIntegration(server, { warehouse });
      const run = await sync();
      assert.deepEqual(
        [run.job_status, run.message],
        ["config_error", "The warehouse refuses: the user may not select from the table."],
      );
    }
  });

  test("names of MariaDB in backticks are read with any characters", async () => {
    await mariadb.run("create database `odd db`");
    await mariadb.run(
      "create table `odd db`.`select ``1`` from` (`Updated_At` datetime, `External_Id` text, `Payload` json, `a``b` int)",
    );
    await mariadb.run("insert into `odd db`.`select ``1`` from` values (now(), 'ada', '{}', 1)");
    await mariadb.run("grant select on `odd db`.* to reader@'%'");
    const table = "`odd db`.`select ``1`` from`";
    const warehouse = { type: "mysql", url, ca: AUTHORITY, table };
    const { sync } = await startIntegration(server, { warehouse });
    const run = await sync();
    assert.deepEqual([run.job_status, run.rows_synced], ["success", 1], `${run.message}`);
  });

  test("a test of a source of MariaDB reads five rows of many, and leaves no statement and no connection behind", async () => {
    const { path, table } = await startTable(
      "UPDATED_AT datetime, EXTERNAL_ID varchar(50), PAYLOAD json",
      "",
    );
    await mariadb.run(
      `insert into ${table} select '2026-01-01', concat('u', seq), concat('{"a":"', repeat('x', 200), '"}') from seq_1_to_100000`,
    );
    const { body } = await server.admin("POST", `${path}/test`);
    assert.deepEqual([body.problem, body.rows_to_read, body.rows.length], [null, 100_000, 5]);
    for (let tries = 0; ; tries++) {
      const left = await mariadb.run(
        "select * from information_schema.processlist where user = 'reader'",
      );
      if (left.length === 0) break;
      assert.ok(tries < 100, JSON.stringify(left));
      await pause(50);
    }
  });
});
