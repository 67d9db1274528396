import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startServer, type TestWorkspace } from "../../harness.ts";
import {
  FIRST_STEP,
  FRENCH,
  french,
  HOLA,
  inCampaign,
  inCanvas,
  NOBODY,
  ONBOARDING,
  SECOND_STEP,
  SOURCE,
  SPANISH,
  STEP_MAIL,
  spanish,
  translatedWorkspace,
  WELCOME,
  WELCOME_MAIL,
  withQuery,
} from "../../translated-workspace.ts";

const server = await startServer();

/** Calls the admin API below a workspace. */
const adminOf =
  ({ name }: TestWorkspace) =>
  (method: string, path: string, body?: unknown) =>
    server.admin(method, `/admin/v1/workspaces/${name}${path}`, body);

const empty = () => server.workspace({ settings: { multi_language: true } });

const { id: _spanishId, ...spanishBody } = spanish;
const { id: _frenchId, ...frenchBody } = french;

const mail = { channel: "email", multi_language: true, source: SOURCE };

/** A message with everything around it, made without a manifest. */
async function made(): Promise<TestWorkspace> {
  const workspace = await empty();
  const admin = adminOf(workspace);
  const steps: [path: string, body: object][] = [
    [`/locales/${SPANISH}`, spanishBody],
    [`/locales/${FRENCH}`, frenchBody],
    [`/campaigns/${WELCOME}`, { name: "Welcome" }],
    [`/canvases/${ONBOARDING}`, { name: "Onboarding", step_ids: [FIRST_STEP, SECOND_STEP] }],
    [`/messages/${WELCOME_MAIL}`, { campaign_id: WELCOME, ...mail }],
    [`/messages/${STEP_MAIL}`, { canvas_id: ONBOARDING, step_id: FIRST_STEP, ...mail }],
    [`/messages/${WELCOME_MAIL}/translations/${SPANISH}`, { translation_map: HOLA }],
  ];
  for (const [path, body] of steps) {
    const answer = await admin("PUT", path, body);
    assert.deepEqual([answer.status, answer.body.message], [200, "success"], path);
  }
  return workspace;
}

describe("the admin API of translations", () => {
  test("every translation resource of a manifest can also be created through the admin API", async () => {
    const workspace = await made();
    const admin = adminOf(workspace);
    const read = await workspace.call<any>(
      "GET",
      withQuery("/campaign/translations/", inCampaign()),
    );
    assert.deepEqual(
      read.body.translations.map((each: any) => each.translation_map),
      [HOLA],
    );
    const source = await workspace.call<any>(
      "GET",
      withQuery("/canvas/translations/source", inCanvas()),
    );
    assert.deepEqual(source.body.translations.translation_map, SOURCE);

    const locales = await admin("GET", "/locales");
    assert.deepEqual(locales.body.locales, [
      { ...spanish, declared: false },
      { ...french, declared: false },
    ]);
    const campaigns = await admin("GET", "/campaigns");
    const brief = { channel: "email", multi_language: true };
    assert.deepEqual(campaigns.body.campaigns, [
      { id: WELCOME, name: "Welcome", declared: false, messages: [{ id: WELCOME_MAIL, ...brief }] },
    ]);
    const canvases = await admin("GET", "/canvases");
    assert.deepEqual(canvases.body.canvases, [
      {
        id: ONBOARDING,
        name: "Onboarding",
        declared: false,
        steps: [
          { id: FIRST_STEP, messages: [{ id: STEP_MAIL, ...brief }] },
          { id: SECOND_STEP, messages: [] },
        ],
      },
    ]);
    const message = await admin("GET", `/messages/${WELCOME_MAIL}`);
    const { updated_at, ...rest } = message.body;
    assert.ok(!Number.isNaN(Date.parse(updated_at)));
    assert.deepEqual(rest, {
      id: WELCOME_MAIL,
      campaign_id: WELCOME,
      ...mail,
      translations: { "es-MX": HOLA },
      declared: false,
      message: "success",
    });
  });

  test("a PUT through the admin API keeps translations and reports the strings that they lack", async () => {
    const workspace = await made();
    const admin = adminOf(workspace);
    await admin("PUT", `/locales/${SPANISH}`, { ...spanishBody, name: "Spanish" });
    await admin("PUT", `/campaigns/${WELCOME}`, { name: "Hello" });
    const source = { ...SOURCE, id_2: "New" };
    await admin("PUT", `/messages/${WELCOME_MAIL}`, { campaign_id: WELCOME, ...mail, source });
    const read = await workspace.call<any>(
      "GET",
      withQuery("/campaign/translations/", inCampaign()),
    );
    assert.equal(read.body.translations[0].locale.name, "Spanish");
    assert.deepEqual(read.body.translations[0].translation_map, HOLA);
    const rendered = await admin("GET", `/messages/${WELCOME_MAIL}/render?locale_id=${SPANISH}`);
    assert.deepEqual(rendered.body.untranslated, ["id_2"]);
    const campaigns = await admin("GET", "/campaigns");
    assert.equal(campaigns.body.campaigns[0].name, "Hello");
  });

  test("a PATCH changes single strings of a translation and keeps strings that others change at the same time", async () => {
    const workspace = await made();
    const admin = adminOf(workspace);
    const path = `/messages/${WELCOME_MAIL}/translations/${FRENCH}`;
    const ids = Array.from({ length: 6 }, (_, index) => `extra_${index}`);
    const patches = ids.map((id) => admin("PATCH", path, { translation_map: { [id]: id } }));
    for (const { status } of await Promise.all(patches)) assert.equal(status, 200);
    const changes = { extra_0: null, extra_1: "Bonjour", unknown: null };
    assert.equal((await admin("PATCH", path, { translation_map: changes })).status, 200);
    const { body } = await admin("GET", `/messages/${WELCOME_MAIL}`);
    assert.deepEqual(body.translations["fr-FR"], {
      ...Object.fromEntries(ids.slice(1).map((id) => [id, id])),
      extra_1: "Bonjour",
    });
  });

  test("a PATCH of strings is refused for a fault of a string, too many strings, and an unknown message or locale", async () => {
    const workspace = await made();
    const admin = adminOf(workspace);
    const of = (message: string, locale: string) => `/messages/${message}/translations/${locale}`;
    const path = of(WELCOME_MAIL, SPANISH);
    const many = Object.fromEntries(Array.from({ length: 9_999 }, (_, index) => [`n${index}`, ""]));
    const refused = [
      [path, { a: "{{ broken" }, 400, /'translation_map.a'/],
      [path, { "a b": "x" }, 400, /'a b'/],
      [
        path,
        { ...many, [Object.keys(HOLA)[0] as string]: "x", more: "x" },
        400,
        /the limit is 10000/,
      ],
      [path, { a: 1 }, 400, /translation_map/],
      [of(FRENCH, SPANISH), { a: "x" }, 404, /message/],
      [of(WELCOME_MAIL, WELCOME), { a: "x" }, 404, /locale/],
    ] as const;
    for (const [where, translation_map, status, message] of refused) {
      const answer = await admin("PATCH", where, { translation_map });
      assert.equal(answer.status, status, JSON.stringify(answer.body).slice(0, 300));
      assert.match(answer.body.message, message);
    }
    const { body } = await admin("GET", `/messages/${WELCOME_MAIL}`);
    assert.deepEqual(body.translations["es-MX"], HOLA);
  });

  test("deleting a translation resource also deletes everything in it", async () => {
    const workspace = await made();
    const admin = adminOf(workspace);
    const success = async (path: string) =>
      assert.deepEqual((await admin("DELETE", path)).body, { message: "success" }, path);
    const gone = async (path: string) =>
      assert.equal((await admin("DELETE", path)).status, 404, path);

    const translation = `/messages/${WELCOME_MAIL}/translations/${SPANISH}`;
    await success(translation);
    await gone(translation);
    await admin("PUT", translation, { translation_map: HOLA });
    await success(`/campaigns/${WELCOME}`);
    await gone(`/campaigns/${WELCOME}`);
    await gone(`/messages/${WELCOME_MAIL}`);
    // Nothing of it is left to come back with the id.
    await admin("PUT", `/campaigns/${WELCOME}`, { name: "Again" });
    await admin("PUT", `/messages/${WELCOME_MAIL}`, { campaign_id: WELCOME, ...mail });
    const again = await admin("GET", `/messages/${WELCOME_MAIL}`);
    assert.deepEqual(again.body.translations, {});
    await success(`/messages/${STEP_MAIL}`);
    await gone(`/messages/${STEP_MAIL}`);
    await success(`/canvases/${ONBOARDING}`);
    await gone(`/canvases/${ONBOARDING}`);
    await success(`/locales/${SPANISH}`);
    await gone(`/locales/${SPANISH}`);
    assert.deepEqual((await admin("GET", "/canvases")).body.canvases, []);
  });

  test("a resource that a manifest declared stays declared when the admin API changes it", async () => {
    const workspace = await server.workspace(translatedWorkspace());
    const admin = adminOf(workspace);
    await admin("PUT", `/locales/${SPANISH}`, { ...spanishBody, name: "Changed" });
    await admin("PUT", `/campaigns/${WELCOME}`, { name: "Changed" });
    const answer = await server.admin("POST", "/admin/v1/apply", {
      company: { name: "Test" },
      workspaces: [{ name: workspace.name, locales: [french], campaigns: [] }],
    });
    assert.deepEqual(
      answer.body.changes
        .filter((each: any) => each.action === "removed")
        .map((each: any) => `${each.kind} ${each.name}`),
      ["locale Changed", "campaign Changed"],
    );
  });

  test("an invalid or inconsistent translation resource is refused with the reason", async () => {
    const workspace = await made();
    const admin = adminOf(workspace);
    const newMail = `/messages/${NOBODY}`;
    const cases: [
      method: string,
      path: string,
      body: object | undefined,
      status: number,
      message: RegExp,
    ][] = [
      ["PUT", `/locales/${NOBODY}`, { ...spanishBody, locale_key: "ES-mx" }, 409, /locale_key/],
      ["PUT", "/locales/es", spanishBody, 400, /'id' must be a UUID/],
      ["PUT", `/locales/${NOBODY}`, { ...spanishBody, name: "" }, 400, /'name'/],
      ["PUT", `/locales/${NOBODY}`, { ...spanishBody, name: "\0" }, 400, /NUL/],
      [
        "PUT",
        `/canvases/${ONBOARDING}`,
        { name: "x", step_ids: [SECOND_STEP] },
        409,
        /step '.*' still has the message/,
      ],
      [
        "PUT",
        `/canvases/${ONBOARDING}`,
        { name: "x", step_ids: [FIRST_STEP, FIRST_STEP] },
        400,
        /twice/,
      ],
      [
        "PUT",
        `/canvases/${ONBOARDING}`,
        { name: "x", step_ids: Array(1_001).fill(FIRST_STEP) },
        400,
        /'step_ids'/,
      ],
      ["PUT", newMail, mail, 400, /Either 'campaign_id'/],
      ["PUT", newMail, { ...mail, campaign_id: WELCOME, canvas_id: ONBOARDING }, 400, /Either/],
      ["PUT", newMail, { ...mail, canvas_id: ONBOARDING }, 400, /Either/],
      ["PUT", newMail, { ...mail, campaign_id: NOBODY }, 404, /no campaign/],
      ["PUT", newMail, { ...mail, canvas_id: NOBODY, step_id: FIRST_STEP }, 404, /no canvas/],
      ["PUT", newMail, { ...mail, canvas_id: ONBOARDING, step_id: NOBODY }, 404, /has no step/],
      [
        "PUT",
        `/messages/${STEP_MAIL}`,
        { ...mail, campaign_id: WELCOME },
        409,
        /belongs to another/,
      ],
      ["PUT", newMail, { ...mail, campaign_id: WELCOME, source: { a: "{{" } }, 400, /'source.a'/],
      [
        "PUT",
        newMail,
        { ...mail, campaign_id: WELCOME, channel: "push" },
        400,
        /'channel' must be one of/,
      ],
      [
        "PUT",
        `/messages/${WELCOME_MAIL}/translations/${NOBODY}`,
        { translation_map: {} },
        404,
        /no locale/,
      ],
      [
        "PUT",
        `/messages/${NOBODY}/translations/${SPANISH}`,
        { translation_map: {} },
        404,
        /no message/,
      ],
      [
        "PUT",
        `/messages/${WELCOME_MAIL}/translations/${SPANISH}`,
        { translation_map: { a: "\0" } },
        400,
        /NUL/,
      ],
      [
        "DELETE",
        `/messages/${WELCOME_MAIL}/translations/${FRENCH}`,
        undefined,
        404,
        /no translation/,
      ],
      ["GET", `/messages/${NOBODY}`, undefined, 404, /no message/],
      ["GET", `/messages/${NOBODY}/render`, undefined, 404, /no message/],
      ["GET", `/messages/${WELCOME_MAIL}/render?locale_id=${NOBODY}`, undefined, 404, /no locale/],
      [
        "GET",
        `/messages/${WELCOME_MAIL}/render?locale_id=es`,
        undefined,
        400,
        /'locale_id' must be a UUID/,
      ],
    ];
    for (const [method, path, body, status, message] of cases) {
      const answer = await admin(method, path, body);
      assert.deepEqual([answer.status, path], [status, path]);
      assert.match(answer.body.message, message);
    }
  });

  test("the translation admin API rejects an unknown workspace with 404 and an API key with 401", async () => {
    const workspace = await empty();
    const paths = ["/locales", "/campaigns", "/canvases", `/messages/${NOBODY}`];
    for (const path of paths) {
      const unknown = await server.admin("GET", `/admin/v1/workspaces/nobody${path}`);
      assert.equal(unknown.status, 404);
      assert.match(unknown.body.message, /no workspace 'nobody'/);
      const full = `/admin/v1/workspaces/${workspace.name}${path}`;
      assert.equal((await workspace.call("GET", full)).status, 401);
    }
  });

  test("a message of one workspace is not found in another workspace", async () => {
    await made();
    const admin = adminOf(await empty());
    assert.equal((await admin("GET", `/messages/${WELCOME_MAIL}`)).status, 404);
    assert.equal((await admin("DELETE", `/messages/${WELCOME_MAIL}`)).status, 404);
    assert.equal((await admin("DELETE", `/campaigns/${WELCOME}`)).status, 404);
  });
});

describe("rendering a message", () => {
  const content = {
    subject: "{% translation subject %}Hello{% endtranslation %}",
    body: `<p>{% translation id_0 %}Hi {{\${first_name} | default: "you"}}{% endtranslation %}, {% translation id_1 %}bye{% endtranslation %}</p>`,
  };

  async function withContent() {
    const workspace = await made();
    const admin = adminOf(workspace);
    const body = { campaign_id: WELCOME, channel: "email", multi_language: true, content };
    assert.equal((await admin("PUT", `/messages/${WELCOME_MAIL}`, body)).status, 200);
    const translation_map = { subject: "Hola", id_0: `¡Hola {{\${first_name} | default: "tú"}}!` };
    await admin("PUT", `/messages/${WELCOME_MAIL}/translations/${SPANISH}`, { translation_map });
    return admin;
  }

  test("a message is rendered in a locale, with the source text for untranslated strings", async () => {
    const admin = await withContent();
    const answer = await admin("GET", `/messages/${WELCOME_MAIL}/render?locale_id=${SPANISH}`);
    assert.deepEqual(answer.body, {
      locale: { uuid: SPANISH, ...spanishBody },
      content: { subject: "Hola", body: "<p>¡Hola tú!, bye</p>" },
      translation_map: {
        subject: "Hola",
        id_0: `¡Hola {{\${first_name} | default: "tú"}}!`,
        id_1: "bye",
      },
      untranslated: ["id_1"],
      message: "success",
    });
  });

  test("a message is rendered from its source without translations or without a locale", async () => {
    const admin = await withContent();
    const source = { subject: "Hello", body: "<p>Hi you, bye</p>" };
    const inFrench = await admin("GET", `/messages/${WELCOME_MAIL}/render?locale_id=${FRENCH}`);
    assert.deepEqual(inFrench.body.content, source);
    assert.deepEqual(inFrench.body.untranslated.sort(), ["id_0", "id_1", "subject"]);
    const asWritten = await admin("GET", `/messages/${WELCOME_MAIL}/render`);
    assert.deepEqual(asWritten.body.content, source);
    assert.deepEqual([asWritten.body.locale, asWritten.body.untranslated], [null, []]);
  });

  test("message content that exceeds the rendering limits is refused with the part and the reason", async () => {
    const admin = await withContent();
    const endless = { body: "{% for i in (1..1000000000) %}x{% endfor %}" };
    const body = { campaign_id: WELCOME, channel: "email", content: endless };
    assert.equal((await admin("PUT", `/messages/${WELCOME_MAIL}`, body)).status, 200);
    const answer = await admin("GET", `/messages/${WELCOME_MAIL}/render`);
    assert.equal(answer.status, 400);
    assert.match(answer.body.message, /'content.body' cannot be rendered: memory/);
  });
});
