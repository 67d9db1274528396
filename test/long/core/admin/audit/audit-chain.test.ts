/*
 * The audit as a chain: any change of its rows behind the server's back is found and named. Each
 * test changes rows in the server's database; the next one begins with the rows as they were.
 */
import assert from "node:assert/strict";
import { afterEach, describe, test } from "node:test";
import { createReadRecorder, recordRead } from "../../../../../src/core/admin/audit/audit.ts";
import { systemClock } from "../../../../../src/core/base/clock.ts";
import { BY_THE_SERVER } from "../../../../../src/core/base/context/context.ts";
import { countingDatabase } from "../../../../core/database/counted-statements.ts";
import { startOwnServer, type TestServer } from "../../../../harness.ts";
import { runCommand, runCommandForHead } from "../../../../system/child-server.ts";

interface Found {
  readonly intact: boolean;
  readonly entries: number;
  readonly head: string;
  readonly broken_at: {
    readonly position: number;
    readonly message: string;
    readonly entry: { readonly name: string } | null;
  } | null;
}

const verify = async (server: TestServer, query = ""): Promise<Found> => {
  const { status, body } = await server.admin("GET", `/admin/v1/audit/verify${query}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body;
};

const newTeams = async (server: TestServer, workspace: string, names: readonly string[]) => {
  for (const name of names) {
    const path = `/admin/v1/workspaces/${workspace}/teams/${name}`;
    assert.equal((await server.admin("PUT", path, {})).status, 200);
  }
};

const server = await startOwnServer();

/** Changes the database directly, as an intruder with its password would. */
async function tamper(...statements: string[]): Promise<void> {
  for (const statement of statements) await server.database.query(statement);
}

const team = (name: string) => `kind = 'team' and name = '${name}'`;

const positionOf = (name: string) => `(select position from audit_entries where ${team(name)})`;

/** A row as a forger writes it who does not work out hashes. */
const forged = (position: string) =>
  `insert into audit_entries (entry_id, at, action, kind, name, actor, position, hash)
   values ('01890000-0000-7000-8000-000000000001', now(), 'created', 'team', 'forged', 'administrator',
     ${position}, '${"0".repeat(64)}')`;

describe("an audit that was changed in the database is not intact", async () => {
  // Three rows about teams in the middle of the audit.
  await server.admin("PUT", "/admin/v1/company", { name: "Test" });
  await server.admin("PUT", "/admin/v1/workspaces/demo", {});
  await newTeams(server, "demo", ["one", "two", "three"]);
  const before = await verify(server);
  assert.ok(before.intact && before.entries > 4);
  const TABLES = ["audit_entries", "audit_heads"];
  await tamper(...TABLES.map((table) => `create table intact_${table} as select * from ${table}`));

  afterEach(async () => {
    for (const table of TABLES) {
      await tamper(`delete from ${table}`, `insert into ${table} select * from intact_${table}`);
    }
    assert.deepEqual(await verify(server), before);
  });

  const cases: readonly [what: string, statements: string[], named: string | null, says: RegExp][] =
    [
      [
        "where the details of a row were changed",
        [`update audit_entries set details = '{"declared":true}' where ${team("two")}`],
        "two",
        /changed/,
      ],
      [
        "where a row says another time",
        [`update audit_entries set at = at - interval '1 day' where ${team("two")}`],
        "two",
        /changed/,
      ],
      [
        "where a row was removed",
        [`delete from audit_entries where ${team("two")}`],
        null,
        /removed/,
      ],
      [
        "where a row was removed and the rows behind it moved up",
        [
          `delete from audit_entries where ${team("two")}`,
          `update audit_entries set position = position - 1 where ${team("three")}`,
          "update audit_heads set entries = entries - 1",
        ],
        "three",
        /changed or inserted/,
      ],
      [
        "where a row was inserted in the middle",
        [
          `update audit_entries set position = position + 1 where ${team("three")}`,
          forged(`${positionOf("two")} + 1`),
          "update audit_heads set entries = entries + 1",
        ],
        "forged",
        /inserted/,
      ],
      [
        "where a row was inserted at the end",
        [forged("(select entries + 1 from audit_heads)")],
        "forged",
        /inserted at the end/,
      ],
      [
        "where a row was inserted outside the chain",
        [forged("null")],
        null,
        /not part of the chain/,
      ],
      [
        "where the last rows were removed",
        [`delete from audit_entries where ${team("two")} or ${team("three")}`],
        null,
        /all after it were removed/,
      ],
    ];
  for (const [what, statements, named, says] of cases) {
    test(what, async () => {
      await tamper(...statements);
      const found = await verify(server);
      assert.equal(found.intact, false);
      assert.match(found.broken_at?.message ?? "", says);
      assert.equal(found.broken_at?.entry?.name ?? null, named);
    });
  }

  test("where the record of its end was removed, and then nothing changes that it would record", async () => {
    await tamper("delete from audit_heads");
    const found = await verify(server);
    assert.equal(found.intact, false);
    assert.match(found.broken_at?.message ?? "", /end of the chain/);
    const path = "/admin/v1/workspaces/demo/teams/four";
    const { status, body } = await server.admin("PUT", path, {});
    assert.equal(status, 503);
    assert.match(body.message, /end of the chain was removed.*npx rapport-server audit verify/);
  });

  test("where the last row was removed with the record of the end, if an earlier head is expected", async () => {
    await tamper(
      `delete from audit_entries where ${team("three")}`,
      `update audit_heads set entries = last.position, hash = last.hash
       from (select position, hash from audit_entries order by position desc limit 1) last`,
    );
    assert.equal((await verify(server)).intact, true);
    const found = await verify(server, `?expect=${before.head}`);
    assert.match(found.broken_at?.message ?? "", /No row has the expected hash/);
    const { code, stdout } = await runCommand(["audit", "verify", "--expect", before.head], {
      RAPPORT_URL: server.url,
      ADMIN_TOKEN: server.adminToken,
    });
    assert.equal(code, 2);
    assert.match(stdout, /^The audit was tampered with at entry \d+: No row has the expected hash/);
  });
});

describe("an audit", () => {
  test("the audit chain stays intact while many administrators write at the same time through several servers", async () => {
    const { databaseUrl } = server.config;
    const servers = databaseUrl ? [server, await startOwnServer(server.config)] : [server];
    const { entries, head } = await verify(server);
    await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        newTeams(servers[index % servers.length] as TestServer, "demo", [`t${index}`]),
      ),
    );
    const found = await verify(server, `?expect=${head}`);
    assert.deepEqual([found.intact, found.entries], [true, entries + 40]);
  });

  test("the audit is exported as one JSON entry per line, in pages, from a position or a time on", async () => {
    const environment = { RAPPORT_URL: server.url, ADMIN_TOKEN: server.adminToken };
    const names = Array.from({ length: 5 }, (_, index) => `exported-${index}`);
    await newTeams(server, "demo", names);
    const { entries, head } = await verify(server);
    const read = async (query: string): Promise<any[]> => {
      const answer = await fetch(`${server.url}/admin/v1/audit/export?${query}`, {
        headers: { authorization: `Bearer ${server.adminToken}` },
      });
      assert.equal(answer.headers.get("content-type"), "application/x-ndjson; charset=utf-8");
      return (await answer.text())
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line));
    };
    const all = await read("");
    assert.deepEqual(
      all.map((entry) => entry.position),
      Array.from({ length: entries }, (_, index) => index + 1),
    );
    assert.equal(all.at(-1).hash, head);
    const page = await read(`after=${entries - 3}&limit=2`);
    assert.deepEqual(
      page.map((entry) => entry.name),
      ["exported-2", "exported-3"],
    );
    assert.deepEqual(await read("since=2999-01-01T00:00:00Z"), []);
    const bad = await server.admin("GET", "/admin/v1/audit/export?since=soon");
    assert.deepEqual(bad.body.message, "'since' must be an ISO 8601 date-time");

    const exported = await runCommand(["audit", "export", "--since", all[0].at], environment);
    assert.equal(exported.stdout.split("\n").length - 1, entries);
    const checked = await runCommand(["audit", "verify", "--json"], environment);
    assert.deepEqual([checked.code, JSON.parse(checked.stdout).intact], [0, true]);
  });

  test("the audit is exported to a reader that stops early without an error", async () => {
    const teams = Array.from({ length: 500 }, (_, index) => ({ name: `team ${index}` }));
    const workspaces = [1, 2, 3, 4].map((each) => ({ name: `workspace ${each}`, teams }));
    await server.admin("POST", "/admin/v1/apply", { company: { name: "Test" }, workspaces });
    const environment = { RAPPORT_URL: server.url, ADMIN_TOKEN: server.adminToken };
    const { code, stderr } = await runCommandForHead(["audit", "export"], environment);
    assert.deepEqual([code, stderr], [0, ""]);
  });

  test("32 concurrent readers are recorded in two transactions, each with its own row in the chain", async () => {
    const workspace = await server.workspace();
    const path = `/admin/v1/workspaces/${workspace.name}/users`;
    const count = async () =>
      (await server.admin("GET", `/admin/v1/audit?workspace=${workspace.name}&of=reads&limit=100`))
        .body.entries;
    await Promise.all(Array.from({ length: 32 }, () => server.admin("GET", path)));
    const read = await count();
    assert.equal(read.length, 32);
    assert.equal(new Set(read.map((entry: { request_id: string }) => entry.request_id)).size, 32);

    const { database, counted } = countingDatabase(server.database);
    const recordAuditedRead = createReadRecorder({ database, clock: systemClock });
    const context = { ...BY_THE_SERVER, workspace };
    const reads = Array.from({ length: 32 }, (_, users) =>
      recordRead({ recordAuditedRead }, context as never, "user", users),
    );
    await Promise.all(reads);
    assert.equal(counted.transactions, 2);
    const users = (await count()).slice(0, 32).map((each: any) => each.details.users);
    assert.deepEqual(
      users.reverse(),
      Array.from({ length: 32 }, (_, index) => index),
    );
    assert.equal((await verify(server)).intact, true);
  });

  test("a read is refused if its record cannot be written, and the next one is recorded again", async () => {
    const workspace = await server.workspace();
    const path = `/admin/v1/workspaces/${workspace.name}/users`;
    await tamper("update audit_heads set chain = 'away'");
    const refused = await Promise.all([1, 2, 3].map(() => server.admin("GET", path)));
    await tamper("update audit_heads set chain = 'audit'");
    assert.deepEqual(
      refused.map(({ status }) => status),
      [503, 503, 503],
    );
    assert.equal((await server.admin("GET", path)).status, 200);
    assert.equal((await verify(server)).intact, true);
  });

  test("audit entries of reads name no user, and every read is in the chain", async () => {
    const workspace = await server.workspace();
    await workspace.track({ attributes: [{ external_id: "ada", email: "ada@private.example" }] });
    const set = { email: "ada@private.example", subscription_state: "unsubscribed" };
    assert.equal((await workspace.call("POST", "/email/status", set)).status, 201);
    const path = `/admin/v1/workspaces/${workspace.name}/subscription-history`;
    await server.admin("GET", `${path}?external_id=ada`);
    const { body } = await server.admin("GET", "/admin/v1/audit?limit=1");
    const [{ action, kind, details, call }] = body.entries;
    assert.deepEqual(
      [action, kind, details, call],
      [
        "read",
        "subscription_history",
        { users: 1 },
        `GET ${path.replace(workspace.name, ":name")}`,
      ],
    );
    assert.doesNotMatch(JSON.stringify(body.entries), /private|\bada\b/);
    assert.equal((await verify(server)).intact, true);
  });

  test("the audit lists changes or reads of personal data alone, and refuses another word", async () => {
    const workspace = await server.workspace();
    const list = (of: string) =>
      server.admin("GET", `/admin/v1/audit?workspace=${workspace.name}&of=${of}`);
    await server.admin("GET", `/admin/v1/workspaces/${workspace.name}/users`);
    const reads = (await list("reads")).body.entries;
    assert.deepEqual(
      reads.map((entry: { kind: string }) => entry.kind),
      ["user_search"],
    );
    const changes = (await list("changes")).body.entries;
    assert.ok(changes.length > 0);
    assert.ok(changes.every((entry: { action: string }) => entry.action !== "read"));
    assert.equal((await list("everything")).status, 400);
  });
});
