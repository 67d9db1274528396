/* The pure rules behind preference pages: links, languages, and a page without its Liquid. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { linkOf, readLink } from "../../src/features/preference-centers/link.ts";
import { viewWithoutLiquid } from "../../src/features/preference-centers/liquid-view.ts";
import { chooseLocale, localeTag } from "../../src/features/preference-centers/locales.ts";
import { parsePage } from "../../src/features/preference-centers/page-liquid.ts";

const KEY = { version: 1, secret: "secret", goodUntil: null };

const NOW = new Date("2026-11-22T12:00:00Z");
const LATER = new Date("2026-11-24T12:00:00Z");

const target = fc.record({
  workspaceId: fc.integer({ min: 0, max: 2 ** 31 - 1 }),
  profileId: fc.uuid(),
  centerId: fc
    .string({ unit: "grapheme", minLength: 1, maxLength: 255 })
    .filter((id) => !id.includes("\0")),
});

describe("a preference link", () => {
  test("a preference link opens its target and is safe in a URL", () => {
    fc.assert(
      fc.property(target, (where) => {
        const link = linkOf(KEY, where, "ada@example.com", LATER);
        assert.match(link, /^[\w-]+$/);
        const { isFor, ...led } = readLink([KEY], link, NOW) ?? {};
        assert.deepEqual(led, { ...where, address: "ada@example.com" });
        assert.equal(isFor?.("ada@example.com"), true);
        assert.equal(isFor?.("bob@example.com"), false);
      }),
    );
  });

  test("a link that was altered or signed with another secret leads nowhere", () => {
    const change = fc.record({
      at: fc.nat(),
      character: fc.constantFrom(..."ABCxyz019-_=+/ é"),
      kind: fc.constantFrom("replace", "insert", "remove"),
    });
    fc.assert(
      fc.property(target, change, (where, { at, character, kind }) => {
        const link = linkOf(KEY, where, "ada@example.com", LATER);
        const place = at % link.length;
        const kept = kind === "insert" ? place : place + 1;
        const put = kind === "remove" ? "" : character;
        const altered = link.slice(0, place) + put + link.slice(kept);
        fc.pre(altered !== link);
        assert.equal(readLink([KEY], altered, NOW), undefined);
        assert.equal(readLink([{ ...KEY, secret: "another" }], link, NOW), undefined);
      }),
    );
  });

  test("a link stops opening after its last day and when its secret is no longer valid", () => {
    const where = {
      workspaceId: 1,
      profileId: "00000000-0000-0000-0000-000000000001",
      centerId: "c",
    };
    const link = linkOf(KEY, where, null, LATER);
    const opens = (at: string, key: object = {}) =>
      readLink([{ ...KEY, ...key }], link, new Date(at)) !== undefined;
    assert.equal(opens("2026-11-24T23:59:59Z"), true);
    assert.equal(opens("2026-11-25T00:00:00Z"), false);
    const goodUntil = new Date("2026-11-23T00:00:00Z");
    assert.equal(opens("2026-11-22T23:59:59Z", { goodUntil }), true);
    assert.equal(opens("2026-11-23T00:00:00Z", { goodUntil }), false);
    assert.equal(opens("2026-11-22T12:00:00Z", { version: 2 }), false);
  });

  test("arbitrary text is no valid link and causes no error", () => {
    fc.assert(fc.property(fc.string(), (text) => readLink([KEY], text, NOW) === undefined));
  });
});

describe("the language of a preference page", () => {
  const offered = {
    locale: "en",
    translations: { es: {}, "es-MX": {}, "pt-BR": {}, "zh-Hant": {} },
  };
  const cases: [
    own: string | undefined,
    country: string | undefined,
    browser: string,
    shown: string,
  ][] = [
    [undefined, undefined, "", "en"],
    ["es", undefined, "pt", "es"],
    ["es", "MX", "pt", "es-MX"],
    ["es", "AR", "pt", "es"],
    ["pt", "PT", "", "pt-BR"],
    ["en", "US", "es", "en"],
    ["xx", undefined, "es-MX", "es-MX"],
    ["xx", undefined, "yy", "en"],
    [undefined, undefined, "ZH-hant-TW, es;q=0.5", "zh-Hant"],
    [undefined, undefined, "es;q=0.2, pt;q=0.8", "pt-BR"],
    [undefined, undefined, "es;q=0, en", "en"],
    [undefined, undefined, "*", "en"],
    [undefined, undefined, "es;q=9", "en"],
  ];
  for (const [language, country, acceptLanguage, shown] of cases) {
    test(`${language ?? "none"}-${country ?? ""} with Accept-Language "${acceptLanguage}" selects ${shown}`, () => {
      assert.equal(chooseLocale(offered, { language, country, acceptLanguage }), shown);
    });
  }

  test("the selected language is always one that the page offers", () => {
    fc.assert(
      fc.property(fc.string(), fc.option(fc.string(), { nil: undefined }), (header, language) => {
        const shown = chooseLocale(offered, { language, country: "MX", acceptLanguage: header });
        assert.ok(["en", ...Object.keys(offered.translations)].includes(shown));
      }),
    );
  });

  test("a language tag is normalized to one spelling", () => {
    assert.deepEqual(["ES_mx", "en", "zh-hant-tw", "iw", "no tag", "", "e"].map(localeTag), [
      "es-MX",
      "en",
      "zh-Hant-TW",
      "he",
      undefined,
      undefined,
      undefined,
    ]);
  });
});

describe("a page without its Liquid", () => {
  const piece = fc.oneof(
    fc.constantFrom(
      "{{ a }}",
      "{% if a %}",
      "{% else %}",
      "{% elsif b %}",
      "{% endif %}",
      "{%- for a in b -%}",
      "{% endfor %}",
      "{% case a %}",
      "{% when 1 %}",
      "{% endcase %}",
      "{% raw %}",
      "{% endraw %}",
      "{% comment %}",
      "{% endcomment %}",
      "<p>",
      "\n",
    ),
    fc.string({ maxLength: 4 }),
  );
  const page = fc.array(piece, { maxLength: 20 }).map((pieces) => pieces.join(""));

  test("removing Liquid keeps every other character in its position", () => {
    fc.assert(
      fc.property(page, (html) => {
        const view = viewWithoutLiquid(html);
        assert.equal(view.length, html.length);
        for (let index = 0; index < html.length; index++) {
          const now = view[index] as string;
          assert.ok(now === html[index] || (html[index] !== "\n" && [" ", "x"].includes(now)));
        }
      }),
    );
  });

  test("removing Liquid leaves no tag and no output outside of raw", () => {
    fc.assert(
      fc.property(page, (html) => {
        fc.pre(!html.includes("raw") && "template" in parsePage(html));
        assert.doesNotMatch(viewWithoutLiquid(html), /\{%|\{\{/);
      }),
    );
  });

  const shown: [page: string, view: string][] = [
    ["<b>{{ a }}</b>", "<b>xxxxxxx</b>"],
    ["{% if a %}A{% else %}B{% endif %}C", "          A                      C"],
    ["{% case a %}0{% when 1 %}1{% when 2 %}2{% endcase %}", `${" ".repeat(25)}1${" ".repeat(26)}`],
    ["{% raw %}{{ a }}{% endraw %}", `${" ".repeat(9)}{{ a }}${" ".repeat(12)}`],
    ["{% comment %}{{ a }}{% endcomment %}B", `${" ".repeat(36)}B`],
    ["<a href={%- preference_center_submit_url %} id=b>", `<a href=${"x".repeat(35)} id=b>`],
  ];
  for (const [html, view] of shown) {
    test(`removing Liquid from ${html} keeps what is shown first`, () =>
      assert.equal(viewWithoutLiquid(html), view));
  }
});
