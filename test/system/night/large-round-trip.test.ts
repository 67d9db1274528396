/*
 * Many users of every kind through each format of file, from one workspace into another, compared
 * user by user; and a large CSV file with faults, whose verdicts are counted. TEST_THOROUGH=1 takes
 * 200,000 rows.
 */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { describe, test } from "node:test";
import { textLinesOf } from "../../../src/core/base/lines.ts";
import { AWKWARD_TEXT } from "../../awkward-text.ts";
import { ALERTS, NEWSLETTER, startServer, type TestWorkspace, WEB_APP } from "../../harness.ts";
import { sized } from "../../sizes.ts";
import { temporaryFolder } from "../../stored-rows.ts";
import { runCommand } from "../child-server.ts";

const ROWS = sized(600, 200_000);
const COUNT = ROWS.toLocaleString("en-US");

const server = await startServer();
const folder = await temporaryFolder();

const run = ({ name }: TestWorkspace, ...args: string[]) =>
  runCommand([...args, "--workspace", name], {
    ADMIN_TOKEN: server.adminToken,
    RAPPORT_URL: server.url,
  });

async function succeed(workspace: TestWorkspace, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await run(workspace, ...args);
  assert.equal(code, 0, stderr.slice(-2_000));
  return stdout;
}

const fileNamed = (name: string): string => join(folder, name);

async function writeLines(path: string, lines: Iterable<string>): Promise<string> {
  await pipeline(Readable.from(lines), createWriteStream(path));
  return path;
}

/** Values that formats, spreadsheets and parsers change if they can. */
const AWKWARD: readonly unknown[] = [
  0.3333333333333333,
  9007199254740991,
  -9007199254740991,
  1.5e-7,
  5e-324,
  0.1,
  "",
  [],
  {},
  ["", 1, true, 1.5e-7],
  [{ deep: [1.5e-7] }, { deep: [] }],
  { a: { b: { c: ["x", ""] } }, d: "" },
  "a\u2028b\u2029c",
  AWKWARD_TEXT,
  "=1+1",
  "'=1+1",
  "@SUM(A1)",
  "-2",
  "\ttab ",
  "  a\r\nb",
  "00123",
  "1e3",
  "TRUE",
  "null",
  '{"a":1}',
  "[1]",
  '"quoted", and more',
  "2020-02-29",
  "2020-02-29T23:59:59.999Z",
  true,
  false,
  0,
];

function identity(n: number): object {
  const email = `user-${n}@example.com`;
  const user_aliases = [{ alias_name: `alias ${n}`, alias_label: "crm" }];
  switch (n % 10) {
    case 0:
      return { user_aliases };
    case 1:
      return { email };
    case 2:
      return { external_id: `=user-${n}`, user_aliases, email, email_subscribe: "unsubscribed" };
    default:
      return { external_id: `00${n}`, email, email_subscribe: "opted_in" };
  }
}

/** An exported profile. */
const userOf = (n: number): object => ({
  ...identity(n),
  created_at: new Date(Date.UTC(2020, 0, 1) + n * 1_001).toISOString(),
  first_name: n % 3 ? `Ada ${n} \u{1f600}` : null,
  last_name: n % 5 ? null : "=cmd|' /C calc'!A0",
  dob: n % 4 ? null : "1990-12-10",
  country: "GB",
  last_coordinates: n % 6 ? null : [-0.1, 51.5],
  email_open_tracking_disabled: n % 7 === 0,
  date_of_first_session: n % 8 ? null : "2021-01-02T03:04:05.678Z",
  custom_attributes: {
    number: n / 3,
    text: `text ${n}`,
    flag: n % 2 === 0,
    when: "2020-01-01T00:00:00.000Z",
    address: { city: "London", rooms: [{ size: n + 0.5 }] },
    tags: ["one", `${n}`],
    // One name with every type, and names of which each user has one.
    any: AWKWARD[n % AWKWARD.length],
    [`own ${n % AWKWARD.length}`]: AWKWARD[(n * 7) % AWKWARD.length],
    ...(n % 9 === 0 && { "a:number": "text", " ": n, "x:text": [] }),
  },
  subscription_groups: [
    { id: NEWSLETTER, status: n % 2 ? "subscribed" : "unsubscribed" },
    ...(n % 3 ? [] : [{ id: ALERTS, status: "unsubscribed" }]),
  ],
  apps:
    n % 4 === 0
      ? [
          {
            app_id: WEB_APP,
            sessions: n,
            first_used: "2021-01-01T00:00:00.000Z",
            last_used: "2022-01-01T00:00:00.000Z",
          },
        ]
      : [],
});

function* usersAsLines(): Generator<string> {
  for (let n = 0; n < ROWS; n++) yield `${JSON.stringify(userOf(n))}\n`;
}

/** Assigned again by the workspace that imports a user. */
const NEW_IN_EACH = ["platform_id", "braze_id", "random_bucket"];

/** A digest of each user of an exported file, by what names the user in every workspace. */
async function usersIn(path: string): Promise<Map<string, string>> {
  const users = new Map<string, string>();
  for await (const line of textLinesOf(path, createReadStream(path))) {
    const user = JSON.parse(line);
    for (const name of NEW_IN_EACH) delete user[name];
    const key = JSON.stringify([user.external_id, user.user_aliases, user.email]);
    users.set(key, createHash("sha256").update(JSON.stringify(user)).digest("base64"));
  }
  return users;
}

let filled: Promise<{ workspace: TestWorkspace; users: Map<string, string> }> | undefined;

/** A workspace with all users, and what its export shows. */
async function fill() {
  const workspace = await server.workspace();
  const given = await writeLines(fileNamed("given.ndjson"), usersAsLines());
  const said = await succeed(workspace, "import", "users", given);
  assert.equal(said, `${COUNT} users imported, 0 rejected\n`);
  const exported = fileNamed("before.ndjson");
  await succeed(workspace, "export", "users", exported);
  const users = await usersIn(exported);
  assert.equal(users.size, ROWS);
  return { workspace, users };
}

describe("many users with attributes of every type", () => {
  for (const format of ["ndjson", "csv", "parquet"]) {
    test(`every user comes back without a difference through ${format}`, async () => {
      filled ??= fill();
      const { workspace: from, users } = await filled;
      const path = fileNamed(`users.${format}`);
      await succeed(from, "export", "users", path);
      const to = await server.workspace();
      const said = await succeed(to, "import", "users", path);
      assert.equal(said, `${COUNT} users imported, 0 rejected\n`);
      const after = fileNamed(`after-${format}.ndjson`);
      await succeed(to, "export", "users", after);
      const found = await usersIn(after);
      const different = [...users].filter(([key, digest]) => found.get(key) !== digest);
      assert.deepEqual([found.size, different.length], [ROWS, 0], different[0]?.[0]);
      await Promise.all([path, after].map((each) => rm(each)));
    });
  }
});

describe("a large CSV file with faults", () => {
  /** The first text stands after three quarters of the rows, from where every other score is one. */
  const isTextAt = (n: number) => n >= (ROWS * 3) / 4 && n % 2 === 0;
  const isShortAt = (n: number) => n % 100 === 7;
  const isBadAt = (n: number) => n % 100 === 13;

  function* lines(): Generator<string> {
    yield "external_id,email,score\n";
    for (let n = 0; n < ROWS; n++) {
      const email = isBadAt(n) ? "no address" : `user-${n}@example.com`;
      if (isShortAt(n)) yield `u${n},${email}\n`;
      else yield `u${n},${email},${isTextAt(n) ? "unknown" : n}\n`;
    }
  }

  const count = (is: (n: number) => boolean): number =>
    Array.from({ length: ROWS }, (_, n) => n).filter(is).length;

  test("a column whose first text comes late loses no user, and each way to read it gives the named verdicts", async () => {
    const workspace = await server.workspace();
    const path = await writeLines(fileNamed("faults.csv"), lines());
    const unfit = count(isShortAt) + count(isBadAt);
    const texts = count(isTextAt);
    const verdicts = async (...more: string[]) => {
      const { code, stdout } = await run(workspace, "import", "users", path, "--json", ...more);
      assert.equal(code, 2);
      const { imported, rejected, partial } = JSON.parse(stdout);
      return { imported, rejected, partial };
    };
    const asText = { imported: ROWS - unfit, rejected: unfit, partial: 0 };
    assert.deepEqual(await verdicts("--dry-run"), asText);
    const asNumber = { imported: ROWS - unfit - texts, rejected: unfit + texts, partial: 0 };
    assert.deepEqual(await verdicts("--dry-run", "--type", "score=number"), asNumber);
    assert.deepEqual(await verdicts("--type", "score=number?"), { ...asText, partial: texts });
    const exported = fileNamed("faults.ndjson");
    await succeed(workspace, "export", "users", exported);
    let scores = 0;
    for await (const line of textLinesOf(exported, createReadStream(exported))) {
      if (typeof JSON.parse(line).custom_attributes.score === "number") scores += 1;
    }
    assert.equal(scores, ROWS - unfit - texts);
  });
});
