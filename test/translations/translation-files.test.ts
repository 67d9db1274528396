import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { readCsv, writeCsv } from "../../src/features/translations/csv.ts";
import type { TranslationFile } from "../../src/features/translations/translation-file.ts";
import { readXliff, writeXliff } from "../../src/features/translations/xliff.ts";
import { anyText } from "../any-text.ts";
import { AWKWARD_CHARACTERS, LONG_TEXT } from "../awkward-text.ts";

const locale = (localeKey: string) => ({
  id: "",
  name: "",
  country: "",
  language: "",
  localeKey,
});

const file = (source: Record<string, string>, maps: Record<string, Record<string, string>>) =>
  ({
    messageId: "m",
    source,
    columns: Object.entries(maps).map(([key, map]) => ({ locale: locale(key), map })),
  }) satisfies TranslationFile;

const brief = (strings: ReturnType<typeof readCsv>) =>
  strings.map(({ id, localeKey, source, text }) => [id, localeKey, source, text]);

const id = fc
  .string({ unit: "grapheme", minLength: 1, maxLength: 8 })
  .filter((text) => /^[^\s\p{C}]+$/u.test(text) && text !== "__proto__");

/** Text with what files trip over more often than chance would have it. */
const awkward = (unit: "binary" | "grapheme") =>
  fc.oneof(
    unit === "binary" ? anyText() : fc.string({ unit }),
    fc
      .array(
        fc.constantFrom(
          '"',
          ",",
          ";",
          "\n",
          "\r",
          "\r\n",
          "\t",
          ...AWKWARD_CHARACTERS,
          "=1",
          "'",
          "-",
          "@",
          "+",
          "<",
          "&",
          "]]>",
          "&amp;",
          " ",
          "x",
          "é",
        ),
        { maxLength: 6 },
      )
      .map((parts) => parts.join("")),
  );

/** Files with at least one non-empty text: an empty one means "not translated". */
const files = (unit: "binary" | "grapheme") =>
  fc
    .dictionary(
      id,
      fc.record({ source: awkward(unit), es: awkward(unit), fr: fc.option(awkward(unit)) }),
      { noNullPrototype: true },
    )
    .map((strings) => {
      const entries = Object.entries(strings);
      const map = (name: "source" | "es" | "fr") =>
        Object.fromEntries(
          entries.flatMap(([id, each]) => (each[name] === null ? [] : [[id, each[name]]])),
        ) as Record<string, string>;
      return file(map("source"), { "es-MX": map("es"), fr_FR: map("fr") });
    });

/** The expected contents of a file, in its order. */
const expected = ({ source, columns }: TranslationFile, key: (key: string) => string) =>
  columns.flatMap(({ locale, map }) =>
    Object.entries(source).flatMap(([id, text]) =>
      Object.hasOwn(map, id) && map[id] ? [[id, key(locale.localeKey), text, map[id]]] : [],
    ),
  );

const sorted = (rows: readonly unknown[][]) => rows.map((row) => JSON.stringify(row)).sort();

describe("CSV", () => {
  test("a translation CSV has a line for each string and a column for each locale", () => {
    const text = writeCsv(
      file({ id_0: "Hello", id_1: 'a "b", c' }, { "es-MX": { id_0: "Hola" }, fr: {} }),
    );
    assert.equal(
      text,
      '\uFEFF"id","source","es-MX","fr"\r\n"id_0","Hello","Hola",\r\n"id_1","a ""b"", c",,\r\n',
    );
  });

  test("a translation CSV preserves every text unchanged", () => {
    fc.assert(
      fc.property(files("binary"), (given) => {
        assert.deepEqual(
          sorted(brief(readCsv(writeCsv(given)))),
          sorted(expected(given, (key) => key)),
        );
      }),
    );
  });

  test("a translation CSV marks text that a spreadsheet would run with an apostrophe, removed on reading", () => {
    for (const text of ["=1+1", "+1", "-1", "@a", "\t=1", "\r=1", "'=1", "''=1"]) {
      const written = writeCsv(file({ id_0: text }, { es: { id_0: text } }));
      assert.ok(written.includes(`"'${text}"`), text);
      assert.deepEqual(brief(readCsv(written)), [["id_0", "es", text, text]]);
    }
    assert.ok(writeCsv(file({ id_0: "'tis" }, {})).includes(`"'tis"`));
  });

  test("a translation CSV is read with other delimiters, blank lines, or without a BOM or a source column", () => {
    const cases: [text: string, rows: unknown[][]][] = [
      ["id,es\nid_0,Hola\n", [["id_0", "es", undefined, "Hola"]]],
      ["id;es\r\n\r\nid_0;Hola, tú\r\n", [["id_0", "es", undefined, "Hola, tú"]]],
      ['\uFEFF"id"\t"es"\nid_0\t"a\nb"', [["id_0", "es", undefined, "a\nb"]]],
      ["id, es ,source,,\nid_0,Hola,Hello,,\n", [["id_0", "es", "Hello", "Hola"]]],
      // Several programs may have written lines into one file, with different ends.
      [
        "id,es\r\nid_0,Hola\nid_1,tú\rsí\u2028\r\n",
        [
          ["id_0", "es", undefined, "Hola"],
          ["id_1", "es", undefined, "tú\rsí\u2028"],
        ],
      ],
      ["id,es\rid_0,Hola\r", [["id_0", "es", undefined, "Hola"]]],
      [`id,es\nid_0,${LONG_TEXT}\n`, [["id_0", "es", undefined, LONG_TEXT]]],
      ["id,es\n", []],
    ];
    for (const [text, rows] of cases) assert.deepEqual(brief(readCsv(text)), rows, text);
  });

  test("an invalid translation CSV is refused with the reason", () => {
    const cases: [text: string, reason: RegExp][] = [
      ["", /first column must be 'id'/],
      ["name,es\na,b\n", /first column must be 'id'/],
      ["id,es,es\na,b,c\n", /'es' twice/],
      ["id,es\na,b\nc\n", /line 3/],
      ['id,es\na,"b\n', /Quote Not Closed.*line 2/],
      ['id,es\na,"b"c\n', /line 2/],
    ];
    for (const [text, reason] of cases) {
      assert.throws(
        () => readCsv(text),
        (error: Error) => {
          assert.match(error.message, /^The CSV cannot be read: /);
          assert.match(error.message, reason);
          return true;
        },
      );
    }
  });
});

const XLIFF = `xmlns="urn:oasis:names:tc:xliff:document:1.2" version="1.2"`;

const xliff = (units: string, attributes = `source-language="en" target-language="es-MX"`) =>
  `<?xml version="1.0"?>\n<xliff ${XLIFF}><file original="m" datatype="plaintext" ${attributes}><header><note>x</note></header><body>${units}</body></file></xliff>`;

describe("XLIFF 1.2", () => {
  test("a translation XLIFF has a file for each locale and a unit for each string", () => {
    const text = writeXliff(
      file({ id_0: "Hello", id_1: '<b>"&' }, { "es-MX": { id_0: "Hola" }, fr_FR: {} }),
      "en",
    );
    assert.equal(
      text,
      `<?xml version="1.0" encoding="UTF-8"?>
<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">
  <file original="m" source-language="en" target-language="es-MX" datatype="plaintext">
    <body>
      <trans-unit id="id_0" xml:space="preserve">
        <source>Hello</source><target>Hola</target>
      </trans-unit>
      <trans-unit id="id_1" xml:space="preserve">
        <source>&lt;b&gt;&quot;&amp;</source>
      </trans-unit>
    </body>
  </file>
  <file original="m" source-language="en" target-language="fr-FR" datatype="plaintext">
    <body>
      <trans-unit id="id_0" xml:space="preserve">
        <source>Hello</source>
      </trans-unit>
      <trans-unit id="id_1" xml:space="preserve">
        <source>&lt;b&gt;&quot;&amp;</source>
      </trans-unit>
    </body>
  </file>
</xliff>
`,
    );
  });

  test("a translation XLIFF preserves text that XML allows, and refuses any other character by name", () => {
    const inXml = /^[\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]*$/u;
    fc.assert(
      fc.property(files("binary"), (given) => {
        const texts = [given.source, ...given.columns.map(({ map }) => map)].flatMap(Object.values);
        if (!texts.every((text: string) => inXml.test(text))) {
          assert.throws(
            () => writeXliff(given, "en"),
            /holds the character U\+[0-9A-F]{4,6}, which XML/,
          );
          return;
        }
        const rows = brief(readXliff(writeXliff(given, "en")));
        assert.deepEqual(sorted(rows), sorted(expected(given, (key) => key.replace("_", "-"))));
      }),
    );
  });

  test("a translation XLIFF is read with the segments, notes, groups and namespaces that tools add", () => {
    const units = `<group id="g"><note>n</note>
      <trans-unit id="a"><source>Hi <mrk mtype="x-test">there</mrk></source><seg-source>no</seg-source>
        <target state="translated"><mrk mtype="seg" mid="1">Hola</mrk><mrk mtype="seg" mid="2"> ahí</mrk></target>
        <alt-trans><source>no</source><target>no</target></alt-trans><note>no</note>
        <t:x xmlns:t="urn:t"><target>no</target></t:x></trans-unit></group>
      <trans-unit id="b"><source>B</source><target><![CDATA[<b>]]>&amp;<!-- no -->&#x21;</target></trans-unit>
      <trans-unit id="c"><source>C</source></trans-unit>
      <trans-unit id="d"><source>D</source><target/></trans-unit>
      <trans-unit id="e"><source>E</source><target state="needs-translation">E</target></trans-unit>`;
    const strings = readXliff(xliff(units));
    assert.deepEqual(brief(strings), [
      ["a", "es-MX", "Hi there", "Hola ahí"],
      ["b", "es-MX", "B", "<b>&!"],
      ["e", "es-MX", "E", "E"],
    ]);
    assert.deepEqual(
      strings.map((each) => [each.index, each.isDraft]),
      [
        [0, false],
        [1, false],
        [4, true],
      ],
    );
  });

  test("an invalid XLIFF is refused with the line and the column, and no entity is expanded", () => {
    const unit = (target: string) =>
      `<trans-unit id="a"><source>A</source><target>${target}</target></trans-unit>`;
    const cases: [text: string, reason: RegExp][] = [
      ["", /document must contain a root element/],
      ["<xliff", /line 1, column/],
      ["<html/>", /not an XLIFF document/],
      [`<xliff version="2.0" xmlns="urn:oasis:names:tc:xliff:document:2.0"/>`, /not XLIFF 1.2/],
      [`<xliff version="1.1" xmlns="urn:oasis:names:tc:xliff:document:1.2"/>`, /not XLIFF 1.2/],
      [xliff(unit("<g id='1'>x</g>")), /line 2, .*<g> is inside a text/],
      [xliff(unit("<t:g xmlns:t='urn:t'>x</t:g>")), /<t:g> is inside a text/],
      [xliff(unit("x"), `source-language="en"`), /needs a target-language/],
      [xliff(`<trans-unit><source>A</source><target>B</target></trans-unit>`), /has no id/],
      [xliff(unit("&nbsp;")), /line 2, .*undefined entity/],
      [`<!DOCTYPE xliff [<!ENTITY e "x">]>${xliff(unit("&e;")).slice(22)}`, /document type/],
      [
        `<!DOCTYPE xliff SYSTEM "file:///etc/passwd">${xliff(unit("x")).slice(22)}`,
        /document type/,
      ],
      [xliff("<group>".repeat(100_000)), /nested too deeply/],
      [xliff(unit("a & b")), /line 2/],
      [xliff(unit("\u0001")), /line 2, .*disallowed character/],
    ];
    for (const [text, reason] of cases) {
      assert.throws(
        () => readXliff(text),
        (error: Error) => {
          assert.match(error.message, /^The XLIFF cannot be read: line \d+, column \d+: /);
          assert.match(error.message, reason);
          return true;
        },
        text.slice(0, 80),
      );
    }
  });
});
