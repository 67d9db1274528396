/* Entries of earlier versions can have megabytes: what reads the audit takes some of them at a time. New ones are short (docs/audit.md). */
import assert from "node:assert/strict";
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { describe, test } from "node:test";
import { parse } from "csv-parse/sync";
import { chainTo } from "../../../../../src/core/admin/audit/chain.ts";
import { insertEntries, lockHead } from "../../../../../src/core/admin/audit/store.ts";
import { systemClock } from "../../../../../src/core/base/clock.ts";
import { startOwnServer } from "../../../../harness.ts";
import { sized } from "../../../../sizes.ts";
import { runCommand } from "../../../../system/child-server.ts";

const server = await startOwnServer();
await server.admin("PUT", "/admin/v1/workspaces/shop", {});

const MEGABYTE = 1_048_576;
const LARGE = sized(6, 12);

/** The names of the large entries, oldest first: each is one of a thing with an id and a name. */
const names = Array.from({ length: LARGE }, () => randomUUID());

await server.database.transaction(async (tx) => {
  const head = await lockHead(tx);
  assert.ok(head);
  const entries = names.map((name, index) => ({
    id: systemClock.newId(),
    at: systemClock.now(),
    workspace: "shop",
    action: "created",
    kind: "large",
    name,
    // The last one alone is larger than a page.
    details: {
      name: `Large ${index}`,
      text: "ab".repeat(index === LARGE - 1 ? 3 * MEGABYTE : MEGABYTE / 2),
    },
    actor: "administrator" as const,
    actorName: null,
    call: null,
    requestId: null,
    address: null,
  }));
  const chained = chainTo(head, entries);
  const last = chained.at(-1);
  assert.ok(last);
  await insertEntries(tx, chained, { entries: last.position, hash: last.hash });
});
await server.admin("PUT", "/admin/v1/workspaces/shop/teams/one", {});

const read = (path: string) =>
  fetch(`${server.url}/admin/v1/${path}`, {
    headers: { authorization: `Bearer ${server.adminToken}` },
  });

describe("large entries of the audit", () => {
  test("make a page of the list end earlier, and its cursor leads to every entry once", async () => {
    const found: string[] = [];
    const sizes: number[] = [];
    for (let cursor = ""; ; ) {
      const page = await read(`audit?kind=large&limit=1000${cursor}`);
      const text = await page.text();
      const { entries, next_cursor } = JSON.parse(text);
      assert.ok(entries.length === 1 || text.length < 4.1 * MEGABYTE, `${text.length} bytes`);
      found.push(...entries.map(({ name }: any) => name));
      for (const { name, label } of entries) assert.equal(label, `Large ${names.indexOf(name)}`);
      sizes.push(entries.length);
      if (next_cursor === undefined) break;
      cursor = `&cursor=${next_cursor}`;
    }
    assert.deepEqual(found, names.toReversed());
    assert.deepEqual(sizes, sized([1, 3, 2], [1, 3, 3, 3, 2]));
  });

  test("are all in the CSV, once", async () => {
    const text = await (await read("audit.csv?kind=large")).text();
    const rows: any[] = parse(text, { bom: true, columns: true });
    assert.deepEqual(
      rows.map(({ id }) => id),
      names.toReversed(),
    );
  });

  test("are all in the export, which has as many lines as were asked for, and in that of the command", async () => {
    const { body } = await server.admin("GET", "/admin/v1/audit?kind=large&limit=1");
    const after = body.entries[0].position - LARGE;
    const lines = async (query: string) =>
      (await (await read(`audit/export?${query}`)).text())
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line).name);
    assert.deepEqual(await lines(`after=${after}&limit=${LARGE}`), names);
    assert.deepEqual(await lines(`after=${after}`), [...names, "one"]);
    const exported = await runCommand(["audit", "export", "--after", String(after)], {
      RAPPORT_URL: server.url,
      ADMIN_TOKEN: server.adminToken,
    });
    assert.equal(exported.stdout.split("\n").length - 1, LARGE + 1);
  });

  test("are checked like others", async () => {
    const verify = async () => (await server.admin("GET", "/admin/v1/audit/verify")).body;
    assert.equal((await verify()).intact, true);
    await server.database.query(
      `update audit_entries set details = details || '{"name": "forged"}' where name = $1`,
      [names[4]],
    );
    const { intact, broken_at } = await verify();
    assert.deepEqual([intact, broken_at.entry.name], [false, names[4]]);
    await server.database.query(
      `update audit_entries set details = details || '{"name": "Large 4"}' where name = $1`,
      [names[4]],
    );
    assert.equal((await verify()).intact, true);
  });

  test("do not keep things from being found by name, as far as 32 MB of entries are read", async () => {
    const search = async (query: string): Promise<any[]> =>
      (await server.admin("GET", `/admin/v1/audit?query=${query}`)).body.entries;
    const old = await search(`large%20${LARGE - 1}`);
    assert.deepEqual(
      old.map(({ name }) => name),
      [names.at(-1)],
    );
    // In the way, and too random to be compressed.
    await server.database.query(
      `insert into audit_entries (entry_id, at, action, kind, name, details, actor)
       select ('ffffffff-ffff-7fff-8fff-' || lpad(number::text, 12, '0'))::uuid, now(), 'created', 'filler', 'filler',
         jsonb_build_object('text', $1::text), 'administrator'
       from generate_series(1, 33) as number`,
      [randomBytes(MEGABYTE / 2).toString("hex")],
    );
    assert.deepEqual(await search(`large%20${LARGE - 1}`), []);
    await server.database.query("delete from audit_entries where kind = 'filler'");
  });
});

describe("a new entry", () => {
  const values = (count: number) => Array.from({ length: count }, () => "x".repeat(1_000));
  const long = values(70);
  const summary = (value: unknown) => ({
    bytes: JSON.stringify(value).length,
    sha256: createHash("sha256").update(JSON.stringify(value)).digest("hex"),
  });

  test("of more than 64 KB has the size and hash of long members, before and after, and is in the chain", async () => {
    const id = randomUUID();
    const path = `/admin/v1/workspaces/shop/segments/${id}`;
    const filter = { custom_attribute: "plan", one_of: long };
    await server.admin("PUT", path, { name: "Long", filter });
    await server.admin("PATCH", path, { name: "Short", filter: { one_of: ["pro"] } });
    const { body } = await server.admin("GET", "/admin/v1/audit?kind=segment");
    const [changed, created] = body.entries;
    assert.equal(created.details.name, "Long");
    assert.deepEqual(created.details.filter, summary(filter));
    assert.deepEqual(changed.details, {
      before: { name: "Long", filter: summary({ one_of: long }) },
      after: { name: "Short", filter: { one_of: ["pro"] } },
    });
    const verified = await server.admin("GET", "/admin/v1/audit/verify");
    assert.equal(verified.body.intact, true);
  });

  test("of less than 64 KB has all its values", async () => {
    const id = randomUUID();
    const filter = { custom_attribute: "plan", one_of: values(60) };
    await server.admin("PUT", `/admin/v1/workspaces/shop/segments/${id}`, { name: "Kept", filter });
    const { body } = await server.admin("GET", "/admin/v1/audit?name=Kept");
    assert.deepEqual(body.entries[0].details.filter, filter);
  });
});
