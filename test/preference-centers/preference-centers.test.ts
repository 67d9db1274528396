/* The API of preference centers: create, list, read, update, the address of a user's page. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startOwnServer, startServer, type TestWorkspace } from "../harness.ts";
import {
  CONFIRMATION,
  center,
  createCenter,
  emptyWorkspace,
  openPage,
  PAGE,
  PATH,
  pageOf,
} from "../preference-center-calls.ts";

const server = await startServer();

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

const update = (changes: Record<string, unknown> = {}) => ({
  preference_center_page_html: PAGE,
  confirmation_page_html: CONFIRMATION,
  ...changes,
});

const put = (workspace: TestWorkspace, id: string, body: unknown) =>
  workspace.call<any>("PUT", `${PATH}/${id}`, body);

const read = async (workspace: TestWorkspace, id: string) =>
  (await workspace.call<any>("GET", `${PATH}/${id}`)).body;

describe("creating a preference center", () => {
  test("creating a preference center responds with 201, its id, its Liquid tag and the time", async () => {
    const workspace = await emptyWorkspace(server);
    const { status, body } = await workspace.call<any>("POST", PATH, center());
    assert.equal(status, 201);
    assert.match(body.preference_center_api_id, UUID);
    assert.equal(body.liquid_tag, `{{preference_center.\${main}}}`);
    assert.match(body.created_at, TIME);
    assert.equal(body.message, "success");
    assert.equal(body.warnings, undefined);
  });

  test("a new preference center has defaults for omitted fields", async () => {
    const workspace = await emptyWorkspace(server);
    const id = await createCenter(workspace, { preference_center_title: undefined });
    const made = await read(workspace, id);
    assert.equal(made.preference_center_title, "Preference Center");
    assert.equal(made.state, "active");
    assert.equal(made.redirect_page_html, null);
    assert.match(made.preference_center_options["meta-viewport-content"], /width=device-width/);
  });

  test("a preference center with an existing name is refused with 409 and the name", async () => {
    const workspace = await emptyWorkspace(server);
    await createCenter(workspace);
    const { status, body } = await workspace.call<any>("POST", PATH, center());
    assert.equal(status, 409);
    assert.match(body.message, /'main'/);
  });

  test("two requests with one Idempotency-Key create one preference center", async () => {
    const workspace = await emptyWorkspace(server);
    const options = { headers: { "idempotency-key": "once" } };
    const first = await workspace.call<any>("POST", PATH, center(), options);
    const second = await workspace.call<any>("POST", PATH, center(), options);
    assert.equal(first.status, 201);
    assert.deepEqual(second.body, first.body);
  });
});

describe("reading preference centers", () => {
  test("the list of preference centers has their names, ids and times, and requires no parameters", async () => {
    const workspace = await emptyWorkspace(server);
    const [b, a] = [
      await createCenter(workspace, { name: "b" }),
      await createCenter(workspace, { name: "a" }),
    ];
    const { status, body } = await workspace.call<any>("GET", `${PATH}/list`);
    assert.equal(status, 200);
    assert.equal(body.message, "success");
    assert.deepEqual(
      body.preference_centers.map((each: any) => [each.name, each.preference_center_api_id]),
      [
        ["a", a],
        ["b", b],
      ],
    );
    for (const each of body.preference_centers) {
      assert.deepEqual(Object.keys(each).sort(), [
        "created_at",
        "name",
        "preference_center_api_id",
        "updated_at",
      ]);
      assert.match(each.created_at, TIME);
      assert.match(each.updated_at, TIME);
    }
  });

  test("a preference center is read by its id with all of its fields", async () => {
    const workspace = await emptyWorkspace(server);
    const id = await createCenter(workspace, {
      options: { "meta-viewport-content": "width=400" },
      redirect_page_html: "https://shop.example/thanks",
      state: "draft",
    });
    const { status, body } = await workspace.call<any>("GET", `${PATH}/${id}`);
    assert.equal(status, 200);
    const { created_at, updated_at, ...rest } = body;
    assert.match(created_at, TIME);
    assert.equal(updated_at, created_at);
    assert.deepEqual(rest, {
      name: "main",
      preference_center_api_id: id,
      preference_center_title: "What you receive",
      preference_center_page_html: PAGE,
      confirmation_page_html: CONFIRMATION,
      redirect_page_html: "https://shop.example/thanks",
      preference_center_options: { "meta-viewport-content": "width=400" },
      state: "draft",
      locale: "en",
      translations: {},
      message: "success",
    });
  });

  test("an unknown preference center, or one of another workspace, gets 404", async () => {
    const workspace = await emptyWorkspace(server);
    const other = await createCenter(await emptyWorkspace(server));
    for (const id of [other, "00000000-0000-4000-8000-000000000000", "no-uuid", "%00"]) {
      for (const method of ["GET", "PUT", "POST"]) {
        const body = method === "GET" ? undefined : update();
        const answer = await workspace.call<any>(method, `${PATH}/${id}`, body);
        assert.equal(answer.status, id === "%00" ? 400 : 404, `${method} ${id}`);
        assert.equal(typeof answer.body.message, "string");
      }
    }
  });
});

describe("updating a preference center", () => {
  test("PUT changes the given fields of a preference center, keeps the others and returns id and times", async () => {
    const workspace = await emptyWorkspace(server);
    const id = await createCenter(workspace, { state: "draft" });
    const before = await read(workspace, id);
    // So that the time of the update is another one.
    await new Promise((resolve) => setTimeout(resolve, 5));
    const { status, body } = await put(
      workspace,
      id,
      update({
        preference_center_title: "Choose",
        preference_center_page_html: "<p>New</p>",
        confirmation_page_html: "<p>Thanks</p>",
        options: { "meta-viewport-content": "width=500" },
      }),
    );
    assert.equal(status, 200);
    const { updated_at, ...rest } = body;
    assert.deepEqual(rest, {
      preference_center_api_id: id,
      created_at: before.created_at,
      message: "success",
    });
    assert.match(updated_at, TIME);
    assert.ok(updated_at > before.updated_at);
    assert.deepEqual(await read(workspace, id), {
      ...before,
      preference_center_title: "Choose",
      preference_center_page_html: "<p>New</p>",
      confirmation_page_html: "<p>Thanks</p>",
      preference_center_options: { "meta-viewport-content": "width=500" },
      updated_at,
    });
  });

  test("PUT accepts a modified GET response of a preference center, with options under either name", async () => {
    const workspace = await emptyWorkspace(server);
    const id = await createCenter(workspace);
    const before = await read(workspace, id);
    const preference_center_options = { "meta-viewport-content": "width=600" };
    const answer = await put(workspace, id, { ...before, preference_center_options });
    assert.equal(answer.status, 200);
    const after = { ...before, preference_center_options, updated_at: answer.body.updated_at };
    assert.deepEqual(await read(workspace, id), after);
    const options = { "meta-viewport-content": "width=700" };
    await put(workspace, id, { ...before, preference_center_options, options });
    assert.deepEqual((await read(workspace, id)).preference_center_options, options);
  });

  test("POST on the path of a preference center does the same as PUT", async () => {
    const workspace = await emptyWorkspace(server);
    const id = await createCenter(workspace);
    const body = update({ preference_center_title: "By POST", state: "active" });
    const answer = await workspace.call<any>("POST", `${PATH}/${id}`, body);
    assert.equal(answer.status, 200);
    assert.equal(answer.body.preference_center_api_id, id);
    assert.equal((await read(workspace, id)).preference_center_title, "By POST");
  });

  test("the state takes a preference center out of service and back, for the next request", async () => {
    const workspace = await emptyWorkspace(server);
    await workspace.track({ attributes: [{ external_id: "ada" }] });
    const id = await createCenter(workspace);
    const path = await pageOf(workspace, id);
    assert.equal((await openPage(server, path)).status, 200);
    await put(workspace, id, update({ state: "draft" }));
    assert.equal((await openPage(server, path)).status, 404);
    await put(workspace, id, update({ state: "active" }));
    assert.equal((await openPage(server, path)).status, 200);
  });

  test("PUT renames a preference center, but not to an existing name", async () => {
    const workspace = await emptyWorkspace(server);
    const id = await createCenter(workspace);
    await createCenter(workspace, { name: "taken" });
    assert.equal((await put(workspace, id, update({ name: "renamed" }))).status, 200);
    assert.equal((await read(workspace, id)).name, "renamed");
    assert.equal((await put(workspace, id, update({ name: "taken" }))).status, 409);
    assert.equal((await read(workspace, id)).name, "renamed");
  });

  test("concurrent updates of different fields of a preference center are all kept", async () => {
    const workspace = await emptyWorkspace(server);
    const id = await createCenter(workspace);
    await Promise.all([
      put(workspace, id, update({ preference_center_title: "Title" })),
      put(workspace, id, update({ name: "other" })),
      put(workspace, id, update({ options: { "meta-viewport-content": "width=1" } })),
    ]);
    const made = await read(workspace, id);
    assert.deepEqual(
      [made.preference_center_title, made.name, made.preference_center_options],
      ["Title", "other", { "meta-viewport-content": "width=1" }],
    );
  });
});

describe("an invalid preference center", () => {
  const cases: [field: RegExp, changes: Record<string, unknown>][] = [
    [/'name'/, { name: 5 }],
    [/'name'/, { name: "two words" }],
    [/'name'/, { name: "" }],
    [/'preference_center_title'/, { preference_center_title: {} }],
    [/'preference_center_page_html'/, { preference_center_page_html: 1 }],
    [/'preference_center_page_html'/, { preference_center_page_html: " \n " }],
    [/'confirmation_page_html'/, { confirmation_page_html: "" }],
    [/'options'/, { options: "width=1" }],
    [/'options.meta-viewport-content'/, { options: { "meta-viewport-content": 1 } }],
    [
      /'options.meta-viewport-content'/,
      {
        options: { "meta-viewport-content": '<meta name="viewport" content="width=1">' },
      },
    ],
    [/'options'.*'meta-viewport'/, { options: { "meta-viewport": "width=1" } }],
    [
      /'options.links-tags\[0\].rel'/,
      { options: { "links-tags": [{ rel: "stylesheet", href: "x" }] } },
    ],
    [/'state'/, { state: "live" }],
    [/'redirect_page_html'/, { redirect_page_html: "javascript:alert(1)" }],
    [/'redirect_page_html'/, { redirect_page_html: "<p>Thanks</p>" }],
    // Its host goes into a header.
    [/'redirect_page_html'/, { redirect_page_html: "https://shop.example;img-src/" }],
    [/'redirect_page_html'/, { redirect_page_html: "https://shop.example,x/" }],
    [/'locale'/, { locale: "no tag" }],
    [/'translations.es'/, { translations: { es: "Hola" } }],
    [/'translations' has 'not a tag'/, { translations: { "not a tag": {} } }],
    [/'translations' has 'es_MX'/, { translations: { "es-MX": {}, es_MX: {} } }],
    [/'translations' has 'es_MX'/, { translations: { es_MX: {}, "es-MX": {} } }],
    [
      /'translations.es.preference_center_title'/,
      { translations: { es: { preference_center_title: "Preferencias {{" } } },
    ],
    [/NUL/, { preference_center_title: "a\0b" }],
    [/surrogate/, { preference_center_page_html: "<p>\ud800</p>" }],
  ];

  test("an invalid preference center is refused with the field by create and update, and changes nothing", async () => {
    const workspace = await emptyWorkspace(server);
    const id = await createCenter(workspace, { name: "kept" });
    const before = await read(workspace, id);
    for (const [field, changes] of cases) {
      const body = center({ name: "new", ...changes });
      for (const [method, path] of [
        ["POST", PATH],
        ["PUT", `${PATH}/${id}`],
        ["POST", `${PATH}/${id}`],
      ] as const) {
        const answer = await workspace.call<any>(method, path, body);
        assert.equal(answer.status, 400, `${method} ${path} ${JSON.stringify(changes)}`);
        assert.match(answer.body.message, field);
      }
    }
    assert.deepEqual(await read(workspace, id), before);
    const list = await workspace.call<any>("GET", `${PATH}/list`);
    assert.equal(list.body.preference_centers.length, 1);
  });

  test("creating a preference center requires both pages", async () => {
    const workspace = await emptyWorkspace(server);
    for (const page of ["preference_center_page_html", "confirmation_page_html"]) {
      for (const value of [undefined, null]) {
        const answer = await workspace.call<any>("POST", PATH, center({ [page]: value }));
        assert.equal(answer.status, 400);
        assert.match(answer.body.message, new RegExp(`'${page}'`));
      }
    }
  });

  test("creating a preference center requires a name", async () => {
    const workspace = await emptyWorkspace(server);
    const answer = await workspace.call<any>("POST", PATH, center({ name: undefined }));
    assert.equal(answer.status, 400);
    assert.match(answer.body.message, /'name' is required/);
  });
});

describe("the URL of a user's page", () => {
  test("each user and preference center has a stable page URL, without the external_id", async () => {
    const workspace = await emptyWorkspace(server);
    await workspace.track({ attributes: [{ external_id: "ada" }, { external_id: "eve/é ?" }] });
    const [one, two] = [
      await createCenter(workspace),
      await createCenter(workspace, { name: "two" }),
    ];
    const urls = [
      await pageOf(workspace, one),
      await pageOf(workspace, two),
      await pageOf(workspace, one, "eve/é ?"),
    ];
    assert.equal(new Set(urls).size, 3);
    assert.equal(await pageOf(workspace, one), urls[0]);
    for (const url of urls) {
      assert.ok(!url.includes("ada") && !url.includes("eve"));
      assert.equal((await openPage(server, url)).status, 200);
    }
  });

  test("the page URL of an unknown user or preference center gets 404", async () => {
    const workspace = await emptyWorkspace(server);
    await workspace.track({ attributes: [{ external_id: "ada" }] });
    const id = await createCenter(workspace);
    for (const path of [`${id}/url/nobody`, "other/url/ada"]) {
      assert.equal((await workspace.call("GET", `${PATH}/${path}`)).status, 404);
    }
  });

  test("a page URL begins with PUBLIC_URL, including its path", async () => {
    const behind = await startOwnServer({ publicUrl: "https://people.example/mail" });
    const workspace = await emptyWorkspace(behind);
    await workspace.track({ attributes: [{ external_id: "ada" }] });
    const id = await createCenter(workspace);
    const answer = await workspace.call<any>("GET", `${PATH}/${id}/url/ada`);
    const url = new URL(answer.body.preference_center_url);
    assert.equal(url.origin, "https://people.example");
    assert.match(url.pathname, /^\/mail\/preferences\/[\w-]+$/);
    const page = await openPage(behind, url.pathname.replace("/mail", ""));
    assert.ok(page.body.includes(`action="${url.pathname}"`));
  });
});

describe("rate limits of preference centers", () => {
  const remaining = (answer: { headers: Headers }) =>
    Number(answer.headers.get("x-ratelimit-remaining"));
  const limit = (answer: { headers: Headers }) => Number(answer.headers.get("x-ratelimit-limit"));

  test("creating and updating preference centers share a limit of 10 requests per minute", async () => {
    const workspace = await server.workspace({ preference_centers: [], settings: {} });
    const created = await workspace.call<any>("POST", PATH, center());
    assert.deepEqual([limit(created), remaining(created)], [10, 9]);
    const path = `${PATH}/${created.body.preference_center_api_id}`;
    for (let left = 8; left >= 0; left--) {
      const method = left % 2 === 0 ? "PUT" : "POST";
      const answer = await workspace.call<any>(method, path, update());
      assert.deepEqual([answer.status, remaining(answer)], [200, left]);
    }
    const refused = await workspace.call<any>("PUT", path, update());
    assert.equal(refused.status, 429);
    assert.ok(Number(refused.headers.get("retry-after")) > 0);
    assert.equal((await workspace.call("POST", PATH, center({ name: "b" }))).status, 429);
  });

  test("listing and reading preference centers and page URLs are limited to 1,000 requests per minute each", async () => {
    const workspace = await emptyWorkspace(server);
    await workspace.track({ attributes: [{ external_id: "ada" }] });
    const id = await createCenter(workspace);
    for (const path of ["list", id, `${id}/url/ada`]) {
      const first = await workspace.call("GET", `${PATH}/${path}`);
      const second = await workspace.call("GET", `${PATH}/${path}`);
      assert.deepEqual([limit(first), remaining(first), remaining(second)], [1_000, 999, 998]);
    }
  });
});
