/*
 * Requests of existing programs about identities (test/fixtures/requests.jsonl), replayed in an
 * order in which a program would send them, and those of an existing client library.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { Braze as Client } from "braze-api";
import { packageRoot } from "../../../../src/core/base/package-root.ts";
import { startServer, type TestWorkspace } from "../../../harness.ts";
import {
  alias,
  countsOf,
  id,
  makeUsers,
  merge,
  notesOf,
  succeeds,
  userOf,
} from "./identity-calls.ts";

const server = await startServer();

interface Recorded {
  readonly endpoint: string;
  readonly body: any;
}

const recorded: Recorded[] = readFileSync(
  join(packageRoot(), "test", "fixtures", "requests.jsonl"),
  "utf8",
)
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));

const bodiesOf = (endpoint: string) =>
  recorded.filter((each) => each.endpoint === `POST ${endpoint}`).map((each) => each.body);

const send = (workspace: TestWorkspace, path: string, body: unknown) =>
  workspace.call<any>("POST", path, body);

test("recorded identify requests give each aliased user its external_id and keep its data", async () => {
  const workspace = await server.workspace();
  const bodies = bodiesOf("/users/identify");
  assert.equal(bodies.length, 5);
  const items = bodies.flatMap((body) => body.aliases_to_identify);
  const names = new Map<string, { external_id: string; user_alias: any }>(
    items.map((item) => [item.user_alias.alias_name, item]),
  );
  await makeUsers(workspace, ...[...names.values()].map(({ user_alias }) => ({ user_alias })));

  const seen = new Set<string>();
  for (const body of bodies) {
    const { status, body: answer } = await send(workspace, "/users/identify", body);
    assert.deepEqual([status, answer.aliases_processed], [201, body.aliases_to_identify.length]);
    assert.equal(answer.errors, undefined);
    const repeated: string[] = [];
    for (const [index, { user_alias }] of body.aliases_to_identify.entries()) {
      const place = `aliases_to_identify ${index} ALREADY_IDENTIFIED`;
      if (seen.has(user_alias.alias_name)) repeated.push(place);
      seen.add(user_alias.alias_name);
    }
    assert.deepEqual(notesOf(answer.skipped), repeated);
  }
  for (const [name, { external_id, user_alias }] of names) {
    const user = await workspace.profile({ user_aliases: [user_alias] });
    assert.equal(user.external_id, external_id);
    assert.equal(countsOf(user)[name], 1);
  }
});

test("recorded merge requests give the kept users the data of both", async () => {
  const workspace = await server.workspace();
  const bodies = bodiesOf("/users/merge");
  assert.equal(bodies.length, 3);
  const pairs = bodies.flatMap((body) => body.merge_updates);
  for (const { identifier_to_merge, identifier_to_keep } of pairs) {
    await makeUsers(workspace, identifier_to_merge, identifier_to_keep);
  }
  for (const body of bodies) {
    const { status, body: answer } = await send(workspace, "/users/merge", body);
    assert.deepEqual([status, answer], [202, { message: "success" }]);
  }
  for (const { identifier_to_merge, identifier_to_keep } of pairs) {
    const [gone, kept] = [identifier_to_merge.external_id, identifier_to_keep.external_id];
    assert.deepEqual(countsOf(await userOf(workspace, kept)), { [gone]: 1, [kept]: 1 });
    assert.equal(await userOf(workspace, gone), undefined);
  }
});

test("recorded delete requests delete their users, and a body without a known identifier kind is refused", async () => {
  const workspace = await server.workspace();
  const bodies = bodiesOf("/users/delete");
  const known = bodies.filter((body) => body.external_ids);
  assert.deepEqual([bodies.length, known.length], [4, 3]);
  const names: string[] = [...new Set<string>(known.flatMap((body) => body.external_ids))];
  await makeUsers(workspace, ...names.map(id), id("bystander"));
  for (const body of bodies) {
    const { status, body: answer } = await send(workspace, "/users/delete", body);
    if (!body.external_ids) {
      assert.equal(status, 400, "it says externalIds, which is no kind of identifiers");
      continue;
    }
    assert.deepEqual([status, answer.deleted], [201, body.external_ids.length]);
  }
  assert.deepEqual(await workspace.profiles({ external_ids: names }), []);
  assert.deepEqual(countsOf(await userOf(workspace, "bystander")), { bystander: 1 });
});

describe("an existing client library", () => {
  test("an existing client library creates aliases and identifies, merges and deletes users", async () => {
    const workspace = await server.workspace();
    const client = new Client(server.url, workspace.key);
    await makeUsers(workspace, id("ada"), id("bob"));
    const user_aliases = [{ ...id("bob"), ...alias("b") }, alias("anonymous")];
    assert.deepEqual(await client.users.alias.new({ user_aliases } as never), {
      aliases_processed: 2,
      message: "success",
    });
    const aliases_to_identify = [{ ...id("ada"), user_alias: alias("anonymous") }];
    assert.deepEqual(await client.users.identify({ aliases_to_identify }), {
      aliases_processed: 1,
      message: "success",
    });
    const merge_updates = [
      { identifier_to_merge: id("bob"), identifier_to_keep: { user_alias: alias("anonymous") } },
    ];
    assert.deepEqual(await client.users.merge({ merge_updates } as never), { message: "success" });
    const ada = await userOf(workspace, "ada");
    assert.deepEqual(countsOf(ada), { ada: 1, bob: 1 });
    assert.deepEqual(ada?.user_aliases, [alias("anonymous"), alias("b")]);
    const deleted = await client.users.delete({ external_ids: ["ada", "bob"] });
    assert.equal(deleted.deleted, 2);
    assert.equal(await userOf(workspace, "ada"), undefined);
  });
});

test("an anonymous user can be identified, merged with a duplicate and deleted", async () => {
  const workspace = await server.workspace();
  const anonymous = { user_alias: alias("browser-1", "device") };
  await makeUsers(workspace, { ...anonymous, landing_page: "/spring" });
  await succeeds(
    send(workspace, "/users/identify", { aliases_to_identify: [{ ...id("ada"), ...anonymous }] }),
  );
  await makeUsers(workspace, { ...id("ada-old"), plan: "pro", email: "ada@example.com" });
  const merge_updates = [{ identifier_to_merge: id("ada-old"), identifier_to_keep: id("ada") }];
  await succeeds(send(workspace, "/users/merge", { merge_updates }));
  const ada = await userOf(workspace, "ada");
  assert.deepEqual(ada?.custom_attributes, { landing_page: "/spring", plan: "pro" });
  assert.deepEqual(
    [ada?.email, countsOf(ada)],
    ["ada@example.com", { "ada-old": 1, "browser-1": 1 }],
  );
  const email_addresses = [{ email: "ada@example.com", prioritization: ["identified"] }];
  await succeeds(send(workspace, "/users/delete", { email_addresses }));
  assert.deepEqual(await workspace.profiles({ external_ids: ["ada"] }), []);
});

test("a member of a merge that is null is absent", async () => {
  const workspace = await server.workspace();
  await makeUsers(workspace, id("old"), id("new"));
  const absent = { user_alias: null, email: null, phone: null };
  await succeeds(
    merge(workspace, [
      [
        { ...id("old"), ...absent },
        { ...id("new"), ...absent },
      ],
    ]),
  );
  assert.equal(await userOf(workspace, "old"), undefined);
});
