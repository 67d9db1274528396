import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startServer } from "../harness.ts";
import {
  FRENCH,
  french,
  HOLA,
  inCampaign,
  inCanvas,
  ONBOARDING,
  SOURCE,
  SPANISH,
  spanish,
  translatedWorkspace,
  withQuery,
} from "../translated-workspace.ts";

const server = await startServer();
const workspace = await server.workspace(translatedWorkspace());

const CAMPAIGN_PATHS = ["/campaign/translations", "/campaigns/translations"];
const CANVAS_PATHS = ["/canvases/translations", "/canvas/translations"];
const withSlash = (paths: readonly string[], rest = "") =>
  paths.flatMap((path) => [`${path}${rest}`, `${path}${rest}/`]);

const view = ({ id, ...locale }: typeof spanish) => ({ uuid: id, ...locale });

const SALUT = { id_0: "Salut", id_1: "Achetez" };

describe("reading translations", () => {
  test("a campaign message is read in one locale, with the locale and the translation map", async () => {
    const path = withQuery("/campaign/translations/", inCampaign({ locale_id: SPANISH }));
    const answer = await workspace.call("GET", path);
    assert.equal(answer.status, 200);
    assert.deepEqual(answer.body, {
      translations: [{ translation_map: HOLA, locale: view(spanish) }],
    });
  });

  test("a canvas message is read in the same form as a campaign message", async () => {
    const path = withQuery("/canvases/translations", inCanvas({ locale_id: SPANISH }));
    const answer = await workspace.call("GET", path);
    assert.equal(answer.status, 200);
    assert.deepEqual(answer.body, {
      translations: [{ translation_map: HOLA, locale: view(spanish) }],
    });
  });

  test("without a locale, all translations are listed in the order of their locale keys", async () => {
    const own = await server.workspace({
      ...translatedWorkspace(),
      locales: [
        { ...french, locale_key: "FR" },
        { ...spanish, locale_key: "es-MX" },
      ],
    });
    for (const [path, ids] of [
      ["/campaign/translations/", inCampaign()],
      ["/canvases/translations", inCanvas()],
    ] as const) {
      const body = { ...ids, locale_id: FRENCH, translation_map: SALUT };
      assert.equal((await own.call("PUT", path, body)).status, 200);
      const answer = await own.call<any>("GET", withQuery(path, ids));
      assert.deepEqual(
        answer.body.translations.map((each: any) => [each.locale.locale_key, each.translation_map]),
        [
          ["es-MX", HOLA],
          ["FR", SALUT],
        ],
      );
    }
  });

  test("translation paths work in the singular and the plural, with and without a trailing slash", async () => {
    const ids = { locale_id: SPANISH };
    for (const path of withSlash(CAMPAIGN_PATHS)) {
      const answer = await workspace.call<any>("GET", withQuery(path, inCampaign(ids)));
      assert.deepEqual(answer.body.translations?.[0]?.translation_map, HOLA, path);
    }
    for (const path of withSlash(CANVAS_PATHS)) {
      const answer = await workspace.call<any>("GET", withQuery(path, inCanvas(ids)));
      assert.deepEqual(answer.body.translations?.[0]?.translation_map, HOLA, path);
    }
  });

  test("canvas_id is read as workflow_id, and ids are accepted in either case", async () => {
    const ids = inCanvas({ workflow_id: undefined, canvas_id: ONBOARDING.toUpperCase() });
    const answer = await workspace.call<any>("GET", withQuery("/canvas/translations", ids));
    assert.deepEqual(answer.body.translations[0].translation_map, HOLA);
  });

  test("the source of a message is readable at every spelling of the path", async () => {
    for (const path of withSlash(CAMPAIGN_PATHS, "/source")) {
      const answer = await workspace.call("GET", withQuery(path, inCampaign()));
      assert.equal(answer.status, 200, path);
      assert.deepEqual(answer.body, {
        translations: { translation_map: SOURCE },
        message: "success",
      });
    }
    for (const path of withSlash(CANVAS_PATHS, "/source")) {
      const answer = await workspace.call("GET", withQuery(path, inCanvas()));
      assert.deepEqual(answer.body.translations, { translation_map: SOURCE }, path);
    }
  });
});

describe("writing translations", () => {
  test("a PUT at any spelling of the path replaces the translation map before the next request", async () => {
    for (const path of [...withSlash(CAMPAIGN_PATHS), ...withSlash(CANVAS_PATHS)]) {
      const ids = path.startsWith("/campaign") ? inCampaign() : inCanvas();
      const map = { ...SALUT, id_0: `Salut ${path}` };
      const body = { ...ids, locale_id: FRENCH, translation_map: map };
      const put = await workspace.call("PUT", path, body);
      assert.equal(put.status, 200, path);
      assert.deepEqual(put.body, { message: "success" });
      const read = await workspace.call<any>("GET", withQuery(path, { ...ids, locale_id: FRENCH }));
      assert.deepEqual(read.body.translations, [{ translation_map: map, locale: view(french) }]);
    }
  });

  test("a translation map that lacks ids of the message is refused with their names and changes nothing", async () => {
    const own = await server.workspace(translatedWorkspace());
    const body = { ...inCampaign(), locale_id: SPANISH, translation_map: { id_7: "?" } };
    const answer = await own.call("PUT", "/campaigns/translations", body);
    assert.equal(answer.status, 400);
    assert.deepEqual(answer.body, {
      errors: [
        {
          message: "The provided translations are missing 'id_0', 'id_1'",
          code: "MISSING_TRANSLATIONS",
        },
      ],
    });
    const path = withQuery("/campaigns/translations", inCampaign());
    const read = await own.call<any>("GET", path);
    assert.deepEqual(read.body.translations[0].translation_map, HOLA);
  });

  test("a translation map may contain ids that the message does not have yet", async () => {
    const own = await server.workspace(translatedWorkspace());
    const map = { ...HOLA, id_2: "Adiós", __: "x", "a.b-c": "y" };
    const body = { ...inCampaign(), locale_id: SPANISH, translation_map: map };
    assert.equal((await own.call("PUT", "/campaigns/translations", body)).status, 200);
    const read = await own.call<any>("GET", withQuery("/campaigns/translations", inCampaign()));
    assert.deepEqual(read.body.translations[0].translation_map, map);
  });

  test("every translation is read back exactly as sent, with markup, line ends, emoji and unusual keys", async () => {
    const own = await server.workspace(translatedWorkspace());
    const map = {
      id_0: `<b>“¡Hola!”</b>\r\n\t&amp; 👋🏽 \u0001 \u2028 {{\${first_name} | default: 'tú'}}`,
      id_1: "",
      constructor: "c",
      toString: "t",
    };
    const body = { ...inCampaign(), locale_id: FRENCH, translation_map: map };
    assert.equal((await own.call("PUT", "/campaigns/translations", body)).status, 200);
    const ids = inCampaign({ locale_id: FRENCH });
    const read = await own.call<any>("GET", withQuery("/campaigns/translations", ids));
    assert.deepEqual(read.body.translations[0].translation_map, map);
  });

  test("concurrent PUTs of translations into different locales are all stored", async () => {
    const locales = Array.from({ length: 12 }, (_, index) => ({
      ...spanish,
      id: `11111111-0000-4000-8000-0000000001${String(index).padStart(2, "0")}`,
      locale_key: `l-${index}`,
    }));
    const own = await server.workspace({
      ...translatedWorkspace(),
      locales: [spanish, ...locales],
    });
    const answers = await Promise.all(
      locales.map(({ id }) =>
        own.call("PUT", "/campaigns/translations", {
          ...inCampaign(),
          locale_id: id,
          translation_map: { ...HOLA, id_0: id },
        }),
      ),
    );
    assert.deepEqual(new Set(answers.map((answer) => answer.status)), new Set([200]));
    const read = await own.call<any>("GET", withQuery("/campaigns/translations", inCampaign()));
    const found = read.body.translations.filter((each: any) => each.locale.uuid !== SPANISH);
    assert.deepEqual(
      new Set(found.map((each: any) => each.translation_map.id_0)),
      new Set(locales.map(({ id }) => id)),
    );
  });

  test("a translation PUT repeated with its Idempotency-Key is replayed and changes nothing", async () => {
    const own = await server.workspace(translatedWorkspace());
    const put = (map: object, key: string) =>
      own.call(
        "PUT",
        "/campaign/translations/",
        { ...inCampaign(), locale_id: SPANISH, translation_map: map },
        { headers: { "idempotency-key": key } },
      );
    assert.equal((await put(HOLA, "one")).status, 200);
    assert.equal((await put({ ...HOLA, id_0: "Buenas" }, "two")).status, 200);
    const again = await put(HOLA, "one");
    assert.equal(again.headers.get("idempotency-replayed"), "true");
    const read = await own.call<any>("GET", withQuery("/campaigns/translations", inCampaign()));
    assert.equal(read.body.translations[0].translation_map.id_0, "Buenas");
  });
});

describe("permissions and limits of translations", () => {
  const PERMISSION_OF = [
    ["GET", "/campaign/translations/", "campaigns.translations.get"],
    ["GET", "/campaign/translations/source", "campaigns.translations.get"],
    ["PUT", "/campaign/translations/", "campaigns.translations.update"],
    ["GET", "/canvases/translations", "canvas.translations.get"],
    ["GET", "/canvases/translations/source", "canvas.translations.get"],
    ["PUT", "/canvases/translations", "canvas.translations.update"],
  ] as const;

  test("each translation call requires its own permission and no other", async () => {
    const permissions = [...new Set(PERMISSION_OF.map(([, , permission]) => permission))];
    const own = await server.workspace({
      ...translatedWorkspace(),
      api_keys: permissions.map((name) => ({ name, key: `only-${name}`, permissions: [name] })),
    });
    for (const [method, path, permission] of PERMISSION_OF) {
      const ids = path.startsWith("/campaign") ? inCampaign() : inCanvas();
      const body = { ...ids, locale_id: SPANISH, translation_map: HOLA };
      for (const name of permissions) {
        const answer =
          method === "PUT"
            ? await own.call(method, path, body, { key: `only-${name}` })
            : await own.call(method, withQuery(path, ids), undefined, { key: `only-${name}` });
        assert.equal(answer.status, name === permission ? 200 : 403, `${method} ${path} ${name}`);
      }
    }
  });

  test("the limit for reading translations is 250,000 requests per hour", async () => {
    for (const [path, ids] of [
      ["/campaign/translations/", inCampaign()],
      ["/canvases/translations", inCanvas()],
    ] as const) {
      const own = await server.workspace(translatedWorkspace());
      const answer = await own.call("GET", withQuery(path, ids));
      assert.equal(answer.headers.get("x-ratelimit-limit"), "250000");
      assert.equal(answer.headers.get("x-ratelimit-remaining"), "249999");
      const resetAt = Number(answer.headers.get("x-ratelimit-reset")) * 1_000;
      assert.ok(resetAt > Date.now() + 3_500_000 && resetAt <= Date.now() + 3_601_000);
    }
  });

  test("a campaign of one workspace is unknown in another workspace", async () => {
    const other = await server.workspace({ settings: { multi_language: true } });
    const answer = await other.call("GET", withQuery("/campaign/translations/", inCampaign()));
    assert.equal(answer.status, 400);
    assert.match(JSON.stringify(answer.body), /INVALID_CAMPAIGN_ID/);
  });
});

test("the OpenAPI document has the paths, the error form and the file types of translations", async () => {
  const { body } = await server.send("GET", "/openapi.json");
  const { body: admin } = await server.send("GET", "/openapi-admin.json");
  const described = Object.keys(body.paths).filter((path) => /\/translations\/?$/.test(path));
  assert.ok(described.length >= 2);
  for (const path of described) {
    const { get, put } = body.paths[path];
    for (const operation of [get, put]) {
      const name = operation.responses["400"].$ref.split("/").at(-1);
      const { schema } = body.components.responses[name].content["application/json"];
      const { properties } = schema.$ref
        ? body.components.schemas[schema.$ref.split("/").at(-1)]
        : schema;
      assert.deepEqual(Object.keys(properties), ["errors"], path);
    }
  }
  const files = admin.paths["/admin/v1/workspaces/{name}/messages/{id}/translations.csv"];
  assert.deepEqual(Object.keys(files.get.responses["200"].content), ["text/csv"]);
  assert.deepEqual(Object.keys(files.put.requestBody.content), ["text/csv"]);
});
