/* POST /users/external_ids/rename and /remove. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startServer, type TestWorkspace } from "../../../harness.ts";
import {
  countsOf,
  id,
  makeUsers,
  many,
  merge,
  notesOf,
  refuses,
  remove,
  succeeds,
  TIME,
  userOf,
} from "./identity-calls.ts";

const server = await startServer();

const renaming = (current_external_id: unknown, new_external_id: unknown) => ({
  current_external_id,
  new_external_id,
});

const rename = (workspace: TestWorkspace, ...external_id_renames: unknown[]) =>
  workspace.call<any>("POST", "/users/external_ids/rename", { external_id_renames });

const removeIds = (workspace: TestWorkspace, ...external_ids: unknown[]) =>
  workspace.call<any>("POST", "/users/external_ids/remove", { external_ids });

describe("POST /users/external_ids/rename", () => {
  test("a rename gives the user a new external_id, and the old one still resolves to the user", async () => {
    const workspace = await server.workspace();
    await makeUsers(workspace, id("old"));
    const { status, body } = await rename(workspace, renaming("old", "new"));
    assert.deepEqual(
      [status, body],
      [201, { external_ids: ["new"], rename_errors: [], message: "success" }],
    );
    await workspace.track({ events: [{ ...id("old"), name: "late", time: TIME }] });
    const user = await userOf(workspace, "old");
    assert.deepEqual([user?.external_id, countsOf(user)], ["new", { old: 1, late: 1 }]);
  });

  test("a rename to an external_id in use, or of an unknown one, changes nothing and reports the reason", async () => {
    const workspace = await server.workspace();
    await makeUsers(workspace, id("ada"), id("bob"));
    await rename(workspace, renaming("ada", "ada-2"));
    const { status, body } = await rename(
      workspace,
      renaming("bob", "ada-2"),
      renaming("bob", "ada"),
      renaming("nobody", "x"),
      renaming("ada", "x"),
      renaming("bob", "bob-2"),
    );
    assert.deepEqual([status, body.external_ids], [201, ["bob-2"]]);
    assert.deepEqual(notesOf(body.rename_errors), [
      "external_id_renames 0 EXTERNAL_ID_TAKEN",
      "external_id_renames 1 EXTERNAL_ID_TAKEN",
      "external_id_renames 2 USER_NOT_FOUND",
      "external_id_renames 3 USER_NOT_FOUND",
    ]);
  });

  test("a rename request with malformed items lists each of them and renames no user", async () => {
    const blocked_external_ids = ["dummy"];
    const workspace = await server.workspace({ settings: { blocked_external_ids } });
    await makeUsers(workspace, id("ada"));
    const items = [renaming("ada", "x"), {}, renaming("ada", ""), "a", renaming("ada", "dummy")];
    const { errors } = await refuses(rename(workspace, ...items), /'current_external_id' must be/);
    assert.deepEqual(notesOf(errors), [
      "external_id_renames 1 INVALID_EXTERNAL_ID",
      "external_id_renames 2 INVALID_EXTERNAL_ID",
      "external_id_renames 3 NOT_AN_OBJECT",
      "external_id_renames 4 BLACKLISTED_EXTERNAL_USER_ID",
    ]);
    assert.equal((await userOf(workspace, "ada"))?.external_id, "ada");
    const tooMany = many(51, (index) => renaming(`a${index}`, `b${index}`));
    await refuses(rename(workspace, ...tooMany), /exceeded/);
  });

  test("a deprecated external_id resolves to the kept user after a merge and is removed with a deletion", async () => {
    const workspace = await server.workspace();
    await makeUsers(workspace, id("ada"), id("bob"));
    await rename(workspace, renaming("ada", "ada-2"));
    await succeeds(merge(workspace, [[id("ada"), id("bob")]]));
    assert.equal((await userOf(workspace, "ada"))?.external_id, "bob");
    await succeeds(remove(workspace, { external_ids: ["bob"] }));
    assert.equal(await userOf(workspace, "ada"), undefined);
  });

  test("external_id renames are limited to 1,000 requests per minute", async () => {
    const workspace = await server.workspace();
    const { headers } = await rename(workspace);
    assert.equal(headers.get("x-ratelimit-limit"), "1000");
    assert.equal(headers.get("x-ratelimit-remaining"), "999");
  });
});

describe("POST /users/external_ids/remove", () => {
  test("a removed external_id no longer resolves to its user and can identify a new user", async () => {
    const workspace = await server.workspace();
    await makeUsers(workspace, id("old"));
    await rename(workspace, renaming("old", "new"));
    const { status, body } = await removeIds(workspace, "old");
    assert.deepEqual(
      [status, body],
      [201, { removed_ids: ["old"], removal_errors: [], message: "success" }],
    );
    assert.equal(await userOf(workspace, "old"), undefined);
    await workspace.track({ events: [{ ...id("old"), name: "late", time: TIME }] });
    assert.deepEqual(countsOf(await userOf(workspace, "old")), { late: 1 });
    assert.deepEqual(countsOf(await userOf(workspace, "new")), { old: 1 });
  });

  test("an external_id that is in use or unknown is not removed, and the response gives the reason", async () => {
    const workspace = await server.workspace();
    await makeUsers(workspace, id("ada"), id("bob"));
    await rename(workspace, renaming("bob", "bob-2"));
    const { status, body } = await removeIds(workspace, "ada", "nobody", "bob", "bob");
    assert.deepEqual([status, body.removed_ids], [201, ["bob"]]);
    assert.deepEqual(notesOf(body.removal_errors), [
      "external_ids 0 EXTERNAL_ID_IN_USE",
      "external_ids 1 USER_NOT_FOUND",
      "external_ids 3 USER_NOT_FOUND",
    ]);
    assert.equal((await userOf(workspace, "ada"))?.external_id, "ada");
  });

  test("a merged user's external_id redirect can be removed; the platform_id still resolves to the kept user", async () => {
    const workspace = await server.workspace({ settings: { redirect_merged_ids: true } });
    await makeUsers(workspace, id("ada"), id("bob"));
    const { platform_id } = (await userOf(workspace, "ada")) ?? {};
    await succeeds(merge(workspace, [[id("ada"), id("bob")]]));
    assert.deepEqual((await removeIds(workspace, "ada")).body.removed_ids, ["ada"]);
    assert.equal(await userOf(workspace, "ada"), undefined);
    await workspace.track({ events: [{ platform_id, name: "late", time: TIME }] });
    assert.deepEqual(countsOf(await userOf(workspace, "bob")), { ada: 1, bob: 1, late: 1 });
  });

  test("a removal request with malformed external_ids, or more than 50, removes nothing", async () => {
    const workspace = await server.workspace();
    await makeUsers(workspace, id("ada"));
    await rename(workspace, renaming("ada", "ada-2"));
    const { errors } = await refuses(removeIds(workspace, "ada", ""), /'external_id' must be/);
    assert.deepEqual(notesOf(errors), ["external_ids 1 INVALID_EXTERNAL_ID"]);
    await refuses(removeIds(workspace, ...many(51, (index) => `a${index}`)), /exceeded/);
    assert.equal((await userOf(workspace, "ada"))?.external_id, "ada-2");
  });

  test("external_id removals are limited to 1,000 requests per minute", async () => {
    const workspace = await server.workspace();
    const { headers } = await removeIds(workspace);
    assert.equal(headers.get("x-ratelimit-limit"), "1000");
  });
});
