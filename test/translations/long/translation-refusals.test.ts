import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startServer } from "../../harness.ts";
import {
  HOLA,
  inCampaign,
  inCanvas,
  SPANISH,
  translatedWorkspace,
  withQuery,
} from "../../translated-workspace.ts";

const server = await startServer();
const workspace = await server.workspace(translatedWorkspace());

const CAMPAIGN = "/campaign/translations/";
const CANVAS = "/canvases/translations";

const sourceOf = (path: string) => `${path.replace(/\/$/, "")}/source`;

describe("the error format of refused translation requests", () => {
  const PATHS = [CAMPAIGN, sourceOf(CAMPAIGN), CANVAS, sourceOf(CANVAS)];

  const isError = (body: any, code: string): void => {
    assert.deepEqual(Object.keys(body), ["errors"]);
    assert.equal(body.errors.length, 1);
    assert.deepEqual(Object.keys(body.errors[0]).sort(), ["code", "message"]);
    assert.equal(body.errors[0].code, code);
    assert.ok(body.errors[0].message.length > 5);
  };

  test("a translation request without a valid key gets 401, and one without the permission gets 403", async () => {
    const own = await server.workspace({
      ...translatedWorkspace(),
      api_keys: [{ name: "track", key: "only-track", permissions: ["users.track"] }],
    });
    for (const path of PATHS) {
      for (const method of path.endsWith("source") ? ["GET"] : ["GET", "PUT"]) {
        const without = await own.call(method, path, undefined, { key: null });
        assert.equal(without.status, 401);
        isError(without.body, "UNAUTHENTICATED");
        const wrong = await own.call(method, path, undefined, { key: "nobody's" });
        assert.equal(wrong.status, 401);
        isError(wrong.body, "UNAUTHENTICATED");
        const foreign = await own.call(method, path, undefined, { key: "only-track" });
        assert.equal(foreign.status, 403);
        isError(foreign.body, "FORBIDDEN");
      }
    }
  });

  test("a translation request over the rate limit gets 429 with Retry-After", async () => {
    for (const [path, ids, permission] of [
      [CAMPAIGN, inCampaign(), "campaigns.translations.get"],
      [CANVAS, inCanvas(), "canvas.translations.get"],
    ] as const) {
      const own = await server.workspace({
        ...translatedWorkspace(),
        settings: {
          multi_language: true,
          rate_limits: { [permission]: { requests: 1, per_seconds: 3600 } },
        },
      });
      assert.equal((await own.call("GET", withQuery(path, ids))).status, 200);
      const answer = await own.call<any>("GET", withQuery(path, ids));
      assert.equal(answer.status, 429);
      assert.ok(Number(answer.headers.get("retry-after")) > 3_000);
      isError(answer.body, "RATE_LIMITED");
      assert.equal(
        answer.body.errors[0].message,
        "You have exceeded the maximum number of requests. Please try again later.",
      );
    }
  });

  test("a translation body that is unreadable, of another type, too large or malformed is refused with a code", async () => {
    const put = (raw: string, headers: Record<string, string> = {}) =>
      workspace.call<any>("PUT", CAMPAIGN, undefined, { raw, headers });
    const body = { ...inCampaign(), locale_id: SPANISH, translation_map: HOLA };
    const cases = [
      [await put("{"), 400, "INVALID_REQUEST", /not valid JSON/],
      [
        await put("a,b", { "content-type": "text/csv" }),
        415,
        "UNSUPPORTED_MEDIA_TYPE",
        /must be application\/json/,
      ],
      [
        await put("x", { "content-type": "image/png" }),
        415,
        "UNSUPPORTED_MEDIA_TYPE",
        /must be application\/json/,
      ],
      [await put(`{"a":"${"x".repeat(4_194_304)}"}`), 413, "BODY_TOO_LARGE", /larger than 4 MB/],
      [await put("[]"), 400, "INVALID_REQUEST", /must be an object/],
      [await put("{}"), 400, "INVALID_REQUEST", /'translation_map' is required/],
      [
        await put(JSON.stringify({ ...body, translation_map: [] })),
        400,
        "INVALID_REQUEST",
        /'translation_map' must be an object/,
      ],
      [
        await put(JSON.stringify({ ...body, translation_map: { id_0: 1 } })),
        400,
        "INVALID_REQUEST",
        /'translation_map.id_0' must be a string/,
      ],
      [
        await put(JSON.stringify({ ...body, campaign_id: 5 })),
        400,
        "INVALID_REQUEST",
        /'campaign_id' must be a string/,
      ],
    ] as const;
    for (const [answer, status, code, message] of cases) {
      assert.equal(answer.status, status, String(message));
      isError(answer.body, code);
      assert.match(answer.body.errors[0].message, message);
    }
  });

  test("translations that cannot be stored or rendered are refused with the string id and the reason", async () => {
    const cases: [map: Record<string, string>, code: string, message: RegExp][] = [
      [{ id_0: "a\0b" }, "INVALID_TEXT", /'?translation_map\.id_0/],
      [{ id_0: "a\ud800b" }, "INVALID_TEXT", /lone surrogate/],
      [JSON.parse('{"__proto__":"x"}'), "INVALID_KEY", /__proto__/],
      [{ "": "x" }, "INVALID_TRANSLATIONS", /without spaces/],
      [{ "a b": "x" }, "INVALID_TRANSLATIONS", /'a b'.*without spaces/],
      [{ "a\u0007": "x" }, "INVALID_TRANSLATIONS", /without spaces/],
      [{ ["i".repeat(256)]: "x" }, "INVALID_TRANSLATIONS", /255 characters/],
      [
        { id_0: "Hi {{ name" },
        "INVALID_TRANSLATIONS",
        /'translation_map.id_0': output .* not closed, line:1/,
      ],
      [{ id_0: "\n{% if a %}x" }, "INVALID_TRANSLATIONS", /not closed, line:2/],
      [{ id_0: "{% include 'a' %}" }, "INVALID_TRANSLATIONS", /"include" not found/],
      [
        { id_0: "{% translation id_1 %}x{% endtranslation %}" },
        "INVALID_TRANSLATIONS",
        /"translation" not found/,
      ],
      [{ id_0: "{{a}}".repeat(10_001) }, "INVALID_TRANSLATIONS", /10001 Liquid tags/],
      // One tag with many in it.
      [
        { id_0: `{% liquid\n${"#\n".repeat(100_000)}%}` },
        "INVALID_TRANSLATIONS",
        /Liquid tags; the limit/,
      ],
      [
        { id_0: `{{ x${" | a".repeat(100_000)} }}` },
        "INVALID_TRANSLATIONS",
        /Liquid tags; the limit/,
      ],
      [{ id_0: `{{a}}${"x".repeat(1_048_576)}` }, "INVALID_TRANSLATIONS", /more than 1048576/],
    ];
    for (const [map, code, message] of cases) {
      const translation_map = { ...HOLA, ...map };
      if (Object.hasOwn(map, "__proto__")) {
        Object.defineProperty(translation_map, "__proto__", { value: "x", enumerable: true });
      }
      const body = { ...inCampaign(), locale_id: SPANISH, translation_map };
      const answer = await workspace.call<any>("PUT", CAMPAIGN, body);
      assert.equal(answer.status, 400, String(message));
      isError(answer.body, code);
      assert.match(answer.body.errors[0].message, message);
      assert.match(answer.body.errors[0].message, /^The provided translations yielded errors/);
    }
    const read = await workspace.call<any>("GET", withQuery(CAMPAIGN, inCampaign()));
    assert.deepEqual(read.body.translations[0].translation_map, HOLA);
  });

  test("all translations of a message together may have at most 20 MB", async () => {
    const large = { ...HOLA, id_2: "x".repeat(3_500_000) };
    const locales = Array.from({ length: 6 }, (_, index) => ({
      id: `11111111-0000-4000-8000-00000000020${index}`,
      name: "Large",
      country: "",
      language: "x",
      locale_key: `x-${index}`,
    }));
    const { campaigns, canvases: _, ...rest } = translatedWorkspace();
    const [welcome] = campaigns;
    const messages = welcome?.messages.map(({ translations: __, ...each }: any) => each);
    const own = await server.workspace({
      ...rest,
      locales,
      campaigns: [{ ...welcome, messages }],
    });
    const put = (locale_id: string | undefined, translation_map: object) =>
      own.call<any>("PUT", CAMPAIGN, { ...inCampaign({ locale_id }), translation_map });
    for (const { id } of locales.slice(0, 5)) assert.equal((await put(id, large)).status, 200);
    const tooMuch = await put(locales[5]?.id, large);
    assert.equal(tooMuch.status, 400);
    isError(tooMuch.body, "TRANSLATIONS_TOO_LARGE");
    assert.match(tooMuch.body.errors[0].message, /exceeded the maximum of 20MB/);
    assert.equal((await put(locales[5]?.id, HOLA)).status, 200);
    assert.equal((await put(locales[0]?.id, HOLA)).status, 200);
  });
});
