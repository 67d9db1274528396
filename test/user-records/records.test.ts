/* The stored data of one person: the record that administrators search, read and erase. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { alias, byAlias, id, merge, TIME } from "../core/people/identity/identity-calls.ts";
import { ALERTS, NEWSLETTER, startServer, type TestWorkspace, WEB_APP } from "../harness.ts";

const server = await startServer();

const pathOf = ({ name }: TestWorkspace, rest = "") => `/admin/v1/workspaces/${name}/users${rest}`;

const get = (workspace: TestWorkspace, rest: string) =>
  server.admin("GET", pathOf(workspace, rest));

async function search(workspace: TestWorkspace, query: string, more = "") {
  const { status, body } = await get(workspace, `?query=${encodeURIComponent(query)}${more}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

const namesOf = (body: any): string[] => body.users.map((user: any) => user.external_id);

const platformIdOf = async (workspace: TestWorkspace, externalId: string): Promise<string> =>
  (await workspace.profile({ external_ids: [externalId] })).platform_id;

describe("the search for users", () => {
  test("a search finds users by the beginning of each kind of identifier", async () => {
    const workspace = await server.workspace();
    const { body } = await workspace.track({
      attributes: [
        { ...id("ada-1"), email: "Lovelace@Example.com", phone: "+14155552671" },
        { ...id("ada-2") },
        { ...byAlias("ada-alias", "crm"), _update_existing_only: false, first_name: "A" },
        { ...id("Ada-3") },
      ],
    });
    assert.equal(body.errors, undefined);
    const found = await search(workspace, "ada");
    assert.deepEqual(namesOf(found), ["ada-1", "ada-2", null]);
    assert.deepEqual(found.users[2].user_aliases, [alias("ada-alias", "crm")]);
    assert.deepEqual(found.users[2].matched, { identifier: "alias", value: "ada-alias" });
    assert.deepEqual(namesOf(await search(workspace, "LOVE")), ["ada-1"]);
    assert.deepEqual(namesOf(await search(workspace, "+1 (415) 555")), ["ada-1"]);
    assert.deepEqual(namesOf(await search(workspace, "1415")), ["ada-1"]);
    assert.deepEqual(namesOf(await search(workspace, "ada", "&identifier=email")), []);
    assert.deepEqual(namesOf(await search(workspace, "ada_")), []);
    assert.deepEqual(namesOf(await search(workspace, "%")), []);
    const platformId = await platformIdOf(workspace, "ada-2");
    assert.deepEqual(namesOf(await search(workspace, platformId.toUpperCase())), ["ada-2"]);
  });

  test("an exact search finds only whole identifiers", async () => {
    const workspace = await server.workspace();
    await workspace.track({
      attributes: [
        id("ada"),
        id("ada2"),
        { ...id("x"), email: "ada@example.com" },
        { ...byAlias("ada"), _update_existing_only: false, first_name: "A" },
        { ...byAlias("adam"), _update_existing_only: false, first_name: "A" },
      ].map((user) => ({ first_name: "A", ...user })),
    });
    const exact = await search(workspace, "ada", "&match=exact");
    assert.deepEqual(namesOf(exact), ["ada", null]);
    assert.deepEqual(namesOf(await search(workspace, "ADA@example.com", "&match=exact")), ["x"]);
  });

  test("a search shows every user once in pages of any size, even if several identifiers match", async () => {
    const workspace = await server.workspace();
    const users = Array.from({ length: 25 }, (_, index) => {
      const name = `user-${String(index).padStart(2, "0")}`;
      return { external_id: name, email: `${name}@example.com` };
    });
    await workspace.track({ attributes: users });
    await workspace.track({
      attributes: [
        // Beyond U+FFFF: the engine's order differs from JavaScript's.
        { external_id: "user-\u{1f600}", first_name: "A" },
        { external_id: "user-\uffee", first_name: "A" },
      ],
    });
    for (const limit of [1, 2, 7, 100]) {
      const found: string[] = [];
      for (let cursor = ""; ; ) {
        const body = await search(workspace, "user-", `&limit=${limit}${cursor}`);
        found.push(...namesOf(body));
        if (!body.next_cursor) break;
        cursor = `&cursor=${body.next_cursor}`;
      }
      const wanted = [...users.map((user) => user.external_id), "user-\uffee", "user-\u{1f600}"];
      assert.deepEqual(found, wanted, `limit ${limit}`);
    }
  });

  test("a search without a query lists every user once, even a user with several identifiers", async () => {
    const workspace = await server.workspace();
    const attributes = [
      { ...id("ada"), email: "ada@example.com" },
      { ...id("bob"), first_name: "B" },
      { email: "only@example.com", first_name: "C" },
      { phone: "+14155552671", first_name: "D" },
    ];
    assert.equal((await workspace.track({ attributes })).body.errors, undefined);
    const found: any[] = [];
    for (let cursor = ""; ; ) {
      const { body } = await get(workspace, `?limit=2${cursor}`);
      found.push(...body.users);
      if (!body.next_cursor) break;
      cursor = `&cursor=${body.next_cursor}`;
    }
    const shown = found.map(({ external_id, email, phone }) => external_id ?? email ?? phone);
    assert.deepEqual(shown, ["ada", "bob", "only@example.com", "+14155552671"]);
  });

  test("a search finds no user of another workspace and refuses a cursor that it did not return", async () => {
    const [mine, other] = [await server.workspace(), await server.workspace()];
    await other.track({ attributes: [{ ...id("eve"), first_name: "Eve" }] });
    assert.deepEqual(namesOf(await search(mine, "eve")), []);
    const otherId = await platformIdOf(other, "eve");
    assert.deepEqual(namesOf(await search(mine, otherId)), []);
    assert.equal((await get(mine, `/${otherId}`)).status, 404);
    for (const cursor of ["x", Buffer.from("email x y").toString("base64url")]) {
      const { status, body } = await get(mine, `?query=e&cursor=${cursor}`);
      assert.deepEqual([status, body.message], [400, "Invalid cursor"]);
    }
  });
});

describe("the record of a user", () => {
  test("the record of a user has the profile, its identifiers, its states with their addresses, and counts", async () => {
    const workspace = await server.workspace();
    const { name } = workspace;
    await workspace.track({
      attributes: [
        {
          ...id("ada"),
          email: "ada@example.com",
          phone: "+14155552671",
          first_name: "Ada",
          color: "red",
          email_subscribe: "opted_in",
          subscription_groups: [
            { subscription_group_id: NEWSLETTER, subscription_state: "subscribed" },
            { subscription_group_id: ALERTS, subscription_state: "unsubscribed" },
          ],
        },
        { ...id("old"), first_name: "Old" },
      ],
      events: [
        { ...id("ada"), name: "e", time: TIME },
        { ...id("ada"), name: "e", time: TIME },
      ],
      purchases: [
        { ...id("ada"), product_id: "p", currency: "USD", price: 1.5, quantity: 3, time: TIME },
      ],
    });
    await server.admin("POST", `/admin/v1/workspaces/${name}/import`, {
      users: [
        {
          ...id("ada"),
          devices: [{ device_id: "d" }],
          apps: [{ app_id: WEB_APP, sessions: 2, first_used: TIME, last_used: TIME }],
          messages: [{ message_id: "m", channel: "email", sent_at: TIME }],
        },
      ],
    });
    const oldId = await platformIdOf(workspace, "old");
    await merge(workspace, [[id("old"), id("ada")]]);
    const platformId = await platformIdOf(workspace, "ada");
    const { body } = await get(workspace, `/${platformId}`);
    const { user, redirects, subscriptions, counts } = body;
    assert.deepEqual(
      [user.external_id, user.first_name, user.custom_attributes, user.devices.length],
      ["ada", "Ada", { color: "red" }, 1],
    );
    assert.equal(user.apps[0].sessions, 2);
    assert.deepEqual(redirects, [{ platform_id: oldId, external_id: null }]);
    assert.deepEqual(
      [subscriptions.email.address, subscriptions.email.state],
      ["ada@example.com", "opted_in"],
    );
    assert.deepEqual(
      subscriptions.groups.map((group: any) => [group.name, group.state, group.address]).sort(),
      [
        ["Alerts", "unsubscribed", "+14155552671"],
        ["Newsletter", "subscribed", "ada@example.com"],
      ],
    );
    assert.deepEqual(counts, { events: 2, purchases: 3, messages: 1 });

    for (const rest of ["", "/timeline"]) {
      const moved = await get(workspace, `/${oldId}${rest}`);
      assert.equal(moved.status, 301);
      assert.equal(moved.body.merged_into, platformId);
      const { status, body } = await server.admin("GET", moved.headers.get("location") ?? "");
      assert.equal(status, 200);
      if (rest === "") assert.equal(body.user.external_id, "ada");
      else assert.ok(body.entries.length > 0);
    }
  });
});

describe("the erasure of a user", () => {
  const erase = (workspace: TestWorkspace, platformId: string) =>
    server.admin("DELETE", pathOf(workspace, `/${platformId}`));

  test("erasing a user removes profile, history and the state of the address, and reports what the audit keeps", async () => {
    const workspace = await server.workspace();
    const email = "ada@example.com";
    await workspace.track({
      attributes: [{ ...id("ada"), email, color: "red", email_subscribe: "unsubscribed" }],
      events: [{ ...id("ada"), name: "opened", time: TIME, properties: { secret: "red" } }],
    });
    const platformId = await platformIdOf(workspace, "ada");
    const { status, body } = await erase(workspace, platformId);
    assert.equal(status, 200);
    assert.equal(body.email_state, "erased");
    assert.ok(body.audit.effects.some((effect: any) => effect.name === "opened"));
    assert.doesNotMatch(JSON.stringify(body), /red|example\.com/);
    assert.deepEqual(namesOf(await search(workspace, "ada")), []);
    const gone = await get(workspace, `/${platformId}`);
    assert.equal(gone.status, 404);
    assert.match(gone.body.message, /was deleted at \d/);
    assert.equal((await erase(workspace, platformId)).status, 404);

    await workspace.track({ attributes: [{ ...id("new"), email }] });
    const again = await workspace.profile({ external_ids: ["new"] });
    assert.equal(again.email_subscribe, "subscribed");
  });

  test("erasing a user keeps the state of an address that another user has", async () => {
    const workspace = await server.workspace();
    const email = "shared@example.com";
    await workspace.track({
      attributes: [
        { ...id("ada"), email, email_subscribe: "unsubscribed" },
        { ...id("bob"), email },
      ],
    });
    const { body } = await erase(workspace, await platformIdOf(workspace, "ada"));
    assert.equal(body.email_state, "kept");
    const bob = await workspace.profile({ external_ids: ["bob"] });
    assert.equal(bob.email_subscribe, "unsubscribed");
  });

  test("erasing or changing a merged user is refused with the id of the kept one", async () => {
    const workspace = await server.workspace();
    await workspace.track({ attributes: ["ada", "old"].map((x) => ({ ...id(x), first_name: x })) });
    const oldId = await platformIdOf(workspace, "old");
    await merge(workspace, [[id("old"), id("ada")]]);
    const change = { attributes: { plan: "gold" } };
    const changed = await server.admin("PATCH", pathOf(workspace, `/${oldId}`), change);
    for (const { status, body } of [await erase(workspace, oldId), changed])
      assert.deepEqual([status, body.merged_into], [409, await platformIdOf(workspace, "ada")]);
    assert.deepEqual(namesOf(await search(workspace, "ada")), ["ada"]);
  });
});

describe("the merge of a user by an administrator", () => {
  test("previews exactly the effects that it then has", async () => {
    const workspace = await server.workspace();
    await workspace.track({
      attributes: [
        { ...id("ada"), first_name: "Ada" },
        { ...id("old"), home_city: "London" },
      ],
    });
    const [ada, old] = [await platformIdOf(workspace, "ada"), await platformIdOf(workspace, "old")];
    const send = (from: string, body: object) =>
      server.admin("POST", pathOf(workspace, `/${from}/merge`), body);
    const preview = await send(old, { into: ada, dry_run: true });
    assert.equal(preview.body.merged, false);
    assert.deepEqual(namesOf(await search(workspace, "old")), ["old"]);
    const done = await send(old, { into: ada.toUpperCase() });
    assert.equal(done.body.merged, true);
    assert.deepEqual(done.body.effects, preview.body.effects);
    assert.equal((await workspace.profile({ external_ids: ["ada"] })).home_city, "London");
    assert.equal((await send(old, { into: ada })).status, 400);
    const nobody = "00000000-0000-7000-8000-000000000000";
    assert.equal((await send(nobody, { into: ada })).status, 404);
    assert.equal((await send(ada, { into: nobody })).status, 404);
    assert.equal((await send(ada, { into: ada })).status, 400);
  });
});
