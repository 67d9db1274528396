/* The latest requests of API keys, as administrators see them. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startProvider, visit } from "../dashboard-users/identity-provider.ts";
import { continueSession, type SignedIn } from "../dashboard-users/signed-in.ts";
import { freePort } from "../free-port.ts";
import { startOwnServer } from "../harness.ts";
import { declare, scimClient, WORKSPACE } from "../scim-client.ts";

const port = await freePort();
const provider = await startProvider(port);
const server = await startOwnServer({ port, oidc: provider.settings });
await declare(server, {}, [WORKSPACE]);
const scim = scimClient(server);

const PATH = "/admin/v1/workspaces/demo/requests";
const NOON = "2026-01-01T12:00:00Z";

const track = (body: unknown, key = "dev-key") =>
  server.send("POST", "/users/track", body, { key });

const sum = (counts: readonly number[]): number => counts.reduce((all, each) => all + each, 0);

const list = async (query = ""): Promise<any[]> => {
  const { status, body } = await server.admin("GET", `${PATH}?${query}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body.requests;
};

async function person(appGroupPermissions: readonly string[]): Promise<SignedIn & { id: string }> {
  const appGroup = [{ appGroupName: "demo", appGroupPermissions }];
  const user = (await scim.user({ permissions: { companyPermissions: [], appGroup } })) as any;
  provider.signsIn({ email: user.userName, email_verified: true });
  const { cookie } = await visit(server, "/dashboard/sign-in/oidc");
  return { ...(await continueSession(server, cookie)), id: user.id };
}

describe("the list of live requests", () => {
  test("a request is listed with its key, its time and the verdict on every item", async () => {
    await track({
      events: [
        { external_id: "ada", name: "opened", time: NOON },
        { external_id: "bob", name: "opened", time: "yesterday" },
      ],
    });
    const [newest] = await list();
    assert.equal(newest.method, "POST");
    assert.equal(newest.path, "/users/track");
    assert.equal(newest.status, 201);
    assert.equal(newest.key.name, "dev");
    assert.ok(newest.duration_ms > 0);
    assert.deepEqual(
      newest.items.map(({ kind, index, accepted, user }: any) => [kind, index, accepted, user]),
      [
        ["events", 0, true, "ada"],
        ["events", 1, false, "bob"],
      ],
    );
    assert.match(newest.items[1].code, /^[A-Z_]+$/);
    assert.equal(newest.rejected, 1);
    assert.equal(newest.body.events[1].time, "yesterday");
    const { body } = await server.admin("GET", `${PATH}/${newest.id}`);
    assert.deepEqual(body.request, newest);
  });

  test("live requests are found by status, key, user, endpoint and code, and read page by page", async () => {
    await track({ events: [{ external_id: "carol", name: "seen", time: NOON }] });
    await track({ events: "none" });
    await server.send("POST", "/users/export/ids", { external_ids: ["carol"] }, { key: "dev-key" });
    const carols = await list("user=carol");
    assert.deepEqual(
      carols.map(({ path }) => path),
      ["/users/export/ids", "/users/track"],
    );
    assert.deepEqual([...new Set((await list("status=4xx")).map(({ status }) => status))], [400]);
    assert.equal((await list("status=404")).length, 0);
    assert.equal((await list("key=nobody")).length, 0);
    assert.ok((await list("key=dev")).length >= 3);
    assert.equal((await list("endpoint=/users/export/ids")).length, 1);
    const [rejected] = (await list("status=201")).filter((each) => each.rejected > 0);
    const code = rejected.items.find((item: any) => !item.accepted).code;
    assert.deepEqual(
      (await list(`code=${code}`)).map(({ id }) => id),
      [rejected.id],
    );
    const { body: first } = await server.admin("GET", `${PATH}?limit=1`);
    const { body: second } = await server.admin(
      "GET",
      `${PATH}?limit=1&cursor=${first.next_cursor}`,
    );
    assert.deepEqual(
      [...first.requests, ...second.requests].map(({ id }: any) => id),
      (await list("limit=2")).map(({ id }) => id),
    );
  });

  test("live requests are found by a user however the body spells the name", async () => {
    const event = { name: "seen", time: NOON };
    const raw = JSON.stringify({ events: [{ external_id: "josé", ...event }] }).replace(
      "é",
      "\\u00e9",
    );
    await server.send("POST", "/users/track", undefined, { key: "dev-key", raw });
    await track({ events: [{ user_alias: { alias_name: "eva", alias_label: "web" }, ...event }] });
    await track({ events: [{ external_id: 4711, ...event }] });
    for (const user of ["josé", "web:eva", "4711"]) {
      const [found, ...more] = await list(`user=${encodeURIComponent(user)}`);
      assert.equal(found?.items[0].user, user);
      assert.equal(more.length, 0);
    }
  });

  test("live requests are listed for any JSON in a rejected item", async () => {
    const alias_label = { toString: 1, valueOf: 1 };
    await track({ events: [{ user_alias: { alias_name: "fay", alias_label }, name: "seen" }] });
    const [newest] = await list();
    assert.equal(newest.items[0].user, null);
    assert.deepEqual(newest.body.events[0].user_alias.alias_label, alias_label);
  });

  test("live requests count users and objects as items, not the fields of an export, and the overview counts the same", async () => {
    const workspace = await server.workspace({ settings: { track_max_updates: 150 } });
    const { key, name } = workspace;
    const send = (path: string, body: unknown) => server.send("POST", path, body, { key });
    await send("/users/export/ids", {
      external_ids: ["ada"],
      fields_to_export: ["external_id", "email", "first_name"],
    });
    const alias = { alias_name: "a", alias_label: "web" };
    await send("/users/alias/new", { user_aliases: [{ external_id: "nobody", ...alias }] });
    await send("/users/merge", { merge_updates: [{ identifier_to_merge: {} }] });
    await send("/users/track", { events: "none" });
    const events = Array.from({ length: 150 }, () => ({
      external_id: "ada",
      name: "a".repeat(300),
    }));
    // Its response is too long to be kept.
    await send("/users/track", { events });
    const path = `/admin/v1/workspaces/${name}`;
    const { body } = await server.admin("GET", `${path}/requests`);
    const [long, none, merge, added, exported] = body.requests;
    assert.deepEqual(
      [exported, added, merge, none, long].map(({ items, rejected }: any) => [
        items.filter((item: any) => item.accepted).length,
        rejected,
      ]),
      [
        [1, 0],
        [0, 1],
        [0, 1],
        [0, 0],
        [0, 150],
      ],
    );
    assert.equal(long.response, null);
    assert.ok(long.items.every((item: any) => item.code !== null));
    const { body: overview } = await server.admin("GET", `${path}/overview`);
    assert.deepEqual([sum(overview.items_accepted), sum(overview.items_rejected)], [1, 152]);
    const codes = body.requests.flatMap(({ items }: any) =>
      items.flatMap(({ code }: any) => code ?? []),
    );
    assert.deepEqual(
      overview.rejections.map(({ code, counts }: any) => [code, sum(counts)]).sort(),
      [...new Set(codes)]
        .map((code) => [code, codes.filter((each: any) => each === code).length])
        .sort(),
    );
  });

  test("a request that is refused as a whole is listed with the code of its response, and found by it", async () => {
    const { key, name } = await server.workspace();
    const path = "/campaign/translations/?campaign_id=none&message_variation_id=none";
    const refused = await server.send("GET", path, undefined, { key });
    const { code } = refused.body.errors[0];
    assert.match(code, /^[A-Z_]+$/);
    const listed = await server.admin("GET", `/admin/v1/workspaces/${name}/requests?code=${code}`);
    assert.deepEqual(
      listed.body.requests.map((each: any) => [each.code, each.rejected]),
      [[code, 0]],
    );
  });

  test("requests of one workspace are not listed in another", async () => {
    await track({ events: [{ external_id: "dora", name: "seen", time: NOON }] });
    const other = await server.workspace();
    const { body } = await server.admin("GET", `/admin/v1/workspaces/${other.name}/requests`);
    assert.deepEqual(body.requests, []);
  });

  test("a server keeps at most LIVE_REQUESTS requests, and none if live requests are off", async () => {
    const few = await startOwnServer({ liveRequests: 3 });
    const workspace = await few.workspace();
    // At once: what was kept for a second is shown by the database, too.
    await Promise.all(
      ["a", "b", "c", "d"].map((name) =>
        workspace.track({ events: [{ external_id: name, name, time: NOON }] }),
      ),
    );
    const path = `/admin/v1/workspaces/${workspace.name}/requests`;
    const { body } = await few.admin("GET", path);
    assert.equal(body.requests.length, 3);
    const off = await startOwnServer({ liveRequests: 0 });
    const silent = await off.workspace();
    await silent.track({ events: [{ external_id: "ada", name: "a", time: NOON }] });
    const answer = await off.admin("GET", `/admin/v1/workspaces/${silent.name}/requests`);
    assert.deepEqual([answer.body.requests, answer.body.kept], [[], 0]);
  });
});

describe("personal data in live requests", () => {
  test("a person without view_pii sees verdicts, but neither bodies nor responses nor users", async () => {
    await track({ events: [{ external_id: "private-ada", name: "seen", time: NOON }] });
    const developer = await person(["dev_console"]);
    const { body } = await developer.call("GET", PATH);
    const [newest] = body.requests;
    assert.deepEqual([newest.body, newest.response, newest.items[0].user], [null, null, null]);
    assert.equal(newest.items[0].accepted, true);
    assert.doesNotMatch(JSON.stringify(body), /private-ada/);
    assert.equal((await developer.call("GET", `${PATH}?user=private-ada`)).status, 403);
    const support = await person(["dev_console", "view_pii"]);
    const shown = await support.call("GET", `${PATH}?user=private-ada`);
    assert.equal(shown.body.requests[0].items[0].user, "private-ada");
  });

  test("a person without view_pii sees the route of a request, not the path with a user in it, and cannot search by it", async () => {
    const path = "/preference_center/v1/none/url/private-ada%40acme.example";
    await server.send("GET", path, undefined, { key: "dev-key" });
    const developer = await person(["dev_console"]);
    const { body } = await developer.call("GET", PATH);
    assert.match(body.requests[0].path, /^\/preference_center\/v1\/:\w+\/url\/:\w+$/);
    assert.doesNotMatch(JSON.stringify(body), /private-ada/);
    const search = async (browser: SignedIn, endpoint: string) =>
      (await browser.call("GET", `${PATH}?endpoint=${encodeURIComponent(endpoint)}`)).body.requests
        .length;
    assert.deepEqual(
      [await search(developer, path), await search(developer, body.requests[0].path)],
      [0, 1],
    );
    const support = await person(["dev_console", "view_pii"]);
    assert.equal(await search(support, path), 1);
  });

  test("a person without view_pii reads no captured calls, whose paths may name users, and cannot search by path", async () => {
    const settings = "/admin/v1/workspaces/demo/settings";
    await server.admin("PUT", settings, { capture_unsupported: true });
    const path = "/catalogs/private-ada%40acme.example/items";
    assert.equal((await server.send("GET", path, undefined, { key: "dev-key" })).status, 200);
    const captured = "/admin/v1/workspaces/demo/captured";
    const developer = await person(["dev_console"]);
    for (const query of ["", `?path=${encodeURIComponent(path)}`, "?path=/catalogs"]) {
      const { status, body } = await developer.call("GET", captured + query);
      assert.equal(status, 403, query);
      assert.match(body.message, /view_pii/);
      assert.doesNotMatch(JSON.stringify(body), /private-ada|"captured"/);
    }
    const support = await person(["dev_console", "view_pii"]);
    const shown = await support.call("GET", captured);
    assert.equal(shown.body.captured[0].path, path);
    const live = (await developer.call("GET", PATH)).body.requests;
    assert.equal(live[0].path, "/catalogs/:catalog/items");
    await server.admin("PUT", settings, {});
  });

  test("the author of a page without view_pii sees no preview of it, and the preview link shows a made-up user", async () => {
    await track({
      attributes: [{ external_id: "private-ada", email: "private-ada@acme.example" }],
    });
    const centers = "/admin/v1/workspaces/demo/preference-centers";
    const { id, ...center } = (await server.admin("GET", centers)).body.preference_centers[0];
    const author = await person(["basic_access", "manage_email_settings"]);
    const page_html = `<p>{{\${email_address}}}</p>`;
    const content = { name: center.name, title: "Choices", page_html };
    assert.equal((await author.call("PUT", `${centers}/${id}`, content)).status, 200);
    for (const [method, path, body] of [
      ["GET", "preview?external_id=private-ada", undefined],
      ["GET", "preview", undefined],
      ["POST", "preview", { center: content, external_id: "private-ada" }],
    ] as const) {
      const answer = await author.call(method, `${centers}/${id}/${path}`, body);
      assert.equal(answer.status, 403, path);
      assert.match(answer.body.message, /view_pii/);
    }
    const link = await author.call("POST", `${centers}/${id}/preview-link`, {});
    for (const query of ["", "?external_id=private-ada"]) {
      const shown = await fetch(link.body.url + query);
      const html = await shown.text();
      assert.ok(!html.includes("private-ada"));
      if (shown.ok) assert.match(html, /sam\.sample@example\.com/);
    }
    const support = await person(["basic_access", "view_pii"]);
    const seen = await support.call("GET", `${centers}/${id}/preview?external_id=private-ada`);
    assert.match(String(seen.body), /private-ada@acme\.example/);
  });

  test("a person without view_pii sees the code of a refusal, not its message, which quotes what was sent", async () => {
    await track({ events: [{ external_id: "ada", name: "opened", time: "private-time" }] });
    const developer = await person(["dev_console"]);
    const [newest] = (await developer.call("GET", PATH)).body.requests;
    assert.equal(newest.items[0].code, "INVALID_TIME");
    assert.equal(newest.items[0].message, null);
  });
});
