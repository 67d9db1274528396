import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { readSource } from "../../../src/features/campaigns/texts.ts";
import {
  countLiquid,
  findLiquidFault,
  isTranslationId,
  readTranslationTags,
  renderContent,
  type TranslationTag,
} from "../../../src/features/liquid/liquid.ts";
import { anyText } from "../../any-text.ts";

const tag = (id: string, text: string) => `{% translation ${id} %}${text}{% endtranslation %}`;

function tagsOf(content: string): readonly TranslationTag[] {
  const read = readTranslationTags(content);
  assert.ok("value" in read, JSON.stringify(read));
  return read.value;
}

function rendered(content: string, map: Record<string, string> = {}): string {
  const result = renderContent(content, ({ id, text }) => map[id] ?? text);
  assert.ok("value" in result, JSON.stringify(result));
  return result.value;
}

const faultOf = (content: string): string => {
  const result = renderContent(content, ({ text }) => text);
  return "fault" in result ? result.fault.message : "";
};

describe("reading translation tags", () => {
  test("translation tags are read in order, with their ids and texts as written", () => {
    const cases: [content: string, tags: [string, string][]][] = [
      ["", []],
      ["Hello", []],
      [`<h1>${tag("id_0", "Hello")}</h1>`, [["id_0", "Hello"]]],
      [
        tag("a", "1") + tag("b", ""),
        [
          ["a", "1"],
          ["b", ""],
        ],
      ],
      [`{% if x %}${tag("id_0", " A\r\n <b>B</b> ")}{% endif %}`, [["id_0", " A\r\n <b>B</b> "]]],
      [
        tag("id_0", "Hi {{ name | upcase }}{% if a %}!{% endif %}"),
        [["id_0", "Hi {{ name | upcase }}{% if a %}!{% endif %}"]],
      ],
      [`{%- translation id_0 -%} \n Hi \n {%- endtranslation -%}`, [["id_0", "Hi"]]],
      [`{%translation id_0%}Hi{%endtranslation%}`, [["id_0", "Hi"]]],
      [
        tag("id_0", `Hi {{\${first_name} | default: "you"}}`),
        [["id_0", `Hi {{\${first_name} | default: "you"}}`]],
      ],
      [
        `{{\${a}}}${tag("id_0", `{{custom_attribute.\${the plan}}}`)}`,
        [["id_0", `{{custom_attribute.\${the plan}}}`]],
      ],
      [`{% raw %}${tag("x", "y")}{% endraw %}{% comment %}${tag("x", "y")}{% endcomment %}`, []],
      [`👋🏽\${x}${tag("id_0", "é👋🏽")}`, [["id_0", "é👋🏽"]]],
    ];
    for (const [content, tags] of cases) {
      assert.deepEqual(
        tagsOf(content).map(({ id, text }) => [id, text]),
        tags,
        content,
      );
    }
  });

  test("any text inside a translation tag is read unchanged", () => {
    fc.assert(
      fc.property(anyText(), (text) => {
        fc.pre(!/\{[{%]|\{$/.test(text));
        assert.deepEqual(tagsOf(`x${tag("id_0", text)}y`), [{ id: "id_0", text }]);
      }),
    );
  });

  test("invalid Liquid is refused with the reason", () => {
    const cases: [content: string, reason: RegExp][] = [
      ["{% translation id_0 %}Hello", /not closed, line:1, col:1/],
      ["\n\nHello{% endtranslation %}", /"endtranslation" not found, line:3/],
      [tag("", "x"), /needs an id/],
      [tag("a b", "x"), /needs an id/],
      [tag("a", tag("b", "x")), /cannot be nested/],
      ["{% liquid\n translation a\n echo 1\n endtranslation\n%}", /inside a liquid tag/],
      ["{% connected_content x %}", /"connected_content" not found/],
      ["{% include 'x' %}{% render 'x' %}", /"include" not found/],
      ["{{ a", /not closed/],
      [`{{ \${a }}`, /line:1/],
    ];
    for (const [content, reason] of cases) {
      const read = readTranslationTags(content);
      assert.ok("fault" in read, content);
      assert.match(read.fault.message, reason);
    }
  });

  test("the strings of all parts form one source, and an id with two different texts is refused", () => {
    const read = readSource(
      { subject: tag("id_0", "Hi"), body: tag("id_0", "Hi") + tag("b", "B") },
      "content",
    );
    assert.deepEqual(read, { value: { id_0: "Hi", b: "B" } });
    const twice = readSource({ subject: tag("id_0", "Hi"), body: tag("id_0", "Ho") }, "content");
    assert.match(JSON.stringify(twice), /'content' has two different texts for 'id_0'/);
    const parts = Object.fromEntries(Array.from({ length: 51 }, (_, index) => [index, ""]));
    assert.match(JSON.stringify(readSource(parts, "content")), /more than 50 parts/);
  });
});

describe("rendering content", () => {
  test("a tag renders its translation, or its own text if it has none", () => {
    const content = `<p>${tag("id_0", "Hello")}, ${tag("id_1", "world")}!</p>`;
    assert.equal(rendered(content), "<p>Hello, world!</p>");
    assert.equal(rendered(content, { id_0: "Hola" }), "<p>Hola, world!</p>");
    assert.equal(rendered(content, { id_0: "", id_1: "<b>$&</b>" }), "<p>, <b>$&</b>!</p>");
  });

  test("Liquid in content and in its strings is rendered, and personalization shows its defaults", () => {
    const content = `{% assign n = 2 %}${tag("id_0", `{{ n | plus: 1 }} {{\${first_name} | default: 'you'}}`)}`;
    assert.equal(rendered(content), "3 you");
    assert.equal(rendered(content, { id_0: `{{\${first_name} | default: 'tú'}} {{ n }}` }), "tú 2");
    assert.equal(rendered(`[{{custom_attribute.\${the plan}}}{{\${a}}}]`), "[]");
  });

  test("text that is not Liquid is rendered unchanged, even if it looks like personalization", () => {
    for (const text of [`<script>\${x} \`\${y}\`</script>`, "a } b { c %", "\u2028\u0001👋🏽"]) {
      assert.equal(rendered(text), text);
    }
    assert.equal(rendered(`{% raw %}{{ \${a b} }}{% endraw %}`), `{{ \${a b} }}`);
  });

  test("content cannot loop, grow or nest without limit, or read files", () => {
    const doubling = "{% assign a = a | append: a %}".repeat(60);
    const nested = "{% for i in a %}".repeat(40);
    const ends = "{% endfor %}".repeat(40);
    const cases: [content: string, reason: RegExp][] = [
      ["{% for i in (1..1000000000) %}x{% endfor %}", /memory/],
      [`{% assign a = "ab" %}${doubling}{{ a }}`, /memory/],
      [`{% assign a = "a,b" | split: "," %}${nested}x${ends}`, /render limit/],
      // On a busy machine its time runs out first.
      [
        `{% for i in (1..2000) %}${"x".repeat(1_000)}{% endfor %}`,
        /longer than 1048576|render limit/,
      ],
      ["{% if a %}".repeat(9_000) + "{% endif %}".repeat(9_000), /nested too deeply|^$/],
      ["{% layout '/etc/passwd' %}", /"layout" not found/],
    ];
    for (const [content, reason] of cases)
      assert.match(faultOf(content), reason, content.slice(0, 80));
  });

  test("content has no access to JavaScript objects or the process", () => {
    for (const name of ["constructor", "__proto__", "process", "globalThis", "this", "tag"]) {
      assert.equal(rendered(`[{{ ${name} }}{{ a.${name} }}{{ "".${name} }}]`), "[]", name);
    }
  });
});

describe("checking a string", () => {
  test("valid Liquid is accepted, and invalid Liquid is reported with its place", () => {
    for (const text of [
      "",
      "50 % off {now}",
      "{{ a | b: 'c' }}",
      `{{\${x}}}`,
      "{% if a %}b{% endif %}",
    ]) {
      assert.equal(findLiquidFault(text), undefined, text);
    }
    assert.match(findLiquidFault("a\n{{ b") ?? "", /line:2/);
    assert.match(findLiquidFault("{% if %}") ?? "", /line:1/);
    assert.equal(countLiquid("{{a}}{% b %}{c}{{{"), 3);
  });

  test("the Liquid check never throws, and accepts only strings that can be rendered", () => {
    const liquid = fc.array(
      fc.constantFrom(
        "{{",
        "}}",
        "{%",
        "%}",
        "${",
        "}",
        "if a",
        "endif",
        " a ",
        "'",
        '"',
        "|",
        "\n",
        "raw",
        "endraw",
        "-",
        "é",
      ),
      { maxLength: 30 },
    );
    fc.assert(
      fc.property(liquid, (parts) => {
        const text = parts.join("");
        if (findLiquidFault(text) !== undefined) return;
        const result = renderContent(text, (each) => each.text);
        assert.ok("value" in result, JSON.stringify([text, result]));
      }),
    );
  });

  test("a translation id contains no blanks and no characters that XML forbids", () => {
    for (const id of ["id_0", "a.b-c", "é", "👋🏽", "0"]) assert.ok(isTranslationId(id), id);
    for (const id of [
      "",
      " ",
      "a b",
      "a\t",
      "\u00a0",
      "\u0001",
      "\ud800",
      "\ufffe",
      "x".repeat(256),
    ]) {
      assert.ok(!isTranslationId(id), JSON.stringify(id));
    }
  });
});
