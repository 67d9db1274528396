/**
 * docs/conformance.md lists every rule the server promises, one per row, each with its proof. These
 * tests keep the page honest: every row can be read, no id is used twice or taken away, every test
 * that a row names exists, and the number of open rows only shrinks.
 */

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { titlesIn } from "./titles.ts";

/** Lower this with every row you close. Only a rule that is new on the page may raise it. */
const OPEN_ROWS_AT_MOST = 0;

/** Sentences of the specification that say nothing about this server. Keep them rare. */
const NOT_APPLICABLE_ROWS = 7;

/** Numbers that no rule has had. */
const NEVER_USED = ["F-58", "F-59", "F-60"];

const PAGE = "docs/conformance.md";
const HEADER = "| id | rule | proof |";
const SEPARATOR = "|---|---|---|";
const ID = /^(?:A|T|I|S|SCIM|CDI|PC|TR|L|D|F)-\d{2,3}$/;

interface Reference {
  readonly file: string;
  readonly title: string;
}

type Proof = "open" | "not applicable" | readonly Reference[];

interface Row {
  readonly lineNumber: number;
  readonly id: string;
  /** Begins with the name of a feature in brackets if the proof does not tell. */
  readonly rule: string;
  readonly proof: Proof;
}

/** Reads the rows of the page; anything of another shape than a row becomes a fault. */
function readRows(page: string): { rows: Row[]; faults: string[] } {
  const rows: Row[] = [];
  const faults: string[] = [];
  for (const [index, line] of page.split("\n").entries()) {
    if (!line.includes("|") || line === HEADER || line === SEPARATOR) continue;
    const lineNumber = index + 1;
    const fault = (text: string) => faults.push(`${PAGE}:${lineNumber}: ${text}`);

    const [before, id, rule, proofText, after, ...more] = line
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim().replaceAll("\\|", "|"));
    if (before !== "" || !id || !rule || !proofText || after !== "" || more.length > 0) {
      fault(`Write the row as "| id | rule | proof |", and a bar inside a cell as "\\|".`);
      continue;
    }
    if (!ID.test(id)) {
      fault(`"${id}" is no id. Write the letters of the section and a number, such as T-07.`);
      continue;
    }
    const proof = readProof(proofText);
    if (proof === undefined) {
      fault(
        `${id} has a proof that cannot be read. Write "open", "not applicable: reason", or ` +
          `"track.test.ts: title of the test", several of the last with "<br>" between them.`,
      );
      continue;
    }
    rows.push({ lineNumber, id, rule, proof });
  }
  return { rows, faults };
}

function readProof(text: string): Proof | undefined {
  if (text === "open") return "open";
  if (/^not applicable: \S/.test(text)) return "not applicable";
  const references: Reference[] = [];
  for (const part of text.split("<br>")) {
    const [, file, title] = /^([a-z0-9/-]+\.test\.ts): (\S.*)$/.exec(part.trim()) ?? [];
    if (file === undefined || title === undefined) return undefined;
    references.push({ file, title });
  }
  return references;
}

/** Within its letters every number from 1 on is on one row: this shows that no rule was removed. */
function faultsInIds(rows: readonly Row[]): string[] {
  const faults: string[] = [];
  const numbersByLetters = new Map<string, Set<number>>();
  for (const { lineNumber, id } of rows) {
    const [letters = "", digits] = id.split("-");
    const numbers = numbersByLetters.get(letters) ?? new Set();
    numbersByLetters.set(letters, numbers);
    if (numbers.has(Number(digits))) {
      faults.push(`${PAGE}:${lineNumber}: ${id} is used twice. Give the new row a free number.`);
    }
    numbers.add(Number(digits));
  }
  for (const [letters, numbers] of numbersByLetters) {
    for (let number = 1; number <= Math.max(...numbers); number++) {
      const id = `${letters}-${String(number).padStart(2, "0")}`;
      if (numbers.has(number) || NEVER_USED.includes(id)) continue;
      faults.push(
        `${PAGE}: ${id} is missing. Give a new row the next ` +
          "number of its letters, and never take a row away.",
      );
    }
  }
  return faults;
}

/** Every test a row names has to exist; `sourceOf` gives a test file's text, if there is one. */
function faultsInReferences(
  rows: readonly Row[],
  sourceOf: (file: string) => string | undefined,
): string[] {
  const faults: string[] = [];
  const titlesByFile = new Map<string, ReadonlySet<string> | undefined>();
  for (const { lineNumber, id, proof } of rows) {
    if (typeof proof === "string") continue;
    for (const { file, title } of proof) {
      if (!titlesByFile.has(file)) {
        const source = sourceOf(file);
        titlesByFile.set(file, source === undefined ? undefined : wholeTitlesIn(source));
      }
      const titles = titlesByFile.get(file);
      if (titles === undefined) {
        faults.push(
          `${PAGE}:${lineNumber}: ${id} names test/${file}, which does not exist. ` +
            'Correct the name of the file, or set the proof back to "open".',
        );
      } else if (!titles.has(title)) {
        faults.push(
          `${PAGE}:${lineNumber}: ${id} names "${title}", which is no title in test/${file}. ` +
            'Correct the title, write the test, or set the proof back to "open". For a title ' +
            "that is built from a template, give the title of the describe around it.",
        );
      }
    }
  }
  return faults;
}

/** Without titles that are built from a template. */
const wholeTitlesIn = (source: string): Set<string> =>
  new Set(titlesIn(source).filter((title) => !title.includes("${")));

function faultsInOpenRows(openRows: number, atMost: number): string[] {
  if (openRows > atMost) {
    return [
      `${PAGE} has ${openRows} open rows and OPEN_ROWS_AT_MOST allows ${atMost}. Prove a row with ` +
        "a test instead of opening it again; only for a rule that is new on the page raise it " +
        `to ${openRows}.`,
    ];
  }
  if (openRows < atMost) {
    return [
      `${PAGE} has only ${openRows} open rows left and OPEN_ROWS_AT_MOST in ` +
        `test/conformance.test.ts is ${atMost}: lower it to ${openRows}.`,
    ];
  }
  return [];
}

/** The features that a row may belong to: the one that it names, or those whose tests prove it. Of the core it is none. */
function ownersOf({ rule, proof }: Row, features: readonly string[]): readonly string[] {
  const [, named] = /^\(([\w-]+)\) /.exec(rule) ?? [];
  if (named !== undefined) return [named];
  const files = typeof proof === "string" ? [] : proof.map(({ file }) => file.split("/"));
  return [...new Set(files.flat().filter((folder) => features.includes(folder)))];
}

function faultsInOwners(rows: readonly Row[], features: readonly string[]): string[] {
  return rows
    .map((row) => ({ ...row, owners: ownersOf(row, features) }))
    .filter(({ owners }) => owners.length > 1 || owners.some((name) => !features.includes(name)))
    .map(
      ({ lineNumber, id, owners }) =>
        `${PAGE}:${lineNumber}: ${id} belongs to ${owners.join(" and ")}. Begin its rule with the one ` +
        "feature in brackets, such as (import), or name tests of one feature.",
    );
}

function assertNone(faults: readonly string[]): void {
  assert.ok(faults.length === 0, faults.join("\n"));
}

describe("the conformance page", () => {
  // The compiled test lies in dist/test, two folders below the root.
  const root = new URL("../../", import.meta.url);
  const { rows, faults } = readRows(readFileSync(new URL(PAGE, root), "utf8"));

  it("the conformance page contains only rows of the documented shape", () => {
    assertNone(faults);
  });

  it("the rule ids of the conformance page have no gaps and no duplicates", () => {
    assertNone(faultsInIds(rows));
  });

  it("the conformance page cites only tests that exist", () => {
    const sourceOf = (file: string) => {
      const path = new URL(`test/${file}`, root);
      return existsSync(path) ? readFileSync(path, "utf8") : undefined;
    };
    assertNone(faultsInReferences(rows, sourceOf));
  });

  it("each rule of the conformance page belongs to the core or to one feature", () => {
    const features = readdirSync(new URL("src/features", root));
    assertNone(faultsInOwners(rows, features));
    const owned = rows.filter((row) => ownersOf(row, features).length === 1);
    assert.ok(owned.length > 200, `${owned.length} rules belong to features.`);
  });

  it("the conformance page has exactly the allowed number of open rows", () => {
    const openRows = rows.filter(({ proof }) => proof === "open").length;
    assertNone(faultsInOpenRows(openRows, OPEN_ROWS_AT_MOST));
  });

  it("the conformance page has exactly the known number of rows that are not applicable", () => {
    const ids = rows.filter(({ proof }) => proof === "not applicable").map(({ id }) => id);
    assert.equal(
      ids.length,
      NOT_APPLICABLE_ROWS,
      `${PAGE} calls ${ids.length} rows not applicable (${ids.join(", ")}), and ` +
        `NOT_APPLICABLE_ROWS is ${NOT_APPLICABLE_ROWS}. Prove the rule with a test if any test ` +
        "could; change the number only for a sentence that says nothing about this server.",
    );
  });
});

describe("reading the conformance page", () => {
  const row = (id: string, proof: Proof = "open"): Row => ({
    lineNumber: 1,
    id,
    rule: "A rule.",
    proof,
  });

  it("a conformance row is read with each of the three kinds of proof", () => {
    const page = [
      "Prose.",
      HEADER,
      SEPARATOR,
      "| T-01 | A rule. | open |",
      "| T-02 | A \\| B. | not applicable: it is about a client |",
      "| T-03 | A rule. | track.test.ts: keeps order: a \\| b<br>cdi-runs.test.ts: ends |",
    ].join("\n");
    assert.deepEqual(readRows(page), {
      rows: [
        { lineNumber: 4, id: "T-01", rule: "A rule.", proof: "open" },
        { lineNumber: 5, id: "T-02", rule: "A | B.", proof: "not applicable" },
        {
          lineNumber: 6,
          id: "T-03",
          rule: "A rule.",
          proof: [
            { file: "track.test.ts", title: "keeps order: a | b" },
            { file: "cdi-runs.test.ts", title: "ends" },
          ],
        },
      ],
      faults: [],
    });
  });

  it("a conformance row of any other shape is a fault with its line and advice", () => {
    const shapes: [line: string, advice: RegExp][] = [
      ["| T-01 | A rule. |", /:1: Write the row as/],
      ["| T-01 | A rule. | open | more |", /:1: Write the row as/],
      ["| T-01 | A rule. | open", /:1: Write the row as/],
      ["T-01 | A rule. | open |", /:1: Write the row as/],
      ["| T-01 |  | open |", /:1: Write the row as/],
      ["| id | rule | proofs |", /:1: "id" is no id\. Write the letters/],
      ["| X-01 | A rule. | open |", /:1: "X-01" is no id\. Write the letters/],
      ["| T-1 | A rule. | open |", /:1: "T-1" is no id\. Write the letters/],
      ["| T-01 | A rule. | Open |", /:1: T-01 has a proof .* Write "open"/],
      ["| T-01 | A rule. | not applicable |", /:1: T-01 has a proof .* Write "open"/],
      ["| T-01 | A rule. | track.test.ts |", /:1: T-01 has a proof .* Write "open"/],
      ["| T-01 | A rule. | track.test.ts: a<br> |", /:1: T-01 has a proof .* Write "open"/],
    ];
    for (const [line, advice] of shapes) {
      const { rows, faults } = readRows(line);
      assert.deepEqual([rows.length, faults.length], [0, 1], line);
      assert.match(faults.join(), advice, line);
    }
  });

  it("a duplicate or missing rule id is a fault", () => {
    assert.deepEqual(faultsInIds([row("T-02"), row("S-01"), row("T-01"), row("S-02")]), []);
    assert.match(faultsInIds([row("T-01"), row("T-01")]).join(), /:1: T-01 is used twice/);
    assert.match(faultsInIds([row("T-01"), row("T-03")]).join(), /T-02 is missing/);
  });

  it("a rule whose tests are of two features, or that names an unknown one, is a fault", () => {
    const features = ["import", "scim"];
    const rule = (text: string, ...files: string[]): Row => ({
      ...row(
        "T-01",
        files.map((file) => ({ file, title: "ends" })),
      ),
      rule: text,
    });
    const mixed = ["import/a.test.ts", "long/scim/b.test.ts"];
    for (const each of [rule("A rule.", ...mixed.slice(1)), rule("(import) A rule.", ...mixed)]) {
      assert.deepEqual(faultsInOwners([each], features), []);
      assert.equal(ownersOf(each, features).length, 1);
    }
    assert.deepEqual(ownersOf(rule("A rule.", "core/track/track.test.ts"), features), []);
    assert.match(faultsInOwners([rule("A rule.", ...mixed)], features).join(), /import and scim/);
    assert.match(faultsInOwners([rule("(inport) A rule.")], features).join(), /to inport\. Begin/);
  });

  it("a citation of a test that does not exist is a fault", () => {
    const sourceOf = (file: string) => (file === "a.test.ts" ? 'it("ends", () => {})' : undefined);
    const faultsOf = (file: string, title: string) =>
      faultsInReferences([row("T-01", [{ file, title }])], sourceOf).join();
    assert.equal(faultsOf("a.test.ts", "ends"), "");
    assert.match(faultsOf("a.test.ts", "end"), /T-01 names "end", .* Correct the title/);
    assert.match(
      faultsOf("b.test.ts", "ends"),
      /T-01 names test\/b\.test\.ts, .* Correct the name/,
    );
  });

  it("the titles of the tests that run are found, and those of other tests are not", () => {
    const source = `
      describe('of "users"', () => {
        test("says \\"no\\"", () => {});
        await it(
          \`holds one line\`,
        );
        for (const name of names) test(\`takes \${name}\`, () => {});
        // test("in a comment", () => {});
        test.skip("skipped", () => {});
        pattern.test("a text");
        latest("a name");
      });`;
    assert.deepEqual([...wholeTitlesIn(source)], ['of "users"', 'says "no"', "holds one line"]);
  });

  it("the number of open rows may only shrink, and its limit shrinks with it", () => {
    assert.deepEqual(faultsInOpenRows(3, 3), []);
    assert.match(faultsInOpenRows(4, 3).join(), /Prove a row with a test/);
    assert.match(faultsInOpenRows(2, 3).join(), /lower it to 2\./);
  });
});
