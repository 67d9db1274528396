/* Preference centers in a manifest and in the admin API: declared, changed, previewed, audited. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { NEWSLETTER, startServer, type TestWorkspace } from "../../harness.ts";
import {
  CONFIRMATION,
  createCenter,
  emptyWorkspace,
  openPage,
  PAGE,
  PATH,
  pageOf,
  textIn,
} from "../../preference-center-calls.ts";

const server = await startServer();

const ID = "3e1c7c1e-52b4-4d54-a0a5-0d1d9f2f7a11";

const DECLARED = {
  id: ID,
  name: "main",
  title: "Preferences",
  state: "active",
  page_html: PAGE,
  confirmation_html: CONFIRMATION,
};

const apply = (name: string, preference_centers?: unknown) =>
  server.admin("POST", "/admin/v1/apply", {
    company: { name: "Test" },
    workspaces: [{ name, ...(preference_centers !== undefined && { preference_centers }) }],
  });

const adminPath = ({ name }: TestWorkspace, rest = "") =>
  `/admin/v1/workspaces/${name}/preference-centers${rest}`;

const changesOf = (answer: { body: any }) =>
  answer.body.changes
    .filter((each: any) => each.kind === "preference_center")
    .map((each: any) => [each.action, each.name]);

describe("preference centers in a manifest", () => {
  test("a preference center in a manifest has an id, name, title, state and both pages, and is served", async () => {
    const workspace = await server.workspace({ preference_centers: [DECLARED] });
    const { body } = await workspace.call<any>("GET", `${PATH}/${ID}`);
    assert.deepEqual(
      [
        body.preference_center_api_id,
        body.name,
        body.preference_center_title,
        body.state,
        body.preference_center_page_html,
        body.confirmation_page_html,
      ],
      [ID, "main", "Preferences", "active", PAGE, CONFIRMATION],
    );
    await workspace.track({ attributes: [{ external_id: "ada", email: "ada@example.com" }] });
    const page = await openPage(server, await pageOf(workspace, ID));
    assert.equal(textIn(page.body, "email"), "ada@example.com");
  });

  test("the state of a preference center is active or draft, and a draft is not served", async () => {
    const workspace = await server.workspace({
      preference_centers: [{ ...DECLARED, state: "draft" }],
    });
    await workspace.track({ attributes: [{ external_id: "ada" }] });
    const path = await pageOf(workspace, ID);
    assert.equal((await openPage(server, path)).status, 404);
    await apply(workspace.name, [{ ...DECLARED, state: "active" }]);
    assert.equal((await openPage(server, path)).status, 200);
    const refused = await apply(workspace.name, [{ ...DECLARED, state: "live" }]);
    assert.equal(refused.status, 400);
    assert.match(refused.body.message, /state' must be one of active, draft/);
  });

  test("a manifest reports each change of a preference center, and applying it again changes nothing", async () => {
    const workspace = await server.workspace({ preference_centers: [DECLARED] });
    const { name } = workspace;
    assert.deepEqual(changesOf(await apply(name, [DECLARED])), []);
    const full = {
      ...DECLARED,
      redirect_url: "https://shop.example/",
      options: { "meta-viewport-content": "width=1", "links-tags": [{ rel: "icon", href: "/i" }] },
      locale: "en-GB",
      translations: { es: { preference_center_title: "Preferencias" } },
    };
    let present: object = DECLARED;
    for (const [member, value] of Object.entries({ ...full, name: "renamed", title: "T" })) {
      const next = { ...present, [member]: value };
      const isSame = JSON.stringify(next) === JSON.stringify(present);
      const changes = changesOf(await apply(name, [next]));
      assert.equal(changes.length, isSame ? 0 : 1, member);
      assert.deepEqual(changesOf(await apply(name, [next])), [], member);
      present = next;
    }
    assert.deepEqual(changesOf(await apply(name, [])), [["removed", "renamed"]]);
    assert.equal((await workspace.call("GET", `${PATH}/${ID}`)).status, 404);
  });

  test("an invalid page in a manifest is refused with its place, and nothing is applied", async () => {
    const workspace = await server.workspace({ preference_centers: [DECLARED] });
    const faulty = { ...DECLARED, title: "Changed", confirmation_html: "<p>\n{% if %}" };
    const { status, body } = await apply(workspace.name, [faulty]);
    assert.equal(status, 400);
    assert.match(body.message, /'confirmation_html' is rejected: line 2/);
    assert.deepEqual(body.path, ["workspaces", 0, "preference_centers", 0, "confirmation_html"]);
    const { body: kept } = await workspace.call<any>("GET", `${PATH}/${ID}`);
    assert.equal(kept.preference_center_title, "Preferences");
    for (const [entry, message] of [
      [{ ...DECLARED, id: "list" }, /list/],
      [{ ...DECLARED, name: "two words" }, /'name' must be/],
      [{ ...DECLARED, html: "x" }, /'html'/],
      [{ ...DECLARED, title: "a\0" }, /NUL/],
    ] as const) {
      const refused = await apply(workspace.name, [entry]);
      assert.equal(refused.status, 400);
      assert.match(refused.body.message, message);
    }
  });

  test("a manifest keeps preference centers of the API and restores declared ones that the API changed", async () => {
    const workspace = await server.workspace({
      preference_centers: [DECLARED],
      settings: { rate_limits: { "preference_center.update": "off" } },
    });
    const made = await createCenter(workspace, { name: "made" });
    await workspace.call("PUT", `${PATH}/${ID}`, {
      preference_center_title: "Otherwise",
      preference_center_page_html: "<p>x</p>",
      confirmation_page_html: "<p>x</p>",
    });
    assert.deepEqual(changesOf(await apply(workspace.name, [DECLARED])), [["updated", "main"]]);
    assert.deepEqual(changesOf(await apply(workspace.name, [])), [["removed", "main"]]);
    assert.equal((await workspace.call("GET", `${PATH}/${made}`)).status, 200);
  });
});

describe("a new workspace", () => {
  test("a new workspace has a ready page that lists its groups, in the reader's language", async () => {
    const workspace = await server.workspace();
    const { body } = await workspace.call<any>("GET", `${PATH}/list`);
    assert.deepEqual(
      body.preference_centers.map((each: any) => each.name),
      ["default"],
    );
    const [{ preference_center_api_id: id }] = body.preference_centers;
    await workspace.track({
      attributes: [
        {
          external_id: "ada",
          email: "ada@example.com",
          subscription_groups: [
            { subscription_group_id: NEWSLETTER, subscription_state: "subscribed" },
          ],
        },
      ],
    });
    const path = await pageOf(workspace, id);
    const page = (await openPage(server, path)).body;
    assert.match(page, /Newsletter<small>Email<\/small>/);
    assert.match(
      page,
      new RegExp(`name="subscription_group_${NEWSLETTER}" value="subscribed" checked>`),
    );
    for (const [locale, words] of [
      ["de", /Auswahl speichern/],
      ["es", /Guardar mis preferencias/],
      ["fr", /Enregistrer mes choix/],
    ] as const) {
      const translated = await openPage(server, path, { "accept-language": locale });
      assert.match(translated.body, words);
      assert.match(translated.body, new RegExp(`<html lang="${locale}" dir="ltr">`));
    }
  });

  test("a new workspace that declares its preference centers, or none, has only those", async () => {
    for (const preference_centers of [[], [{ id: ID, name: "main" }]]) {
      const workspace = await server.workspace({ preference_centers });
      const { body } = await workspace.call<any>("GET", `${PATH}/list`);
      assert.equal(body.preference_centers.length, preference_centers.length);
    }
  });

  test("applying a manifest reports the default preference center of a new workspace once", async () => {
    const name = `new-${process.pid}`;
    assert.deepEqual(changesOf(await apply(name)), [["created", "default"]]);
    assert.deepEqual(changesOf(await apply(name)), []);
  });
});

describe("the admin API of preference centers", () => {
  test("the admin API creates, lists, reads, updates and removes a preference center", async () => {
    const workspace = await emptyWorkspace(server);
    const { id, ...content } = DECLARED;
    const made = await server.admin("PUT", adminPath(workspace, `/${id}`), content);
    assert.equal(made.status, 200);
    const { created_at, updated_at, ...rest } = made.body;
    assert.deepEqual(rest, {
      ...DECLARED,
      declared: false,
      redirect_url: null,
      options: { "meta-viewport-content": "width=device-width, initial-scale=1" },
      locale: "en",
      translations: {},
      message: "success",
    });
    const list = await server.admin("GET", adminPath(workspace));
    assert.deepEqual(list.body.preference_centers, [
      {
        id,
        name: "main",
        title: "Preferences",
        state: "active",
        declared: false,
        created_at,
        updated_at,
      },
    ]);
    const changed = await server.admin("PUT", adminPath(workspace, `/${id}`), {
      ...content,
      title: "Changed",
    });
    assert.equal(changed.body.title, "Changed");
    assert.equal(changed.body.created_at, created_at);
    const read = await server.admin("GET", adminPath(workspace, `/${id}`));
    assert.deepEqual(read.body, changed.body);
    assert.equal((await server.admin("DELETE", adminPath(workspace, `/${id}`))).status, 200);
    for (const method of ["GET", "DELETE"]) {
      assert.equal((await server.admin(method, adminPath(workspace, `/${id}`))).status, 404);
    }
  });

  test("the admin API refuses an invalid preference center and an unknown workspace", async () => {
    const workspace = await emptyWorkspace(server);
    for (const [body, message] of [
      [{}, /'name' is required/],
      [{ name: "x", page_html: "<div>" }, /'page_html' is rejected: line 1/],
      [{ name: "x", redirect_url: "ftp://x" }, /'redirect_url'/],
      [{ name: "x", html: "" }, /'html'/],
    ] as const) {
      const answer = await server.admin("PUT", adminPath(workspace, `/${ID}`), body);
      assert.equal(answer.status, 400);
      assert.match(answer.body.message, message);
    }
    const nowhere = "/admin/v1/workspaces/nowhere/preference-centers";
    for (const [method, path] of [
      ["GET", nowhere],
      ["GET", `${nowhere}/${ID}`],
      ["GET", `${nowhere}/${ID}/preview`],
      ["DELETE", `${nowhere}/${ID}`],
    ] as const) {
      assert.equal((await server.admin(method, path)).status, 404);
    }
    const put = await server.admin("PUT", `${nowhere}/${ID}`, { name: "x" });
    assert.equal(put.status, 404);
  });

  test("every change of a preference center is audited with actor and call, and without the pages", async () => {
    const workspace = await emptyWorkspace(server);
    const id = await createCenter(workspace);
    await server.admin("PUT", adminPath(workspace, `/${id}`), { name: "main", title: "T" });
    await server.admin("DELETE", adminPath(workspace, `/${id}`));
    const { body } = await server.admin(
      "GET",
      `/admin/v1/audit?workspace=${workspace.name}&kind=preference_center`,
    );
    const { entries } = body;
    assert.deepEqual(
      entries.map((each: any) => [each.action, each.name, each.actor, each.call]),
      [
        [
          "removed",
          "main",
          "administrator",
          "DELETE /admin/v1/workspaces/:name/preference-centers/:id",
        ],
        [
          "updated",
          "main",
          "administrator",
          "PUT /admin/v1/workspaces/:name/preference-centers/:id",
        ],
        ["created", "main", "key", "POST /preference_center/v1"],
      ],
    );
    assert.ok(!JSON.stringify(entries).includes("<"));
  });
});

describe("the preview of a page", () => {
  const preview = (workspace: TestWorkspace, query = "") =>
    server.admin("GET", adminPath(workspace, `/${ID}/preview${query}`));

  test("a preview shows a draft with a sample user, and its form has no effect", async () => {
    const workspace = await server.workspace({
      preference_centers: [{ ...DECLARED, state: "draft" }],
    });
    const { status, headers, body } = await preview(workspace);
    assert.equal(status, 200);
    assert.match(headers.get("content-type") ?? "", /^text\/html/);
    assert.match(headers.get("content-security-policy") ?? "", /form-action 'none'/);
    assert.equal(textIn(body, "email"), "sam.sample@example.com");
    assert.ok(body.includes('action="#"'));
    const confirmation = await preview(workspace, "?page=confirmation");
    assert.match(textIn(confirmation.body, "done") ?? "", /^Saved for Sam/);
  });

  test("a preview shows the page of a given user in a given language", async () => {
    const workspace = await server.workspace({
      preference_centers: [
        {
          ...DECLARED,
          page_html: `<p id="t">{% translation t %}Hello{% endtranslation %} {{\${first_name}}}</p>`,
          translations: { es: { t: "Hola" }, de: { t: "Hallo" } },
        },
      ],
    });
    await workspace.track({
      attributes: [{ external_id: "ada", first_name: "Ada", language: "de" }],
    });
    const seen = async (query: string) => textIn((await preview(workspace, query)).body, "t");
    assert.equal(await seen(""), "Hello Sam");
    assert.equal(await seen("?external_id=ada"), "Hallo Ada");
    assert.equal(await seen("?external_id=ada&locale=es"), "Hola Ada");
    assert.equal(await seen("?external_id=ada&locale=en"), "Hello Ada");
    assert.equal((await preview(workspace, "?external_id=nobody")).status, 404);
    assert.equal((await preview(workspace, "?page=other")).status, 400);
  });

  test("unsaved content is checked and shown without being saved, with the place of its fault", async () => {
    const workspace = await server.workspace({ preference_centers: [DECLARED] });
    const show = (center: object, more: object = {}) =>
      server.admin("POST", adminPath(workspace, `/${ID}/preview`), { center, ...more });
    const page_html = `<p id="t">{% translation t %}Hello{% endtranslation %} {{\${first_name}}}</p>`;
    const center = { name: "main", page_html, translations: { es: { t: "Hola" } } };
    const shown = await show(center, { locale: "es" });
    assert.equal(shown.status, 200);
    assert.equal(textIn(shown.body.html, "t"), "Hola Sam");
    const scripted = await show({ ...center, page_html: "<p>x</p>\n<script>1</script>" });
    assert.deepEqual(
      scripted.body.warnings.map((each: any) => [each.field, each.line]),
      [["page_html", 2]],
    );
    for (const [fault, field, line] of [
      [{ page_html: "<p>\n{{ broken" }, "page_html", 2],
      [{ confirmation_html: "<p>ok</p>\n\n<div>" }, "confirmation_html", 3],
      [{ redirect_url: "ftp://x" }, "redirect_url", undefined],
    ] as const) {
      const { status, body } = await show({ ...center, ...fault });
      assert.deepEqual([status, body.field, body.line], [400, field, line]);
    }
    const { body } = await server.admin("GET", adminPath(workspace, `/${ID}`));
    assert.equal(body.page_html, DECLARED.page_html);
    const nowhere = adminPath(workspace, "/nowhere/preview");
    assert.equal((await server.admin("POST", nowhere, { center })).status, 404);
  });
});
