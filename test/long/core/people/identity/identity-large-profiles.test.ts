/* The data that a request about identities loads is bounded, and so is its response, for profiles of any size. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { startServer, type TestWorkspace } from "../../../../harness.ts";

const server = await startServer();

/** Gives users about 900 KB of attributes each. */
async function fill(workspace: TestWorkspace, names: readonly string[]): Promise<void> {
  for (const external_id of names) {
    const attributes = Array.from({ length: 9 }, (_, part) => ({
      external_id,
      [`${external_id}_${part}`]: Array.from({ length: 400 }, () => external_id.padEnd(250, "x")),
    }));
    const { status, body } = await workspace.track({ attributes });
    assert.deepEqual([status, body.errors], [201, undefined]);
  }
}

const namesOf = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`);

const mergesOf = (names: readonly string[]) =>
  names.map((name) => ({
    identifier_to_merge: { external_id: name },
    identifier_to_keep: { external_id: `kept-${name}` },
  }));

const MEBIBYTE = 1_048_576;

test("a dry run of large merges is answered in pages that together hold every item", async () => {
  const workspace = await server.workspace();
  const names = namesOf("large-", 4);
  await fill(workspace, [...names, ...names.map((name) => `kept-${name}`)]);
  const shown: any[] = [];
  let pages = 0;
  for (let cursor: string | undefined; pages === 0 || cursor; pages++) {
    const request = { merge_updates: mergesOf(names), dry_run: true, ...(cursor && { cursor }) };
    const { status, body } = await workspace.call<any>("POST", "/users/merge", request);
    assert.equal(status, 202, JSON.stringify(body).slice(0, 300));
    assert.ok(JSON.stringify(body).length < 16 * MEBIBYTE);
    shown.push(...body.results);
    cursor = body.next_cursor;
  }
  assert.ok(pages > 1);
  assert.deepEqual(
    shown.map(({ index, outcome, merged }) => [index, outcome, merged.external_id]),
    names.map((name, index) => [index, "merged", name]),
  );
  assert.ok(shown.every(({ effects }) => effects.length >= 9));
  const wrong = { merge_updates: mergesOf(names), dry_run: true, cursor: "4" };
  const refused = await workspace.call("POST", "/users/merge", wrong);
  assert.deepEqual([refused.status, refused.body.message], [400, "Invalid cursor"]);
});

test("merges, aliases and previews of more than 8 MB of attributes are refused as a whole, and a deletion is done", async () => {
  const workspace = await server.workspace();
  const names = namesOf("huge-", 10);
  await fill(workspace, names);
  const pairs = names.slice(0, 5).map((name, index) => ({
    identifier_to_merge: { external_id: name },
    identifier_to_keep: { external_id: names[5 + index] },
  }));
  const aliases = names.map((external_id) => ({
    external_id,
    alias_name: `alias-of-${external_id}`,
    alias_label: "crm",
  }));
  for (const [path, body] of [
    ["/users/merge", { merge_updates: pairs }],
    ["/users/merge", { merge_updates: pairs, dry_run: true }],
    ["/users/alias/new", { user_aliases: aliases }],
  ] as const) {
    const { status, body: answer } = await workspace.call("POST", path, body);
    assert.equal(status, 400);
    assert.match(String(answer.message), /more than the 8388608 bytes allowed\. Name fewer users/);
  }
  assert.equal((await workspace.profiles({ external_ids: [names[0]] })).length, 1);
  const one = { user_aliases: aliases.slice(0, 1) };
  assert.equal((await workspace.call("POST", "/users/alias/new", one)).status, 201);
  const dry = { external_ids: names, dry_run: true };
  assert.equal((await workspace.call("POST", "/users/delete", dry)).status, 201);
  const deleted = await workspace.call("POST", "/users/delete", { external_ids: names });
  assert.deepEqual([deleted.status, deleted.body.deleted], [201, 10]);
  assert.deepEqual(await workspace.profiles({ user_aliases: [one.user_aliases[0]] }), []);
});
