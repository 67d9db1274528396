/* POST /users/merge: who is merged into whom, in which order, and which user each id names afterwards. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startServer, type TestWorkspace } from "../../../harness.ts";
import {
  alias,
  byAlias,
  byEmail,
  byPhone,
  countsOf,
  id,
  identifyAliases,
  makeUsers,
  many,
  merge,
  newAliases,
  notesOf,
  refuses,
  skips,
  succeeds,
  TIME,
  userOf,
} from "./identity-calls.ts";

const server = await startServer();

const PHONE = "+14155552671";

const platformIdOf = async (workspace: TestWorkspace, name: string): Promise<string> =>
  (await userOf(workspace, name))?.platform_id;

/** A workspace with users that each have one uniquely named event. */
async function withUsers(names: readonly string[], settings: object = {}): Promise<TestWorkspace> {
  const workspace = await server.workspace({ settings });
  await makeUsers(workspace, ...names.map(id));
  return workspace;
}

describe("a merge accepts every kind of identifier for the merged and the kept user", () => {
  const cases: [identifier: string, toMerge: object, toKeep: object][] = [
    ["external_id", id("m"), id("k")],
    ["user_alias", byAlias("m"), byAlias("k")],
    ["email", byEmail("m@example.com"), byEmail("k@example.com")],
    ["phone", byPhone(PHONE), byPhone("+14155552672")],
    ["an alias into an email", byAlias("m"), byEmail("k@example.com")],
  ];
  for (const [identifier, toMerge, toKeep] of cases) {
    test(`a merge finds its users by ${identifier}`, async () => {
      const workspace = await server.workspace();
      await makeUsers(
        workspace,
        { ...id("m"), email: "m@example.com", phone: PHONE },
        { ...id("k"), email: "k@example.com", phone: "+14155552672" },
      );
      await succeeds(
        newAliases(workspace, { ...id("m"), ...alias("m") }, { ...id("k"), ...alias("k") }),
      );
      const answer = await merge(workspace, [[toMerge, toKeep]]);
      assert.deepEqual([answer.status, answer.body], [202, { message: "success" }]);
      assert.equal(await userOf(workspace, "m"), undefined);
      assert.deepEqual(countsOf(await userOf(workspace, "k")), { k: 1, m: 1 });
    });
  }

  test("a merge reads numbers as external ids", async () => {
    const workspace = await withUsers(["1", "2"]);
    await succeeds(merge(workspace, [[{ external_id: 1 }, { external_id: 2 }]]));
    assert.deepEqual(countsOf(await userOf(workspace, "2")), { "1": 1, "2": 1 });
  });

  test("a merge that names an unknown user is skipped and reported", async () => {
    const workspace = await withUsers(["a"]);
    await skips(
      merge(workspace, [
        [id("nobody"), id("a")],
        [id("a"), id("nobody")],
        [byAlias("nobody"), byEmail("nobody@example.com")],
      ]),
      "merge_updates 0 USER_NOT_FOUND",
      "merge_updates 1 USER_NOT_FOUND",
      "merge_updates 2 USER_NOT_FOUND",
    );
    assert.deepEqual(countsOf(await userOf(workspace, "a")), { a: 1 });
  });
});

describe("merges are executed in the order of the array and of the requests", () => {
  const pairs = (...names: string[]): [object, object][] =>
    names.map((pair) => pair.split(">").map(id) as [object, object]);

  test("a chain of merges in one request ends in the last user", async () => {
    const workspace = await withUsers(["a", "b", "c"]);
    const ids = await Promise.all(["a", "b"].map((name) => platformIdOf(workspace, name)));
    await succeeds(merge(workspace, pairs("a>b", "b>c")));
    const c = await userOf(workspace, "c");
    assert.deepEqual(countsOf(c), { a: 1, b: 1, c: 1 });
    for (const platformId of ids) {
      assert.deepEqual(await workspace.profiles({ platform_ids: [platformId] }), [c]);
    }
  });

  test("a chain of merges in two requests ends in the last user", async () => {
    const workspace = await withUsers(["a", "b", "c"]);
    const a = await platformIdOf(workspace, "a");
    await succeeds(merge(workspace, pairs("a>b")));
    await succeeds(merge(workspace, pairs("b>c")));
    const c = await userOf(workspace, "c");
    assert.deepEqual(countsOf(c), { a: 1, b: 1, c: 1 });
    assert.deepEqual(await workspace.profiles({ platform_ids: [a] }), [c]);
  });

  test("a merge into a user that an earlier merge removed is skipped", async () => {
    const workspace = await withUsers(["a", "b", "c"]);
    await skips(merge(workspace, pairs("b>c", "a>b")), "merge_updates 1 USER_NOT_FOUND");
    assert.deepEqual(countsOf(await userOf(workspace, "c")), { b: 1, c: 1 });
    assert.deepEqual(countsOf(await userOf(workspace, "a")), { a: 1 });
  });

  test("a cycle of merges ends after its first merge", async () => {
    const workspace = await withUsers(["a", "b", "c"]);
    await skips(merge(workspace, pairs("a>b", "b>a")), "merge_updates 1 USER_NOT_FOUND");
    assert.deepEqual(countsOf(await userOf(workspace, "b")), { a: 1, b: 1 });
    await skips(merge(workspace, pairs("b>c", "c>b")), "merge_updates 1 USER_NOT_FOUND");
    assert.deepEqual(countsOf(await userOf(workspace, "c")), { a: 1, b: 1, c: 1 });
  });

  test("a merge of a user into itself is skipped, however the user is named", async () => {
    const workspace = await withUsers(["a"]);
    await succeeds(newAliases(workspace, { ...id("a"), ...alias("a") }));
    await skips(
      merge(workspace, [
        [id("a"), id("a")],
        [id("a"), byAlias("a")],
        [byAlias("a"), id("a")],
      ]),
      "merge_updates 0 SAME_USER",
      "merge_updates 1 SAME_USER",
      "merge_updates 2 SAME_USER",
    );
    assert.deepEqual(countsOf(await userOf(workspace, "a")), { a: 1 });
  });

  test("a repeated pair is merged once", async () => {
    const workspace = await withUsers(["a", "b"]);
    await skips(merge(workspace, pairs("a>b", "a>b")), "merge_updates 1 USER_NOT_FOUND");
    await skips(merge(workspace, pairs("a>b")), "merge_updates 0 USER_NOT_FOUND");
    assert.deepEqual(countsOf(await userOf(workspace, "b")), { a: 1, b: 1 });
  });

  test("data of an earlier merge into a user takes precedence over data of a later one", async () => {
    const workspace = await server.workspace();
    const named = (name: string, first_name: string) => ({ ...id(name), first_name });
    await makeUsers(workspace, named("a", "A"), named("b", "B"), id("k"));
    await succeeds(merge(workspace, pairs("b>k", "a>k")));
    assert.equal((await userOf(workspace, "k"))?.first_name, "B");
  });

  test("merges of unrelated users do not depend on their order", async () => {
    const names = ["a", "b", "c", "d", "e", "f"];
    const ends: unknown[] = [];
    for (const order of [pairs("a>b", "c>d", "e>f"), pairs("e>f", "c>d", "a>b")]) {
      const workspace = await withUsers(names);
      await succeeds(merge(workspace, order));
      ends.push(
        await Promise.all(["b", "d", "f"].map((name) => userOf(workspace, name))).then((users) =>
          users.map(countsOf),
        ),
      );
    }
    assert.deepEqual(ends[0], ends[1]);
    assert.deepEqual(ends[0], [
      { a: 1, b: 1 },
      { c: 1, d: 1 },
      { e: 1, f: 1 },
    ]);
  });
});

describe("a merge decides which user the ids of both users identify", () => {
  test("the external_id of a merged user matches no user and can be used again", async () => {
    const workspace = await withUsers(["m", "k"]);
    await succeeds(merge(workspace, [[id("m"), id("k")]]));
    assert.equal(await userOf(workspace, "m"), undefined);
    await workspace.track({ events: [{ ...id("m"), name: "new", time: TIME }] });
    const fresh = await userOf(workspace, "m");
    assert.deepEqual(countsOf(fresh), { new: 1 });
    assert.deepEqual(countsOf(await userOf(workspace, "k")), { k: 1, m: 1 });
  });

  test("the platform_id of a merged user identifies the kept user in export and track", async () => {
    const workspace = await withUsers(["m", "k"]);
    const platform_id = await platformIdOf(workspace, "m");
    await succeeds(merge(workspace, [[id("m"), id("k")]]));
    const k = await userOf(workspace, "k");
    assert.deepEqual(await workspace.profiles({ platform_ids: [platform_id] }), [k]);
    const tracked = await workspace.track({
      attributes: [{ platform_id, plan: "x" }],
      events: [{ platform_id, name: "by id", time: TIME }],
    });
    assert.equal(tracked.body.skipped, undefined);
    const after = await userOf(workspace, "k");
    assert.deepEqual(countsOf(after), { "by id": 1, k: 1, m: 1 });
    assert.deepEqual(after?.custom_attributes, { plan: "x" });
  });

  test("a kept user without an external_id gets the merged one, and all aliases", async () => {
    const workspace = await server.workspace();
    await makeUsers(workspace, id("m"), byAlias("k"));
    await succeeds(newAliases(workspace, { ...id("m"), ...alias("m") }));
    await succeeds(merge(workspace, [[id("m"), byAlias("k")]]));
    const user = await userOf(workspace, "m");
    assert.deepEqual(user?.user_aliases, [alias("k"), alias("m")]);
    assert.deepEqual(countsOf(user), { k: 1, m: 1 });
    assert.deepEqual(await workspace.profile({ user_aliases: [alias("m")] }), user);
    await skips(
      identifyAliases(workspace, [["k", "other"]]),
      "aliases_to_identify 0 OTHER_USER_IDENTIFIED",
    );
  });

  test("a kept user gets the merged user's email or phone only if it has none", async () => {
    const workspace = await server.workspace();
    await makeUsers(
      workspace,
      { ...id("m"), email: "M@example.com", phone: PHONE },
      { ...id("k"), email: "k@example.com" },
    );
    await succeeds(merge(workspace, [[id("m"), id("k")]]));
    const k = await userOf(workspace, "k");
    assert.deepEqual([k?.email, k?.phone], ["k@example.com", PHONE]);
    assert.deepEqual(await workspace.profiles({ phone: PHONE }), [k]);
    assert.deepEqual(await workspace.profiles({ email_address: "m@example.com" }), []);
  });
});

describe("with redirect_merged_ids the merged external_id identifies the kept user", () => {
  const withRedirects = (...names: string[]) => withUsers(names, { redirect_merged_ids: true });

  test("a redirected external_id works in track and export, and the kept user keeps its own", async () => {
    const workspace = await withRedirects("m", "k");
    await succeeds(merge(workspace, [[id("m"), id("k")]]));
    await workspace.track({ events: [{ ...id("m"), name: "late", time: TIME }] });
    const m = await userOf(workspace, "m");
    assert.equal(m?.external_id, "k");
    assert.deepEqual(countsOf(m), { k: 1, late: 1, m: 1 });
    assert.deepEqual(await userOf(workspace, "k"), m);
  });

  test("a redirected external_id follows further merges, in one request and in several", async () => {
    const workspace = await withRedirects("a", "b", "c", "d");
    await succeeds(
      merge(workspace, [
        [id("a"), id("b")],
        [id("b"), id("c")],
      ]),
    );
    await succeeds(merge(workspace, [[id("a"), id("d")]]));
    const d = await userOf(workspace, "d");
    assert.deepEqual(countsOf(d), { a: 1, b: 1, c: 1, d: 1 });
    for (const name of ["a", "b", "c"]) assert.deepEqual(await userOf(workspace, name), d);
  });

  test("a redirected external_id names the kept user in merge, alias and identify requests", async () => {
    const workspace = await withRedirects("m", "k");
    await makeUsers(workspace, byAlias("a"));
    const again: [object, object][] = [
      [id("m"), id("k")],
      [id("m"), id("k")],
      [id("k"), id("m")],
    ];
    await skips(merge(workspace, again), "merge_updates 1 SAME_USER", "merge_updates 2 SAME_USER");
    await succeeds(newAliases(workspace, { ...id("m"), ...alias("of m") }));
    await succeeds(identifyAliases(workspace, [["a", "m"]]));
    const k = await userOf(workspace, "k");
    assert.deepEqual(k?.user_aliases, [alias("of m"), alias("a")]);
    assert.deepEqual(countsOf(k), { a: 1, k: 1, m: 1 });
  });

  test("a track request is applied in order even if two ids name one user", async () => {
    const workspace = await withRedirects("m", "k");
    await succeeds(merge(workspace, [[id("m"), id("k")]]));
    const attributes = many(40, (index) => ({ ...id(index % 2 ? "m" : "k"), last: index }));
    await workspace.track({ attributes });
    assert.equal((await userOf(workspace, "k"))?.custom_attributes.last, 39);
  });
});

describe("refused merge requests", () => {
  const pair = { identifier_to_merge: id("m"), identifier_to_keep: id("k") };
  const NO_ARRAY = "'merge_updates' must be an array of objects";
  const OTHERS = "'merge_updates' must only have 'identifier_to_merge' and 'identifier_to_keep'";
  const IDENTIFIERS =
    "identifiers must be objects with an 'external_id' property that is a string, " +
    "'user_alias' property that is an object, 'email' property that is a string, " +
    "or 'phone' property that is a string";

  /** Refused as a whole: the valid update before it is not carried out either. */
  async function refusesUpdate(update: unknown, message: string | RegExp): Promise<void> {
    const workspace = await withUsers(["m", "k"]);
    const merge_updates = [pair, update];
    const sent = workspace.call<any>("POST", "/users/merge", { merge_updates });
    await refuses(sent, message);
    assert.deepEqual(countsOf(await userOf(workspace, "m")), { m: 1 });
  }

  test("merge_updates must be an array of objects", async () => {
    const workspace = await server.workspace();
    for (const body of [
      {},
      { merge_updates: pair },
      { merge_updates: null },
      { merge_updates: 5 },
    ]) {
      await refuses(workspace.call("POST", "/users/merge", body), NO_ARRAY);
    }
    for (const update of ["a", null, [pair], 5]) await refusesUpdate(update, NO_ARRAY);
  });

  test("a merge request accepts 50 updates and refuses 51", async () => {
    const workspace = await server.workspace();
    const names = many(51, (index) => `u${index}`);
    await makeUsers(workspace, ...names.slice(0, 20).map(id));
    await makeUsers(workspace, ...names.slice(20, 40).map(id));
    await makeUsers(workspace, ...names.slice(40).map(id));
    const chain = names.map((name, index): [object, object] => [id(name), id(`u${index + 1}`)]);
    await refuses(
      merge(workspace, chain),
      "a single request may not contain more than 50 merge updates",
    );
    assert.deepEqual(countsOf(await userOf(workspace, "u1")), { u1: 1 });
    await succeeds(merge(workspace, chain.slice(0, 50)));
    const last = countsOf(await userOf(workspace, "u50"));
    assert.deepEqual(Object.keys(last).length, 51);
  });

  test("a merge update must have its two identifiers and nothing else", async () => {
    await refusesUpdate({ ...pair, merge_behavior: "merge" }, OTHERS);
    await refusesUpdate({ external_id: "m" }, OTHERS);
    await refusesUpdate({ identifier_to_merge: id("m") }, IDENTIFIERS);
    await refusesUpdate({}, IDENTIFIERS);
  });

  describe("a merge identifier must have a known form", () => {
    const cases: [why: string, identifier: unknown, message: string | RegExp][] = [
      ["text", "m", IDENTIFIERS],
      ["nothing", null, IDENTIFIERS],
      ["an empty object", {}, IDENTIFIERS],
      ["a platform_id", { platform_id: "x" }, IDENTIFIERS],
      ["two at once", { ...id("m"), ...byEmail("m@example.com") }, IDENTIFIERS],
      ["external_id, no string", { external_id: ["m"] }, IDENTIFIERS],
      ["user_alias, no object", { user_alias: "m" }, IDENTIFIERS],
      ["email, no string", { email: 5, prioritization: [] }, IDENTIFIERS],
      ["phone, no string", { phone: 5, prioritization: [] }, IDENTIFIERS],
      ["an empty external_id", id(""), /^'external_id' must be a string that is not empty$/],
      ["half an alias", { user_alias: { alias_name: "m" } }, /'user_alias.alias_label'/],
      ["an email that is none", byEmail("none"), /'email' field is not a valid email/],
      ["a phone that is none", byPhone("123"), /^'phone' is not valid/],
      ["a NUL character", id("m\0"), /NUL character/],
      ["a lone surrogate", byAlias("\ud800"), /lone surrogate/],
    ];
    for (const [why, identifier, message] of cases) {
      test(why, async () => {
        await refusesUpdate({ ...pair, identifier_to_merge: identifier }, message);
        await refusesUpdate({ ...pair, identifier_to_keep: identifier }, message);
      });
    }
  });

  test("a merge request with invalid updates lists each of them and merges no user", async () => {
    const workspace = await withUsers(["m", "k"]);
    const merge_updates = [pair, { ...pair, identifier_to_keep: id("\0") }, {}, "a"];
    const sent = workspace.call<any>("POST", "/users/merge", { merge_updates });
    const { errors } = await refuses(sent, /NUL/);
    assert.deepEqual(notesOf(errors), [
      "merge_updates 1 INVALID_TEXT",
      "merge_updates 2 INVALID_IDENTIFIER",
      "merge_updates 3 NOT_AN_OBJECT",
    ]);
    assert.deepEqual(countsOf(await userOf(workspace, "m")), { m: 1 });
  });

  test("a merge request with an empty list is refused like one without a list", async () => {
    const workspace = await server.workspace();
    for (const body of [{}, { merge_updates: [] }]) {
      await refuses(workspace.call("POST", "/users/merge", body), new RegExp(NO_ARRAY));
    }
  });
});

test("a merge repeated with its Idempotency-Key is executed once", async () => {
  const workspace = await withUsers(["m", "k"]);
  const merge_updates = [{ identifier_to_merge: id("m"), identifier_to_keep: id("k") }];
  const options = { headers: { "idempotency-key": "merge-1" } };
  const send = () => workspace.call("POST", "/users/merge", { merge_updates }, options);
  assert.equal((await send()).status, 202);
  await makeUsers(workspace, id("m"));
  const again = await send();
  assert.equal(again.headers.get("idempotency-replayed"), "true");
  assert.deepEqual(countsOf(await userOf(workspace, "m")), { m: 1 });
});
