/* The platform's Liquid has outputs inside of tags: `{% assign x = {{custom_attribute.${x}}} %}`, in pages and in messages. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { mask, unmask } from "../src/features/liquid/liquid-names.ts";
import { startServer } from "./harness.ts";
import {
  center,
  createCenter,
  emptyWorkspace,
  openPage,
  PATH,
  pageOf,
} from "./preference-center-calls.ts";
import { SPANISH, spanish, WELCOME, WELCOME_MAIL } from "./translated-workspace.ts";

const server = await startServer();

const ADA = {
  first_name: "Ada",
  plan: "pro",
  tags: ["a", "b"],
  seats: 3,
  "the plan": "x",
  empty: "",
};

/** Each with what Ada sees, and what a message without a user shows. */
const CASES: readonly (readonly [liquid: string, page: string, message: string])[] = [
  [`{% assign x = {{custom_attribute.\${plan}}} %}{{ x }}`, "pro", ""],
  [`{%- assign x = {{- custom_attribute.\${plan} -}} -%}{{ x }}`, "pro", ""],
  [`{% assign x = {{\${first_name} | default: 'you' | upcase}} %}{{ x }}`, "ADA", "YOU"],
  [`{% assign x = {{custom_attribute.\${plan}}} | append: '!' %}{{ x }}`, "pro!", "!"],
  [`{% case {{custom_attribute.\${plan}}} %}{% when 'pro' %}P{% else %}E{% endcase %}`, "P", "E"],
  [`{% case 'pro' %}{% when {{custom_attribute.\${plan}}} %}P{% else %}E{% endcase %}`, "P", "E"],
  [`{% for t in {{custom_attribute.\${tags}}} %}{{ t }},{% endfor %}`, "a,b,", ""],
  [`{% for t in {{custom_attribute.\${tags}}} reversed %}{{ t }}{% endfor %}`, "ba", ""],
  [`{% for i in (1..{{custom_attribute.\${seats}}}) %}{{ i }}{% endfor %}`, "123", ""],
  [`{% if {{custom_attribute.\${plan}}} == 'pro' %}yes{% else %}no{% endif %}`, "yes", "no"],
  [`{% if 'pro' == {{custom_attribute.\${plan}}} %}yes{% else %}no{% endif %}`, "yes", "no"],
  [`{% if {{custom_attribute.\${the plan}}} == 'x' %}yes{% else %}no{% endif %}`, "yes", "no"],
  [
    `{% if {{custom_attribute.\${none} | default: 'pro'}} == {{custom_attribute.\${plan}}} and {{custom_attribute.\${seats}}} > 2 %}yes{% else %}no{% endif %}`,
    "yes",
    "no",
  ],
  [`{% if zzz %}{% elsif {{custom_attribute.\${plan}}} == 'pro' %}yes{% endif %}`, "yes", ""],
  [`{% unless {{custom_attribute.\${plan}}} == 'pro' %}no{% endunless %}`, "", "no"],
  [`{% if {{custom_attribute.\${tags}}} contains 'b' %}yes{% else %}no{% endif %}`, "yes", "no"],
  [
    `{% if 'other' contains {{custom_attribute.\${plan}}} %}no{% else %}yes{% endif %}`,
    "yes",
    "yes",
  ],
  [`{{ {{\${nickname}}} | default: {{\${first_name}}} | upcase }}`, "ADA", ""],
  [`{{ \${nickname} | default: {{ \${first_name} | default: 'you' | upcase }} }}`, "ADA", "YOU"],
  [`{{ \${a} | default: {{ \${b} | default: {{ \${first_name} | default: 'x' }} }} }}`, "Ada", "x"],
  // Braces between quotes, and in a raw part, stay as they are.
  [`{% assign x = '{{ \${first_name} }}' %}{{ x | size }}`, "19", "19"],
  ["{% assign x = 'it\\'s {{' %}{{ x | size }}", "7", "7"],
  [
    `{% raw %}{{ {{ a }} }}{% endraw %}{% assign x = {{\${first_name}}} %}{{ x }}`,
    "{{ {{ a }} }}Ada",
    "{{ {{ a }} }}",
  ],
];

describe("outputs inside of Liquid tags", () => {
  test("a preference page reads each form of them, in tags, in filters and in other outputs", async () => {
    const workspace = await emptyWorkspace(server);
    const tracked = await workspace.track({ attributes: [{ external_id: "ada", ...ADA }] });
    assert.equal(tracked.body.errors, undefined);
    const body = CASES.map(([liquid], index) => `<p>${index}[${liquid}]</p>`).join("\n");
    const id = await createCenter(workspace, {
      preference_center_page_html: `<!doctype html><html lang="en"><head><title>t</title></head><body>${body}</body></html>`,
    });
    const page = await openPage(server, await pageOf(workspace, id));
    assert.equal(page.status, 200);
    const shown = [...String(page.body).matchAll(/<p>\d+\[(.*)\]<\/p>/g)].map(([, text]) => text);
    for (const [index, [liquid, expected]] of CASES.entries()) {
      assert.equal(shown[index], expected, liquid);
    }
  });

  test("a message and its translations read each form of them, and show what a reader without data sees", async () => {
    const workspace = await server.workspace({ settings: { multi_language: true } });
    const base = `/admin/v1/workspaces/${workspace.name}`;
    const { id: _id, ...locale } = spanish;
    const put = async (path: string, body: object) => {
      const answer = await server.admin("PUT", `${base}${path}`, body);
      assert.ok(answer.status < 300, JSON.stringify(answer.body));
    };
    await put(`/locales/${SPANISH}`, locale);
    await put(`/campaigns/${WELCOME}`, { name: "Welcome" });
    const content = {
      own: CASES.map(([liquid], index) => `${index}[${liquid}]`).join("\n"),
      body: "{% translation id_0 %}Hi{% endtranslation %}",
    };
    await put(`/messages/${WELCOME_MAIL}`, {
      campaign_id: WELCOME,
      channel: "email",
      multi_language: true,
      content,
    });
    const withoutRaw = CASES.filter(([liquid]) => !liquid.includes("raw"));
    const id_0 = withoutRaw.map(([liquid], index) => `${index}[${liquid}]`).join("\n");
    await put(`/messages/${WELCOME_MAIL}/translations/${SPANISH}`, { translation_map: { id_0 } });
    const { body } = await server.admin(
      "GET",
      `${base}/messages/${WELCOME_MAIL}/render?locale_id=${SPANISH}`,
    );
    const lines = (cases: typeof CASES) => cases.map(([, , text], index) => `${index}[${text}]`);
    assert.deepEqual(body.content.own.split("\n"), lines(CASES));
    assert.deepEqual(body.content.body.split("\n"), lines(withoutRaw));
  });

  test("one that is not closed, is empty or has an unknown filter is refused with its line and column", async () => {
    const workspace = await emptyWorkspace(server);
    for (const [liquid, reason] of [
      [`{% if {{custom_attribute.\${plan} == 'pro' %}{% endif %}`, /line 2, column \d+/],
      ["{% if {{}} == 'pro' %}{% endif %}", /line 2, column \d+/],
      [`{% if {{custom_attribute.\${plan} | shout}} == 'pro' %}{% endif %}`, /shout.*|line 2/],
      // Also where no reader gets to it.
      [`{% if zzz %}{{ {{\${first_name} | shout}} }}{% endif %}`, /shout/],
      [`{{ {{\${first_name} | shout}} }}`, /shout/],
      [`{% if {{\${a}} }} == 'pro' %}{% endif %}`, /line 2, column \d+/],
    ] as const) {
      const page = `<p>first line</p>\n<p>${liquid}</p>`;
      const answer = await workspace.call<any>(
        "POST",
        PATH,
        center({ preference_center_page_html: page }),
      );
      assert.equal(answer.status, 400, liquid);
      assert.match(JSON.stringify(answer.body), reason, liquid);
    }
  });

  test("nesting without end is refused, and takes no longer than its text", async () => {
    const workspace = await emptyWorkspace(server);
    const deep = `{% if ${"{{".repeat(20_000)}a${"}}".repeat(20_000)} %}{% endif %}`;
    const answer = await workspace.call<any>(
      "POST",
      PATH,
      center({ preference_center_page_html: `<p>${deep}</p>` }),
    );
    assert.equal(answer.status, 400);
    assert.match(JSON.stringify(answer.body), /nested too deeply|tags/);
  });

  test("every character of any text keeps its place, and text outside of Liquid is unchanged", () => {
    const part = fc.constantFrom(
      "{{",
      "}}",
      "{%",
      "%}",
      `\${a b}`,
      "'",
      '"',
      "\\",
      "|",
      "-",
      " ",
      "raw",
      "{% raw %}",
      "{% endraw %}",
      "x",
      "\n",
      "{",
      "}",
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 30 }), (parts) => {
        const text = parts.join("");
        const masked = mask(text);
        assert.equal(masked.length, text.length);
        const first = text.search(/\{[{%]/);
        const outside = first < 0 ? text.length : first;
        assert.equal(masked.slice(0, outside), text.slice(0, outside));
        assert.equal(unmask(masked).length, text.length);
      }),
      { numRuns: 2_000 },
    );
  });
});
