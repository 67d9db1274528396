/* How large filters may be: one, those of a workspace together, and the copies that exact counts keep (docs/segments.md). */
import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import { describe, test } from "node:test";
import { startServer, type TestWorkspace } from "../../harness.ts";
import { ask, declare, succeeds } from "../../segment-calls.ts";

const server = await startServer();

const MOST_BYTES = 262_144;
const TOO_LARGE = "'filter' has more than 256 KB as JSON.";

const pathOf = ({ name }: TestWorkspace) => `/admin/v1/workspaces/${name}/segments`;

const LONGEST = 1_000;

/** A filter of so many bytes as JSON. */
function filterOf(bytes: number): { custom_attribute: string; one_of: string[] } {
  const filter = { custom_attribute: "plan", one_of: [] as string[] };
  for (let left = bytes - JSON.stringify(filter).length; left > 0; ) {
    const around = filter.one_of.length === 0 ? '""'.length : ',""'.length;
    // What is left is nothing, or room for another value.
    const length = left > 2 * LONGEST ? LONGEST : Math.min(LONGEST, left - around);
    const rest = left - around - length;
    const value = "x".repeat(rest > 0 && rest < 10 ? length - 10 : length);
    filter.one_of.push(value);
    left -= around + value.length;
  }
  assert.equal(JSON.stringify(filter).length, bytes);
  return filter;
}

/** A filter of about 256 KB that cannot be compressed. */
const RANDOM = {
  custom_attribute: "plan",
  one_of: Array.from({ length: 130 }, () => randomBytes(1_000).toString("hex")),
};

/** Stores segments as earlier versions did. */
const store = (workspace: TestWorkspace, filters: readonly object[]) =>
  server.database.query(
    `insert into segments (workspace_id, segment_id, name, description, tags, filter, declared, created_at, updated_at)
     select workspace_id, gen_random_uuid(), 'Stored ' || number, '', '{}', filter::jsonb, false, now(), now()
     from workspaces, unnest($1::text[]) with ordinality as stored (filter, number) where name = $2`,
    [filters.map((filter) => JSON.stringify(filter)), workspace.name],
  );

/** Stores finished counts, the first one as the newest. */
const storeCounts = (workspace: TestWorkspace, filters: readonly object[]) =>
  server.database.query(
    `insert into segment_counts (workspace_id, count_id, filter, status, after, total, matching, expected, started_at, finished_at)
     select workspace_id, ('00000000-0000-7000-8000-' || lpad(number::text, 12, '0'))::uuid, filter::jsonb, 'finished', gen_random_uuid(), 1, 0, 1,
       now() - number * interval '1 minute', now() - number * interval '1 minute'
     from workspaces, unnest($1::text[]) with ordinality as stored (filter, number) where name = $2`,
    [filters.map((filter) => JSON.stringify(filter)), workspace.name],
  );

describe("a filter", () => {
  test("of more than 256 KB is refused with 400 wherever one is given, and of 256 KB accepted", async () => {
    const workspace = await server.workspace();
    await succeeds(workspace.track({ attributes: [{ external_id: "ada" }] }));
    const { platform_id: user_id } = await workspace.profile({ external_ids: ["ada"] });
    const largest = filterOf(MOST_BYTES);
    // As many characters, and one byte more.
    const larger = JSON.parse(JSON.stringify(largest).replace("x", "é"));
    for (const [what, rest] of Object.entries({
      count: {},
      users: {},
      explain: { user_id },
    })) {
      const refused = await ask(server, workspace, what, { ...rest, filter: larger });
      assert.deepEqual([refused.status, refused.body.message], [400, TOO_LARGE], what);
      await succeeds(ask(server, workspace, what, { ...rest, filter: largest }));
    }
    const id = randomUUID();
    const put = await declare(server, workspace, id, { name: "Large", filter: larger });
    assert.deepEqual([put.status, put.body.message], [400, `The segment 'Large': ${TOO_LARGE}`]);
    await succeeds(declare(server, workspace, id, { name: "Large", filter: largest }));
    const path = `${pathOf(workspace)}/${id}`;
    const patched = await server.admin("PATCH", path, { filter: { one_of: larger.one_of } });
    assert.equal(patched.status, 400);
    const segments = [{ id, name: "Large", filter: larger }];
    const applied = await server.admin("POST", "/admin/v1/apply", {
      company: { name: "Test" },
      workspaces: [{ name: workspace.name, segments }],
    });
    assert.equal(applied.status, 400);
  });

  test("of more than 256 KB that was stored before is shown, renamed and deleted, but not counted", async () => {
    const workspace = await server.workspace();
    const filter = filterOf(MOST_BYTES + 1);
    await store(workspace, [filter]);
    const { segments }: any = await succeeds(workspace.call("GET", "/segments/list"));
    assert.deepEqual(
      segments.map(({ name }: any) => name),
      ["Stored 1"],
    );
    const [{ id }] = segments;
    const details = `/segments/details?segment_id=${id}`;
    const { description }: any = await succeeds(workspace.call("GET", details));
    assert.ok(description.includes(filter.one_of[0]));
    await succeeds(declare(server, workspace, id, { name: "Renamed", filter }));
    const counted = await ask(server, workspace, "count", { segment_id: id });
    assert.deepEqual([counted.status, counted.body.message], [400, TOO_LARGE]);
    await succeeds(server.admin("DELETE", `${pathOf(workspace)}/${id}`));
  });
});

describe("the filters of a workspace", () => {
  test("have at most 8 MB together, and a workspace that has more can still make them smaller", async () => {
    const workspace = await server.workspace();
    await store(
      workspace,
      Array.from({ length: 31 }, () => filterOf(MOST_BYTES)),
    );
    const id = randomUUID();
    const put = (bytes: number) =>
      declare(server, workspace, id, { name: "Last", filter: filterOf(bytes) });
    await succeeds(put(MOST_BYTES));
    const more = await declare(server, workspace, randomUUID(), {
      name: "More",
      filter: filterOf(100),
    });
    assert.equal(more.status, 400);
    assert.match(more.body.message, /filters of a workspace's segments have at most 8 MB together/);
    await store(await server.workspace(), [filterOf(100)]);
    await server.database.query(
      `insert into segments (workspace_id, segment_id, name, description, tags, filter, declared, created_at, updated_at)
       select workspace_id, gen_random_uuid(), 'Another', '', '{}', filter, false, now(), now()
       from segments where segment_id = $1`,
      [id],
    );
    await succeeds(put(MOST_BYTES - 1));
    assert.equal((await put(MOST_BYTES)).status, 400);
  });
});

describe("the exact counts of a workspace", () => {
  test("are listed with the sentences of the newest filters, as many as have 4 MB", async () => {
    const workspace = await server.workspace();
    await storeCounts(
      workspace,
      Array.from({ length: 20 }, () => filterOf(MOST_BYTES)),
    );
    const { counts }: any = await succeeds(server.admin("GET", `${pathOf(workspace)}/counts`));
    assert.equal(counts.length, 20);
    const told = counts.map(({ description }: any) => description !== null);
    assert.ok(told.lastIndexOf(true) < told.indexOf(false), "the newest have sentences");
    assert.deepEqual([told.includes(true), told.filter(Boolean).length <= 16], [true, true]);
  });

  test("are kept as long as their filters have about 16 MB together, the newest ones", async () => {
    const workspace = await server.workspace();
    await storeCounts(
      workspace,
      Array.from({ length: 75 }, () => RANDOM),
    );
    const id = randomUUID();
    await declare(server, workspace, id, { name: "Pro", filter: filterOf(100) });
    await succeeds(ask(server, workspace, "count", { segment_id: id, exact: true }));
    const kept = await server.database.query<{ at: Date }>(
      `select started_at as at from segment_counts join workspaces using (workspace_id) where name = $1`,
      [workspace.name],
    );
    assert.ok(kept.length > 1 && kept.length < 72, `${kept.length} are kept`);
    const oldest = Math.min(...kept.map(({ at }) => at.getTime()));
    assert.ok(Date.now() - oldest < (kept.length + 1) * 60_000, "the newest are kept");
  });

  test("are erased with a user whom their filters name, in several steps", async () => {
    const workspace = await server.workspace();
    await succeeds(workspace.track({ attributes: [{ external_id: "ada-lovelace" }] }));
    const named = { attribute: "external_id", equals: "ada-lovelace" };
    const large = Array.from({ length: 12 }, () => RANDOM);
    await storeCounts(workspace, [named, ...large, named]);
    const { platform_id } = await workspace.profile({ external_ids: ["ada-lovelace"] });
    await succeeds(
      server.admin("DELETE", `/admin/v1/workspaces/${workspace.name}/users/${platform_id}`),
    );
    const rows = await server.database.query(
      "select from segment_counts join workspaces using (workspace_id) where name = $1",
      [workspace.name],
    );
    assert.equal(rows.length, 12);
  });
});
