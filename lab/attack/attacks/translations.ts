import { MESSAGE, SPANISH } from "../attacked-server.ts";
import { type Attack, type Heard, mustHold, scaled, type Target, tally, times } from "../target.ts";

/* Attacks with translations: files, maps and contents of up to 4 MB. */

const MESSAGES = "/admin/v1/workspaces/attacked/messages";
const LARGE = "33333333-0000-4000-8000-00000000000f";

const file = (target: Target, kind: "csv" | "xliff", text: string): Promise<Heard> =>
  target.send("PUT", `${MESSAGES}/${MESSAGE}/translations.${kind}`, text, {
    token: target.server.adminToken,
    headers: { "content-type": kind === "csv" ? "text/csv" : "application/xliff+xml" },
  });

const csv = (name: string, row: string, most = 4_190_000): Attack => ({
  name: `translations as CSV: ${name}`,
  before: "not tried",
  run: async (target) => {
    const rows = row.repeat(Math.floor(most / row.length / target.shrink));
    return tally([await file(target, "csv", `id,source,es-MX\n${rows}`)]);
  },
});

const unit = `<trans-unit id="u"><source>a</source><target>b</target></trans-unit>`;

const xliff = (units: string): string =>
  `<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"><file original="m" ` +
  `source-language="en" target-language="es-MX" datatype="html"><body>${units}</body></file></xliff>`;

const manyStrings = (count: number, text: string) =>
  Object.fromEntries(times(count, (index) => [`id_${index}`, text]));

const putMessage = (target: Target, message: object) =>
  target.admin("PUT", `${MESSAGES}/${LARGE}`, {
    campaign_id: "22222222-0000-4000-8000-000000000001",
    channel: "email",
    multi_language: true,
    ...message,
  });

const render = (name: string, content: object): Attack => ({
  name: `rendering a message: ${name}`,
  before: "not tried",
  prepare: async (target) => {
    const { status, text } = await putMessage(target, { content });
    mustHold(status < 300, text);
  },
  run: async (target) => tally([await target.admin("GET", `${MESSAGES}/${LARGE}/render`)]),
});

export const TRANSLATION_ATTACKS: readonly Attack[] = [
  csv("4 MB of unknown ids", "x,y,z\n"),
  csv("4 MB of one cell after another", `${"a,".repeat(1_000)}\n`),
  csv("4 MB of quotes", '"a""b",c,d\n'),
  csv("4 MB of blanks in the source", `id_0,${" ".repeat(60_000)}x,z\n`),
  {
    name: "translations as CSV: 4 MB of columns",
    before: "not tried",
    run: async (target) => {
      const columns = times(scaled(target, 400_000), (index) => `l${index}`).join(",");
      return tally([await file(target, "csv", `id,source,${columns}\n`)]);
    },
  },
  {
    name: "translations as XLIFF: 4 MB of units",
    before: "not tried",
    run: async (target) =>
      tally([
        await file(target, "xliff", xliff(unit.repeat(scaled(target, 4_100_000 / unit.length)))),
      ]),
  },
  {
    name: "translations as XLIFF: 4 MB of attributes",
    before: "not tried",
    run: async (target) => {
      const attributes = times(scaled(target, 300_000), (index) => `a${index}="1"`).join(" ");
      return tally([await file(target, "xliff", xliff(`<trans-unit ${attributes}/>`))]);
    },
  },
  {
    name: "a message of 10,000 strings of 300 characters, translated and exported",
    before: "not tried",
    run: async (target) => {
      const source = manyStrings(scaled(target, 10_000), "Hello <b>world</b>, ".repeat(15));
      const made = await putMessage(target, { source });
      const path = `${MESSAGES}/${LARGE}`;
      const set = await target.admin("PUT", `${path}/translations/${SPANISH}`, {
        translation_map: source,
      });
      const out = [
        await target.admin("GET", `${path}/translations.csv`),
        await target.admin("GET", `${path}/translations.xliff`),
        await target.admin("GET", `${path}/render`),
      ];
      return tally([made, set, ...out]);
    },
  },
  {
    name: "translations with 10,000 Liquid tags",
    before: "not tried",
    run: async (target) => {
      const source = { id_0: "{{ a | upcase | downcase }}".repeat(scaled(target, 10_000)) };
      return tally([await putMessage(target, { source })]);
    },
  },
  {
    name: "a content with 10,000 translation tags",
    before: "not tried",
    run: async (target) => {
      const tag = (index: number) => `{% translation i${index} %}a{% endtranslation %}`;
      const body = times(scaled(target, 5_000), tag).join("");
      return tally([await putMessage(target, { content: { body } })]);
    },
  },
  render("50 parts that loop", {
    ...Object.fromEntries(
      times(50, (index) => [
        `part${index}`,
        "{% for a in (1..900) %}{% for b in (1..900) %}{{ a }}{% endfor %}{% endfor %}",
      ]),
    ),
  }),
  {
    name: "a translation with a __proto__ key",
    before: "201, silently dropped",
    run: async (target) => {
      const body = '{"translation_map":{"__proto__":"x","id_0":"y"}}';
      const path = `${MESSAGES}/${MESSAGE}/translations/${SPANISH}`;
      const response = await target.admin("PUT", path, body);
      mustHold(response.status === 400, `${response.status}: ${response.text}`);
      return tally([response]);
    },
  },
];
