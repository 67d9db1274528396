/* POST /users/alias/new and /users/alias/update. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  alias,
  id,
  identify,
  makeUsers,
  many,
  merge,
  newAliases,
  notesOf,
  refuses,
  remove,
  renameAliases,
  skips,
  succeeds,
  userOf,
} from "../../../../core/people/identity/identity-calls.ts";
import { startServer } from "../../../../harness.ts";

const server = await startServer();

describe("POST /users/alias/new", () => {
  test("alias/new adds an alias to the user with the external_id", async () => {
    const workspace = await server.workspace();
    await makeUsers(workspace, id("ada"));
    const answer = await succeeds(newAliases(workspace, { ...id("ada"), ...alias("a") }));
    assert.deepEqual(answer, { aliases_processed: 1, message: "success" });
    const ada = await workspace.profile({ user_aliases: [alias("a")] });
    assert.equal(ada.external_id, "ada");
    assert.deepEqual(ada.user_aliases, [alias("a")]);
  });

  test("alias/new creates an alias-only user if no external_id is given", async () => {
    const workspace = await server.workspace();
    await succeeds(newAliases(workspace, alias("a"), alias("b", "other")));
    const a = await workspace.profile({ user_aliases: [alias("a")] });
    const b = await workspace.profile({ user_aliases: [alias("b", "other")] });
    assert.deepEqual([a.external_id, b.external_id], [null, null]);
    assert.notEqual(a.platform_id, b.platform_id);
    assert.match(a.platform_id, /^[0-9a-f-]{36}$/);
    await workspace.track({ attributes: [{ user_alias: alias("a"), plan: "x" }] });
    const [again] = await workspace.profiles({ platform_ids: [a.platform_id] });
    assert.deepEqual(again?.custom_attributes, { plan: "x" });
  });

  test("alias/new skips an unknown external_id and creates no user", async () => {
    const workspace = await server.workspace();
    const sent = newAliases(workspace, { ...id("nobody"), ...alias("a") });
    const answer = await skips(sent, "user_aliases 0 USER_NOT_FOUND");
    assert.equal(answer.aliases_processed, 1);
    assert.deepEqual(await workspace.profiles({ user_aliases: [alias("a")] }), []);
    assert.equal(await userOf(workspace, "nobody"), undefined);
  });

  test("alias/new accepts an alias under user_alias and a number as external_id", async () => {
    const workspace = await server.workspace();
    await makeUsers(workspace, id("17"));
    await succeeds(
      newAliases(workspace, { user_alias: alias("a") }, { external_id: 17, ...alias("b") }),
    );
    assert.deepEqual((await userOf(workspace, "17"))?.user_aliases, [alias("b")]);
    assert.equal((await workspace.profiles({ user_aliases: [alias("a")] })).length, 1);
  });

  test("a numeric alias_name is read as a string in alias, identify, merge and delete calls", async () => {
    const workspace = await server.workspace();
    const user_alias = { alias_name: 17, alias_label: "l" };
    await succeeds(newAliases(workspace, user_alias));
    await succeeds(identify(workspace, { aliases_to_identify: [{ ...id("ada"), user_alias }] }));
    assert.deepEqual((await userOf(workspace, "ada"))?.user_aliases, [alias("17")]);
    await makeUsers(workspace, id("bob"));
    await succeeds(merge(workspace, [[id("bob"), { user_alias }]]));
    await succeeds(remove(workspace, { user_aliases: [user_alias] }));
    assert.equal(await userOf(workspace, "ada"), undefined);
  });

  test("alias/new skips an alias that the user already has, and never moves an alias to another user", async () => {
    const workspace = await server.workspace();
    await makeUsers(workspace, id("ada"), id("bob"));
    await succeeds(newAliases(workspace, { ...id("ada"), ...alias("a") }, alias("free")));
    await skips(
      newAliases(
        workspace,
        { ...id("ada"), ...alias("a") },
        { ...id("bob"), ...alias("a") },
        alias("a"),
        { ...id("bob"), ...alias("free") },
        { ...id("bob"), ...alias("b") },
        alias("free"),
      ),
      "user_aliases 0 ALIAS_PRESENT",
      "user_aliases 1 ALIAS_TAKEN",
      "user_aliases 2 ALIAS_TAKEN",
      "user_aliases 3 ALIAS_TAKEN",
      "user_aliases 5 ALIAS_PRESENT",
    );
    assert.deepEqual((await userOf(workspace, "bob"))?.user_aliases, [alias("b")]);
  });

  test("an alias/new item sees the effect of earlier items in the same request", async () => {
    const workspace = await server.workspace();
    await skips(newAliases(workspace, alias("a"), alias("a")), "user_aliases 1 ALIAS_PRESENT");
    assert.equal((await workspace.profiles({ user_aliases: [alias("a")] })).length, 1);
  });

  test("a user can have several aliases with the same label", async () => {
    const workspace = await server.workspace();
    await makeUsers(workspace, id("ada"));
    await succeeds(
      newAliases(workspace, { ...id("ada"), ...alias("a") }, { ...id("ada"), ...alias("b") }),
    );
    const { user_aliases } = (await userOf(workspace, "ada")) ?? {};
    assert.deepEqual(user_aliases, [alias("a"), alias("b")]);
  });

  test("alias/new accepts 50 aliases and refuses 51", async () => {
    const workspace = await server.workspace();
    const aliases = many(51, (index) => alias(`a${index}`));
    await refuses(newAliases(workspace, ...aliases), /^The max number of .* was exceeded$/);
    assert.deepEqual(await workspace.profiles({ user_aliases: [alias("a0")] }), []);
    const answer = await succeeds(newAliases(workspace, ...aliases.slice(1)));
    assert.equal(answer.aliases_processed, 50);
  });

  test("alias/new requires user_aliases, which must be an array", async () => {
    const workspace = await server.workspace();
    const path = "/users/alias/new";
    await refuses(workspace.call("POST", path, {}), "'user_aliases' is required");
    for (const user_aliases of ["a", null, alias("a")]) {
      const sent = workspace.call<any>("POST", path, { user_aliases });
      await refuses(sent, "'user_aliases' must be an array");
    }
  });

  describe("alias/new refuses an invalid alias object with its position in the request", () => {
    const cases: [unknown, string][] = [
      ["a", "NOT_AN_OBJECT"],
      [{}, "INVALID_USER_ALIAS"],
      [{ alias_name: "a" }, "INVALID_USER_ALIAS"],
      [{ alias_label: "l" }, "INVALID_USER_ALIAS"],
      [{ ...alias("a"), alias_name: "" }, "INVALID_USER_ALIAS"],
      [{ ...alias("a"), alias_name: true }, "INVALID_USER_ALIAS"],
      [{ ...alias("a"), alias_label: ["l"] }, "INVALID_USER_ALIAS"],
      [{ ...alias("x".repeat(988)) }, "INVALID_USER_ALIAS"],
      [{ ...alias("a"), external_id: { a: 1 } }, "INVALID_EXTERNAL_ID"],
      [{ ...alias("a"), external_id: "x".repeat(988) }, "EXTERNAL_USER_ID_TOO_LARGE"],
      [alias("a\0"), "INVALID_TEXT"],
      [alias("\ud800"), "INVALID_TEXT"],
    ];
    for (const [object, code] of cases) {
      test(`the alias object ${JSON.stringify(object).slice(0, 60)} is refused with ${code}`, async () => {
        const workspace = await server.workspace();
        const answer = await newAliases(workspace, object as object);
        assert.equal(answer.status, 400);
        assert.match(answer.body.message, /^user_aliases\[0\]: ./);
        assert.deepEqual(notesOf(answer.body.errors), [`user_aliases 0 ${code}`]);
      });
    }
  });

  test("an alias/new request with invalid objects lists each of them and adds no alias", async () => {
    const workspace = await server.workspace();
    const body = await refuses(
      newAliases(workspace, alias("a"), {}, alias("b"), { ...alias("c"), external_id: "" }),
      /^user_aliases\[1\]: /,
    );
    assert.deepEqual(notesOf(body.errors), [
      "user_aliases 1 INVALID_USER_ALIAS",
      "user_aliases 3 INVALID_EXTERNAL_ID",
    ]);
    assert.equal(body.errors?.[0]?.type, body.errors?.[0]?.message);
    const names = { user_aliases: [alias("a"), alias("b"), alias("c")] };
    assert.deepEqual(await workspace.profiles(names), []);
  });
});

describe("POST /users/alias/update", () => {
  const renaming = (old_alias_name: string, new_alias_name: string, alias_label = "l") => ({
    alias_label,
    old_alias_name,
    new_alias_name,
  });

  test("alias/update renames an alias, and the old name can be used again", async () => {
    const workspace = await server.workspace();
    await makeUsers(workspace, id("ada"));
    await succeeds(newAliases(workspace, { ...id("ada"), ...alias("old") }));
    const answer = await succeeds(renameAliases(workspace, renaming("old", "new")));
    assert.deepEqual(answer, { aliases_processed: 1, message: "success" });
    const ada = await workspace.profile({ user_aliases: [alias("new")] });
    assert.deepEqual([ada.external_id, ada.user_aliases], ["ada", [alias("new")]]);
    await succeeds(newAliases(workspace, alias("old")));
    const other = await workspace.profile({ user_aliases: [alias("old")] });
    assert.equal(other.external_id, null);
  });

  test("alias/update skips an unknown alias and a new name that is already in use", async () => {
    const workspace = await server.workspace();
    await succeeds(newAliases(workspace, alias("a"), alias("b")));
    await skips(
      renameAliases(
        workspace,
        renaming("nobody", "x"),
        renaming("a", "b"),
        renaming("a", "a"),
        renaming("a", "x", "another label"),
      ),
      "alias_updates 0 USER_NOT_FOUND",
      "alias_updates 1 ALIAS_TAKEN",
      "alias_updates 2 ALIAS_PRESENT",
      "alias_updates 3 USER_NOT_FOUND",
    );
    const a = await workspace.profile({ user_aliases: [alias("a")] });
    assert.deepEqual(a.user_aliases, [alias("a")]);
  });

  test("alias/update renames in the order of the array", async () => {
    const workspace = await server.workspace();
    await succeeds(newAliases(workspace, alias("a"), alias("b")));
    const [a] = await workspace.profiles({ user_aliases: [alias("a")] });
    await succeeds(
      renameAliases(workspace, renaming("a", "c"), renaming("b", "a"), renaming("c", "b")),
    );
    const b = await workspace.profile({ user_aliases: [alias("b")] });
    assert.equal(b.platform_id, a?.platform_id);
  });

  test("alias/update refuses an object without a new name, and more than 50 objects", async () => {
    const workspace = await server.workspace();
    const answer = await renameAliases(workspace, { alias_label: "l", old_alias_name: "a" });
    assert.equal(answer.status, 400);
    assert.match(answer.body.message, /'new_alias_name' must be a string/);
    const updates = many(51, (index) => renaming(`a${index}`, `b${index}`));
    await refuses(renameAliases(workspace, ...updates), /exceeded/);
    await refuses(workspace.call("POST", "/users/alias/update", {}), /'alias_updates' is required/);
  });
});

test("an alias of a deleted user can be used again", async () => {
  const workspace = await server.workspace();
  await makeUsers(workspace, id("ada"));
  await succeeds(newAliases(workspace, { ...id("ada"), ...alias("a") }));
  await succeeds(remove(workspace, { external_ids: ["ada"] }));
  await succeeds(newAliases(workspace, alias("a")));
  const [user] = await workspace.profiles({ user_aliases: [alias("a")] });
  assert.deepEqual(user?.custom_events, []);
});
