/* The search for users by the words of their names. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { id, merge } from "../../core/people/identity/identity-calls.ts";
import { startServer, type TestWorkspace } from "../../harness.ts";
import { sized } from "../../sizes.ts";
import { mergesOf, undone } from "../../undo/undo-calls.ts";

const server = await startServer();

const search = async (workspace: TestWorkspace, parameters: Record<string, string>) => {
  const query = new URLSearchParams(parameters);
  const answer = await server.admin("GET", `/admin/v1/workspaces/${workspace.name}/users?${query}`);
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return answer.body;
};

/** The users of all pages. */
async function all(workspace: TestWorkspace, parameters: Record<string, string>): Promise<any[]> {
  const found: any[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await search(workspace, { ...parameters, ...(cursor && { cursor }) });
    found.push(...page.users);
    cursor = page.next_cursor;
    if (!cursor) return found;
  }
}

const found = async (workspace: TestWorkspace, query: string, more = {}): Promise<string[]> =>
  (await all(workspace, { query, ...more })).map((user) => user.external_id);

/** A workspace with users of these names, first and last. */
async function named(
  names: Readonly<Record<string, readonly [string | null, (string | null)?]>>,
): Promise<TestWorkspace> {
  const workspace = await server.workspace();
  const attributes = Object.entries(names).map(([key, [first_name, last_name = null]]) => ({
    external_id: key,
    first_name,
    last_name,
  }));
  for (let from = 0; from < attributes.length; from += 50) {
    const { body } = await workspace.track({ attributes: attributes.slice(from, from + 50) });
    assert.equal(body.errors, undefined, JSON.stringify(body));
  }
  return workspace;
}

describe("the search by name", async () => {
  const workspace = await named({
    1: ["Ida", "Özdemir"],
    2: ["İlker", "Işık"],
    3: ["Łukasz", "Großmann-Ørsted"],
    4: ["Sinéad", "O'Neil"],
    5: ["Νίκος", "Παπαδόπουλος"],
    6: ["Дмитрий", "ЁЛКИН"],
    7: ["María del Carmen", "de la Cruz García"],
    8: ["王", "小明"],
    9: ["Ida"],
    10: [null, "Nguyen"],
    11: ["  Jean-Luc  ", "D’Æsop"],
    12: ["أمل", "حداد"],
    13: ["Zoë\u0308", "de\u0301"],
    14: ["Ольга", "Łuczak"],
  });
  const CASES: readonly [query: string, ids: readonly string[]][] = [
    ["ozdemir", ["1"]],
    ["ÖZDEMİR", ["1"]],
    ["özd ida", ["1"]],
    ["  ida,  OZ ", ["1"]],
    ["ida", ["9", "1"]],
    ["ilker isik", ["2"]],
    ["ISIK", ["2"]],
    ["grossmann", ["3"]],
    ["orsted lukasz", ["3"]],
    ["o'neil", ["4"]],
    ["oneil sinead", ["4"]],
    ["o’n", ["4"]],
    ["νικος", ["5"]],
    ["ΠΑΠΑΔΟΠΟΥΛΟΣ ΝΊΚΟΣ", ["5"]],
    ["дмитрий ёлкин", ["6"]],
    ["елк", ["6"]],
    ["garcia", ["7"]],
    ["cruz garc", ["7"]],
    ["garcia maria", ["7"]],
    ["cruz", ["7"]],
    ["carmen cruz de", ["7"]],
    ["小", ["8"]],
    ["nguyen", ["10"]],
    ["luc jean daes", ["11"]],
    ["أمل", ["12"]],
    ["zoe de", ["13"]],
    ["ольга luczak", ["14"]],
    ["ida nguyen", []],
    ["mar", ["7"]],
    ["ar", []],
    ["demir", []],
    ["'", []],
    ["-", []],
    ["%", []],
    ["_", []],
    ["\\", []],
    ["ida \u{1f600}", []],
  ];

  for (const [query, ids] of CASES) {
    test(`the query ${JSON.stringify(query)} finds ${ids.join(", ") || "nobody"}`, async () => {
      assert.deepEqual(await found(workspace, query), ids);
      assert.deepEqual(await found(workspace, query, { identifier: "name", limit: "1" }), ids);
    });
  }

  test("the response says that a name matched, and which", async () => {
    const { users } = await search(workspace, { query: "ozdemir" });
    assert.deepEqual(users[0].matched, { identifier: "name", value: "Ida Özdemir" });
  });

  test("an exact search, one of another kind and one in another workspace find no names", async () => {
    assert.deepEqual(await found(workspace, "Ida", { match: "exact" }), []);
    assert.deepEqual(await found(workspace, "ida", { identifier: "email" }), []);
    assert.deepEqual(await found(await named({ 1: ["Eve"] }), "ida"), []);
  });

  test("a user whose name and identifiers match is found once, in pages of any size", async () => {
    const names = ["Ana", "Anabel", "Anatol", "Bea", "Ana Ana"];
    const users = Array.from({ length: 30 }, (_, index) => ({
      external_id: index % 3 === 0 ? `ana-${index}` : `user-${index}`,
      email: index % 2 === 0 ? `ana${index}@example.com` : `x${index}@example.com`,
      first_name: names[index % 5],
      last_name: names[(index * 7) % 5],
    }));
    const crowd = await server.workspace();
    await crowd.track({ attributes: users });
    const wanted = users
      .filter(({ external_id, email, first_name, last_name }) =>
        `${external_id} ${email} ${first_name} ${last_name}`
          .toLowerCase()
          .split(" ")
          .some((each) => each.startsWith("ana")),
      )
      .map(({ external_id }) => external_id)
      .sort();
    for (const limit of ["1", "2", "7", "100"]) {
      assert.deepEqual((await found(crowd, "ana", { limit })).sort(), wanted, limit);
      const both = await found(crowd, "ana be", { limit });
      assert.deepEqual(
        both.sort(),
        users
          .filter(({ first_name = "", last_name = "" }) => {
            const words = `${first_name} ${last_name}`.split(" ");
            return (
              words.some((each) => each.startsWith("Ana")) &&
              words.some((each) => each.startsWith("Be"))
            );
          })
          .map(({ external_id }) => external_id)
          .sort(),
      );
    }
  });

  test("names alone, without a query, are all users with a name in the order of names", async () => {
    const list = await named({ 1: ["Zoe"], 2: ["Éva"], 3: ["ann", "b"], 4: ["Ann"], 5: [null] });
    for (const limit of ["1", "3"]) {
      const users = await all(list, { identifier: "name", limit });
      assert.deepEqual(
        users.map((user) => user.external_id),
        ["4", "3", "2", "1"],
      );
    }
  });

  test("a word that few names have is found among thousands that begin as the other does", async () => {
    const names = Object.fromEntries(
      Array.from({ length: 2_300 }, (_, index) => [`m${index}`, ["Maria", "Moser"] as const]),
    );
    const crowd = await named({ ...names, last: ["Maria", "Moz"] });
    assert.deepEqual(await found(crowd, "m moz"), ["last"]);
    // Both words are frequent: the page may be empty, and the next ones have them.
    const both = await found(crowd, "mar mos", { limit: "100" });
    assert.equal(new Set(both).size, 2_300);
  });

  test("names follow every kind of write: changes, removals, merges and their undo, deletions, imports and a reset", async () => {
    const people = await named({ ada: ["Ada", "King"], eve: ["Eve", "Stone"] });
    await people.track({ attributes: [{ ...id("ada"), last_name: "Lovelace" }] });
    assert.deepEqual(await found(people, "king"), []);
    assert.deepEqual(await found(people, "love ada"), ["ada"]);
    // One name is repeated and the other one changes; then both with an address and in one request.
    await people.track({
      attributes: [{ ...id("ada"), first_name: "Augusta", last_name: "Lovelace" }, id("eve")].map(
        (user) => ({ plan: "gold", ...user }),
      ),
    });
    assert.deepEqual(await found(people, "love aug"), ["ada"]);
    await people.track({
      attributes: [
        { ...id("ada"), first_name: "Ada", email: "ada@example.com" },
        { ...id("ada"), last_name: "Byron" },
        { ...id("ada"), last_name: "Lovelace", phone: null },
      ],
    });
    assert.deepEqual(await found(people, "love ada"), ["ada"]);
    assert.deepEqual(await found(people, "byron"), []);
    await people.track({ attributes: [{ ...id("ada"), first_name: null, home_city: "London" }] });
    assert.deepEqual(await found(people, "lovelace"), ["ada"]);
    assert.deepEqual(await found(people, "ada", { identifier: "name" }), []);
    await merge(people, [[id("eve"), id("ada")]]);
    assert.deepEqual(await found(people, "stone"), []);
    assert.deepEqual(await found(people, "eve lovelace"), ["ada"]);
    const [merged] = await mergesOf(server, people);
    await undone(server, people, merged?.id ?? "");
    assert.deepEqual(await found(people, "stone"), ["eve"]);
    assert.deepEqual(await found(people, "eve lovelace"), []);
    await people.call("POST", "/users/delete", { external_ids: ["eve"] });
    assert.deepEqual(await found(people, "stone"), []);
    const path = `/admin/v1/workspaces/${people.name}`;
    const imported = { external_id: "sam", first_name: "Sam", last_name: "Impörted" };
    const file = { kind: "users", first_row: 1, rows: [imported] };
    const sent = await server.admin("POST", `${path}/imports/file-1`, file);
    assert.equal(sent.status, 200, JSON.stringify(sent.body));
    assert.deepEqual(await found(people, "imported sam"), ["sam"]);
    await server.admin("POST", `${path}/reset`);
    assert.deepEqual(await found(people, "sam"), []);
  });

  test("any text is taken as a name, and its words find the user", async () => {
    const long = (text: string) => [...text.repeat(255)].slice(0, 255).join("");
    const texts = ["ﷺ", "\u{1d518}", "ß", "\u0301", "a b ", "-", "́é́"].map(long);
    const crowd = await named(
      Object.fromEntries(texts.map((text, index) => [index, [text, text] as const])),
    );
    for (const [index, text] of texts.entries()) {
      // No words are left of these.
      if (["-", "\u0301"].includes(text.charAt(0))) continue;
      assert.ok((await found(crowd, text.slice(0, 20))).includes(String(index)), text.slice(0, 20));
    }
    const word = fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 });
    const random = fc
      .sample(fc.tuple(word, word), sized(50, 500))
      .filter((pair) => pair.every((each) => each.trim() !== ""));
    const names = await named(Object.fromEntries(random.map((pair, index) => [index, pair])));
    const listed = (await all(names, { identifier: "name" })).map((user) => user.external_id);
    for (const [index, [first, last]] of random.entries()) {
      const ids = await found(names, `${last} ${first}`, { identifier: "name" });
      // A name of punctuation alone has no words.
      assert.equal(ids.includes(String(index)), listed.includes(String(index)), `${last} ${first}`);
    }
  });

  test("no index of users has a column that writes change, except that of the words of names", async () => {
    const columns = await server.database.query<{ name: string }>(
      `select distinct attname as name from pg_index
       join pg_depend on objid = indexrelid and refobjid = indrelid and refobjsubid > 0
       join pg_attribute on attrelid = indrelid and attnum = refobjsubid
       where indrelid = 'profiles'::regclass order by 1`,
    );
    const names = columns.map(({ name }) => name).filter((name) => name !== "bucket");
    assert.deepEqual(names, ["name_words", "profile_id", "workspace_id"]);
  });
});
