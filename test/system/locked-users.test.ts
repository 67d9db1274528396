/*
 * Locks that another transaction holds, and servers that are stopped with locks: only the requests that need them wait.
 * A person with psql has the other transaction.
 */
import assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import { after, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import postgres from "postgres";
import { examineAll } from "../../src/cli/doctor.ts";
import { freshDatabase } from "../core/database/fresh-database.ts";
import { freePort } from "../free-port.ts";
import { ALERTS, ENGINE, startOwnServer, type TestWorkspace, workspaceAt } from "../harness.ts";
import { temporaryFolder } from "../stored-rows.ts";
import { startChild } from "./child-server.ts";

const skip = ENGINE !== "postgres" && "the embedded engine has no locks of others";

/** Takes locks as a person does, and keeps them until they are released. */
async function hold(databaseUrl: string, statement: string) {
  const sql = postgres(databaseUrl, {
    max: 1,
    onnotice: () => {},
    connection: { application_name: "psql" },
  });
  after(() => sql.end({ timeout: 1 }));
  await sql.unsafe("begin");
  await sql.unsafe(statement);
  return { release: () => sql.unsafe("rollback") };
}

const lockOf = (id: string) =>
  `select version from profiles where external_id = '${id}' for update`;

const CAME = { external_id: "ada", name: "came", time: "2026-01-01T00:00:00Z" };

const attributesOf = (external_id: string, more: object = {}) => ({
  attributes: [{ external_id, ...more }],
});

async function until(what: string, isSo: () => Promise<boolean> | boolean): Promise<void> {
  const giveUpAt = performance.now() + 30_000;
  while (!(await isSo())) {
    assert.ok(performance.now() < giveUpAt, `Not in time: ${what}.`);
    await sleep(50);
  }
}

/** A request that has not been answered yet. */
function pendingOf<Answer extends { readonly status: number }>(answer: Promise<Answer>) {
  const request = { status: undefined as number | undefined, answer };
  void answer.then(({ status }) => {
    request.status = status;
  });
  return request;
}

describe("a user whom another transaction has locked", { skip, timeout: 120_000 }, () => {
  const start = async (settings = {}, ofWorkspace = {}) => {
    const databaseUrl = `${await freshDatabase()}`;
    const server = await startOwnServer({ databaseUrl, ...settings });
    const workspace = await server.workspace({
      subscription_groups: [{ id: ALERTS, name: "Alerts", channel: "email" }],
      ...ofWorkspace,
    });
    for (const id of ["ada", "bob", "cyd", "dan", "eve"]) {
      await workspace.track(attributesOf(id, { email: `${id}@example.com` }));
    }
    return { databaseUrl, server, workspace };
  };

  test("requests about other users of all workspaces are served while a user is locked, and those about the user once the lock is released", async () => {
    const { databaseUrl, server, workspace } = await start();
    const elsewhere = await server.workspace();
    const { release } = await hold(databaseUrl, lockOf("ada"));
    const waiting = [1, 2, 3].map((turn) =>
      pendingOf(workspace.track(attributesOf("ada", { turn }))),
    );
    for (let round = 0; round < 5; round++) {
      assert.equal((await workspace.track(attributesOf("bob", { round }))).status, 201);
      assert.equal((await elsewhere.track(attributesOf("ada", { round }))).status, 201);
    }
    assert.deepEqual(
      waiting.map(({ status }) => status),
      [undefined, undefined, undefined],
    );
    await release();
    for (const { answer } of waiting) assert.equal((await answer).status, 201);
    const ada = await workspace.profile({ external_ids: ["ada"] });
    // They were sent at once, on connections of their own.
    assert.ok([1, 2, 3].includes(ada.custom_attributes.turn));
  });

  test("the writes of a locked user are made in the order of their arrival", async () => {
    const { databaseUrl, workspace } = await start();
    const { release } = await hold(databaseUrl, lockOf("ada"));
    const turns = Array.from({ length: 20 }, (_, turn) => turn);
    const answers: Promise<{ status: number }>[] = [];
    for (const turn of turns) {
      // A list shows the order, not only the last one.
      const body = attributesOf("ada", { turns: { add: [`turn ${turn}`] } });
      answers.push(workspace.track(body));
      if (turn % 5 === 0) await workspace.track(attributesOf("bob", { turn }));
    }
    await release();
    for (const answer of answers) assert.equal((await answer).status, 201);
    const { custom_attributes } = await workspace.profile({ external_ids: ["ada"] });
    assert.deepEqual(
      custom_attributes.turns,
      turns.map((turn) => `turn ${turn}`),
    );
  });

  test("a request about several users of whom one stays locked gets 503 and writes nothing, and one that shares another user with it is served first", {
    timeout: 30_000,
  }, async () => {
    // It would wait for a minute. No request is divided among lanes where merged external ids still name the user who was kept.
    const settings = { redirect_merged_ids: true };
    const { databaseUrl, workspace } = await start({ databaseTimeoutSeconds: 120 }, { settings });
    const { release } = await hold(databaseUrl, lockOf("ada"));
    const both = workspace.track({
      attributes: [
        { external_id: "cyd", mood: "early" },
        { external_id: "ada", mood: "early" },
      ],
    });
    await sleep(300);
    const late = await workspace.track(attributesOf("cyd", { mood: "late" }));
    assert.equal(late.status, 201);
    const refused = await both;
    assert.equal(refused.status, 503);
    assert.match(String(refused.headers.get("retry-after")), /^\d+$/);
    await release();
    const { custom_attributes } = await workspace.profile({ external_ids: ["cyd"] });
    assert.equal(custom_attributes.mood, "late");
    assert.equal(
      (await workspace.profile({ external_ids: ["ada"] })).custom_attributes.mood,
      undefined,
    );
  });

  test("a request about several users of whom one stays locked is written in whole or not at all if it has an Idempotency-Key, and its repetition takes effect once", async () => {
    const { databaseUrl, workspace } = await start({ databaseTimeoutSeconds: 4 });
    const { release } = await hold(databaseUrl, lockOf("ada"));
    // Many users, so that each lane has some. A new server divides requests as one with much to do.
    const ids = ["ada", "bob", ...Array.from({ length: 40 }, (_, user) => `user-${user}`)];
    const body = { events: ids.map((external_id) => ({ ...CAME, external_id })) };
    const send = () => workspace.track(body, { headers: { "idempotency-key": "of many users" } });
    const written = async () => {
      const found = await workspace.profiles({ external_ids: ids.slice(0, 40) });
      return found.filter(({ custom_events }) => custom_events.length > 0);
    };
    assert.equal((await send()).status, 503);
    assert.deepEqual(await written(), []);
    // Without a key, each item is written or not: those who wait for the locked user stay together.
    const waiting = workspace.track({ events: [CAME] });
    await sleep(300);
    const some = { events: ids.slice(0, 20).map((external_id) => ({ ...CAME, external_id })) };
    assert.equal((await workspace.track(some)).status, 503);
    assert.equal((await waiting).status, 503);
    assert.deepEqual(await written(), []);
    await release();
    for (const turn of [1, 2]) assert.equal((await send()).status, 201, `turn ${turn}`);
    const after = await written();
    assert.equal(after.length, 40);
    assert.ok(after.every(({ custom_events }) => custom_events[0].count === 1));
  });

  /** Each merge has users of its own. */
  const keptOf = (id: string) => (id === "ada" ? "dan" : "eve");

  const writes: Readonly<
    Record<string, (workspace: TestWorkspace, id: string) => Promise<{ status: number }>>
  > = {
    "an email status": (workspace, id) =>
      workspace.call("POST", "/email/status", {
        email: `${id}@example.com`,
        subscription_state: "opted_in",
      }),
    "a subscription state": (workspace, id) =>
      workspace.call("POST", "/v2/subscription/status/set", {
        subscription_groups: [
          { subscription_group_id: ALERTS, subscription_state: "subscribed", external_ids: [id] },
        ],
      }),
    "a new alias": (workspace, id) =>
      workspace.call("POST", "/users/alias/new", {
        user_aliases: [{ external_id: id, alias_name: `alias of ${id}`, alias_label: "test" }],
      }),
    "a merge": (workspace, id) =>
      workspace.call("POST", "/users/merge", {
        merge_updates: [
          {
            identifier_to_merge: { external_id: id },
            identifier_to_keep: { external_id: keptOf(id) },
          },
        ],
      }),
    "a merge with an Idempotency-Key": (workspace, id) =>
      workspace.call(
        "POST",
        "/users/merge",
        {
          merge_updates: [
            {
              identifier_to_merge: { external_id: id },
              identifier_to_keep: { external_id: keptOf(id) },
            },
          ],
        },
        { headers: { "idempotency-key": `merge ${id}` } },
      ),
    "a track request with an Idempotency-Key": (workspace, id) =>
      workspace.track(attributesOf(id, { mood: "good" }), {
        headers: { "idempotency-key": `track ${id}` },
      }),
    "a deletion": (workspace, id) =>
      workspace.call("POST", "/users/delete", { external_ids: [id] }),
  };
  for (const [name, write] of Object.entries(writes)) {
    test(`${name} waits for a locked user alone, keeps nobody else waiting, and succeeds once the lock is released`, async () => {
      const { databaseUrl, workspace } = await start();
      const { release } = await hold(databaseUrl, lockOf("ada"));
      const waiting = pendingOf(write(workspace, "ada"));
      await sleep(200);
      assert.ok((await write(workspace, "bob")).status < 300);
      assert.equal((await workspace.track(attributesOf("cyd"))).status, 201);
      assert.equal(waiting.status, undefined);
      await release();
      assert.ok((await waiting.answer).status < 300);
    });
  }

  test("a write of a locked user does not give up earlier while a reset has locked the live requests", async () => {
    const { databaseUrl, workspace } = await start();
    const user = await hold(databaseUrl, lockOf("ada"));
    const reset = await hold(databaseUrl, "lock table live_requests in share row exclusive mode");
    const waiting = pendingOf(workspace.track(attributesOf("ada", { turn: 1 })));
    await sleep(2_500);
    assert.equal(waiting.status, undefined);
    await user.release();
    assert.equal((await waiting.answer).status, 201);
    await reset.release();
  });

  test("the log, the metrics, doctor and the overview name the transaction that holds the locks, without the data in its statement", async () => {
    const lines: string[] = [];
    const databaseUrl = `${await freshDatabase()}`;
    const metricsPort = await freePort();
    const settings = { databaseUrl, metricsPort, logLevel: "info" } as const;
    const server = await startOwnServer(settings, { write: (line) => void lines.push(line) });
    const workspace = await server.workspace();
    await workspace.track(attributesOf("ada"));
    const { release } = await hold(databaseUrl, lockOf("ada"));
    const waiting = workspace.track(attributesOf("ada", { mood: "good" }));
    const entryOf = (message: string) =>
      lines.map((line) => JSON.parse(line)).find(({ msg }) => msg === message);
    await until(
      "the log names it",
      () => entryOf("requests wait for locks that another transaction holds") !== undefined,
    );
    const entry = entryOf("requests wait for locks that another transaction holds");
    assert.equal(entry.application, "psql");
    assert.equal(entry.query, "select version from profiles where external_id = '…' for update");
    assert.equal(entry.state, "idle in transaction");
    assert.ok(entry.pid > 0 && entry.since, JSON.stringify(entry));
    const gauge = async () => {
      const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
      return Number(/^rapport_lock_holder_seconds (\S+)$/m.exec(text)?.[1]);
    };
    assert.ok((await gauge()) >= 1);
    const overview = async () => {
      const { body } = await server.admin("GET", `/admin/v1/workspaces/${workspace.name}/overview`);
      return body.attention.find(({ kind }: { kind: string }) => kind === "lock_held");
    };
    await until("the overview names it", async () => (await overview()) !== undefined);
    assert.equal((await overview()).subject, "psql");
    assert.match(
      (await overview()).message,
      new RegExp(`process ${entry.pid}.* for \\d+ s: select`),
    );
    const findings = await examineAll({
      DATABASE_URL: databaseUrl,
      ADMIN_TOKEN: server.adminToken,
      SECRET_KEY: "the-secret-key-of-the-tests",
      DATA_DIR: await temporaryFolder(),
      PORT: "0",
    });
    const found = findings.find(({ check }) => check === "locks");
    assert.equal(found?.status, "warning");
    assert.match(`${found?.remedy}`, new RegExp(`pg_terminate_backend\\(${entry.pid}\\)`));
    await release();
    await waiting;
    await until(
      "the log says that it is over",
      () => entryOf("the locks are released") !== undefined,
    );
    assert.equal(await gauge(), 0);
  });
});

test("a server that is stopped in the middle of a transaction keeps others from its users for two seconds, and goes on when it continues", {
  skip,
  timeout: 60_000,
}, async () => {
  const databaseUrl = `${await freshDatabase()}`;
  const child = await startChild({ DATABASE_URL: databaseUrl, DATA_DIR: await temporaryFolder() });
  const server = await startOwnServer({ databaseUrl });
  const workspace = await server.workspace();
  const there = workspaceAt(child.url, workspace);
  await workspace.track(attributesOf("ada"));
  assert.equal((await there.track(attributesOf("ada", { first: true }))).status, 201);
  const isInTransaction = async () => {
    const rows = await server.database.query(
      `select 1 from pg_stat_activity where datname = current_database()
         and state = 'idle in transaction' and backend_xid is not null`,
    );
    return rows.length > 0;
  };
  const sent: Promise<{ status: number }>[] = [];
  await until("the server is stopped with the lock of the user", async () => {
    sent.push(there.track({ events: [{ ...CAME, properties: { sent: sent.length } }] }));
    await sleep(Math.random() * 15);
    child.signal("SIGSTOP");
    // What is on its way to PostgreSQL arrives.
    await sleep(50);
    if (await isInTransaction()) return true;
    child.signal("SIGCONT");
    return false;
  });
  const other = await workspace.track(attributesOf("ada", { other: true }));
  assert.equal(other.status, 201);
  child.signal("SIGCONT");
  const statuses = (await Promise.all(sent)).map(({ status }) => status);
  assert.deepEqual(
    statuses.filter((status) => status !== 201 && status !== 503),
    [],
  );
  assert.equal((await there.track(attributesOf("ada", { last: true }))).status, 201);
  const { custom_attributes, custom_events } = await workspace.profile({ external_ids: ["ada"] });
  assert.equal(custom_attributes.other, true);
  const written = statuses.filter((status) => status === 201).length;
  assert.equal(custom_events[0]?.count ?? 0, written);
  await child.end("SIGTERM");
});

/** Locks a user, and stops in the middle of sending a statement. */
async function holdHalfSent(databaseUrl: string, application_name: string, id: string) {
  let isStopped = false;
  const sql = postgres(databaseUrl, {
    max: 1,
    connection: { application_name },
    socket: ({ host, port }: { host: string[]; port: number[] }) => {
      const socket = connect(port[0] ?? 0, host[0]);
      const write = socket.write.bind(socket);
      socket.write = ((part: Buffer, done?: () => void) => {
        if (isStopped) return true;
        // Flush: the client waits for the types of the parameters, and would send them then.
        isStopped = part.includes(FLUSH);
        return write(part, done);
      }) as Socket["write"];
      return socket;
    },
  } as object);
  after(() => sql.end({ timeout: 0 }));
  await sql.unsafe("begin");
  await sql.unsafe(lockOf(id));
  void sql.unsafe("select $1::text", ["never sent"]).catch(() => {});
  await until("the statement is sent in part", () => isStopped);
}

const FLUSH = Buffer.from([0x48, 0, 0, 0, 4]);

test("a server that is stopped in the middle of a statement keeps others from its users for about three seconds, another program for as long as it likes", {
  skip,
  timeout: 60_000,
}, async () => {
  const databaseUrl = `${await freshDatabase()}`;
  const server = await startOwnServer({ databaseUrl, databaseTimeoutSeconds: 10 });
  const workspace = await server.workspace();
  for (const id of ["ada", "bob"]) await workspace.track(attributesOf(id));
  // Older ones of others, more than the log names.
  for (const id of ["c", "d", "e", "f", "g"]) {
    await workspace.track(attributesOf(id));
    await hold(databaseUrl, lockOf(id));
  }
  await holdHalfSent(databaseUrl, "rapport", "ada");
  await holdHalfSent(databaseUrl, "psql", "bob");
  const [ada, bob] = await Promise.all(
    ["ada", "bob"].map((id) => workspace.track(attributesOf(id, { other: true }))),
  );
  assert.deepEqual([ada?.status, bob?.status], [201, 503]);
});
