/* The files that `rapport import` reads: CSV, the exports of other products, and files that are damaged. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { gzipSync } from "node:zlib";
import { packageRoot } from "../../../src/core/base/package-root.ts";
import { AWKWARD_TEXT, LONG_ATTRIBUTES } from "../../awkward-text.ts";
import { startServer, type TestWorkspace, WEB_APP } from "../../harness.ts";
import { sample } from "../../sizes.ts";
import { temporaryFolder } from "../../stored-rows.ts";
import { runCommand } from "../../system/child-server.ts";

const server = await startServer();
const folder = await temporaryFolder();
const admin = { ADMIN_TOKEN: server.adminToken, RAPPORT_URL: server.url };

let files = 0;
async function fileOf(content: string | Uint8Array, extension: string): Promise<string> {
  const path = join(folder, `file-${++files}.${extension}`);
  await writeFile(path, content);
  return path;
}

const importing = (kind: string, path: string, { name }: TestWorkspace, ...more: string[]) =>
  runCommand(["import", kind, path, "--workspace", name, ...more], admin);

const fixture = (name: string): string => join(packageRoot(), "test/fixtures/imports", name);

describe("a CSV file", { concurrency: 3 }, () => {
  const CSV = [
    "Customer ID;Email Address;First Name;Age;VIP;Zip;user_alias.alias_name;user_alias.alias_label",
    "1;ada@example.com;Ada;36;true;00123;a1;crm",
    '2;bob@example.com;"Bob; Jr.";;false;01234;;',
    "3;eve@example.com",
    "",
  ].join("\n");
  const MAP = ["--map", "Email Address=email", "--map", "Customer ID=external_id"];

  test("a CSV file is imported by its header, with inferred types that are shown first", async () => {
    const workspace = await server.workspace();
    const path = await fileOf(CSV, "csv");
    const { code, stdout, stderr } = await importing("users", path, workspace, ...MAP);
    assert.deepEqual([code, stdout], [2, "2 users imported, 1 rejected\n"]);
    assert.match(stderr, /^ {2}Customer ID +→ {2}external_id +text +1$/m);
    assert.match(stderr, /^ {2}Age +→ {2}Age +number +36$/m);
    assert.match(stderr, /^ {2}Zip +→ {2}Zip +text +00123$/m);
    assert.match(stderr, /:4: the row has 2 columns, but the header has 8 \(COLUMN_COUNT\)$/m);
    const [ada, bob] = await workspace.profiles({ external_ids: ["1", "2"] });
    assert.deepEqual(ada?.custom_attributes, { Age: 36, VIP: true, Zip: "00123" });
    assert.deepEqual(ada?.user_aliases, [{ alias_name: "a1", alias_label: "crm" }]);
    assert.deepEqual([bob?.first_name, bob?.email], ["Bob; Jr.", "bob@example.com"]);
  });

  test("rapport import --dry-run checks a CSV file and imports nothing", async () => {
    const workspace = await server.workspace();
    const path = await fileOf(CSV, "csv");
    const { code, stdout } = await importing("users", path, workspace, ...MAP, "--dry-run");
    assert.deepEqual([code, stdout], [2, "2 users would be imported, 1 rejected\n"]);
    assert.equal((await workspace.profiles({ external_ids: ["1", "2"] })).length, 0);
  });

  test("the whole column decides its type, in a file and from a pipe", async () => {
    const rows = Array.from({ length: 1_001 }, (_, n) => `user ${n},${n < 1_000 ? n : "many"}`);
    const text = `external_id,visits\n${rows.join("\n")}\n`;
    const file = await fileOf(text, "csv");
    for (const [path, input] of [[file], ["-", text]] as const) {
      const workspace = await server.workspace();
      const args = ["import", "users", path, "--workspace", workspace.name];
      const { code, stderr } = await runCommand(args, admin, input);
      assert.equal(code, 0, stderr);
      const users = await workspace.profiles({ external_ids: ["user 1", "user 1000"] });
      const visits = users.map(({ custom_attributes }) => custom_attributes.visits);
      assert.deepEqual(visits.sort(), ["1", "many"]);
    }
  });

  test("a cell that is not of the column's type rejects its row, or is left out and reported where the type ends in a question mark", async () => {
    const workspace = await server.workspace();
    const text =
      "external_id,visits:number,joined:time\na,1,2020-01-01\nb,many,2020-01-01\nc,3,soon\n";
    const path = await fileOf(text, "csv");
    const strict = await importing("users", path, workspace);
    assert.deepEqual([strict.code, strict.stdout], [2, "1 user imported, 2 rejected\n"]);
    assert.match(strict.stderr, /:3: 'visits' must be a number; pass --type "visits=text"/);
    const types = ["--type", "visits=number?", "--type", "joined=time?"];
    const lenient = await importing("users", path, workspace, ...types);
    assert.deepEqual(
      [lenient.code, lenient.stdout],
      [2, "3 users imported, 0 rejected, 2 imported in part\n"],
    );
    assert.match(lenient.stderr, /:3: 'visits' is not a number \(COLUMN_TYPE\)/);
    assert.match(
      lenient.stderr,
      /:4: 'joined' is not a time, such as 2026-01-31T12:00:00Z or 31\.1\.2026 \(COLUMN_TYPE\)/,
    );
    const users = await workspace.profiles({ external_ids: ["a", "b", "c"] });
    const joined = "2020-01-01T00:00:00.000Z";
    assert.deepEqual(
      new Map(users.map((user) => [user.external_id, user.custom_attributes])),
      new Map<unknown, unknown>([
        ["a", { visits: 1, joined }],
        ["b", { joined }],
        ["c", { visits: 3 }],
      ]),
    );
  });

  test("--map puts a column into a nested attribute, and two columns with one target are refused", async () => {
    const workspace = await server.workspace();
    const path = await fileOf("id,City,Zip\na,London,00123\n", "csv");
    const map = ["--map", "id=external_id", "--map", "City=address.city"];
    const nested = [...map, "--map", "Zip=address.zip"];
    assert.equal((await importing("users", path, workspace, ...nested)).code, 0);
    const { custom_attributes } = await workspace.profile({ external_ids: ["a"] });
    assert.deepEqual(custom_attributes, { address: { city: "London", zip: "00123" } });
    const twice = await importing("users", path, workspace, ...map, "--map", "Zip=address.city");
    assert.match(twice.stderr, /columns 'City' and 'Zip' both set 'address.city'/);
    const part = await importing("users", path, workspace, ...map, "--map", "Zip=address");
    assert.match(part.stderr, /'City' sets a part of what the column 'Zip' sets/);
  });

  test("a CSV file of events takes its other columns as properties", async () => {
    const workspace = await server.workspace();
    const path = await fileOf(
      "external_id,name,time,plan,amount\nada,bought,2026-01-01T00:00:00Z,pro,7\n",
      "csv",
    );
    const { code, stderr } = await importing("events", path, workspace);
    assert.equal(code, 0);
    assert.match(stderr, /amount +→ {2}properties\.amount +number +7/);
  });
});

describe("a file of newline-delimited JSON", () => {
  test("a line of NDJSON ends at a line feed alone, and a byte order mark and long lines are no fault", async () => {
    const workspace = await server.workspace();
    const users = [
      { external_id: "r1", first_name: AWKWARD_TEXT },
      { external_id: "r2", custom_attributes: LONG_ATTRIBUTES },
      { external_id: `r3${AWKWARD_TEXT}`, first_name: "Eve" },
    ];
    const lines = users.map((user) => JSON.stringify(user));
    const path = await fileOf(`\uFEFF${lines.join("\r\n")}`, "ndjson");
    const { code, stdout, stderr } = await importing("users", path, workspace);
    assert.deepEqual([code, stdout], [0, "3 users imported, 0 rejected\n"], stderr);
    const external_ids = users.map((user) => user.external_id);
    const found = await workspace.profiles({ external_ids });
    const [ada, bob, eve] = external_ids.map((id) => found.find((each) => each.external_id === id));
    assert.deepEqual(
      [ada?.first_name, bob?.custom_attributes, eve?.first_name],
      [AWKWARD_TEXT, LONG_ATTRIBUTES, "Eve"],
    );
  });
});

describe("a file that cannot be imported", { concurrency: 3 }, () => {
  const GOOD = '{"external_id":"ada"}\n';
  const gzipped = gzipSync(GOOD.repeat(5_000));

  const refused: [
    what: string,
    content: string | Uint8Array,
    extension: string,
    message: RegExp,
  ][] = [
    ["a binary file", Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 0, 1]), "ndjson", /is a binary file/],
    ["a zip archive", Buffer.from("PK\u0003\u0004 and more"), "csv", /is a zip archive/],
    ["text in UTF-16", Buffer.from(`\uFEFF${GOOD}`, "utf16le"), "ndjson", /UTF-16: convert it/],
    ["gzip that ends early", gzipped.subarray(0, -20), "ndjson.gz", /ends in the middle/],
    ["damaged gzip", Buffer.concat([gzipped.subarray(0, 20), gzipped]), "ndjson.gz", /is damaged/],
    ["an empty file", "", "ndjson", /is empty\.$/],
    ["one JSON array", `[${GOOD}]`, "ndjson", /is one JSON array\. Write one object a line: jq/],
    ["a header with a column twice", "a,b,a\n1,2,3\n", "csv", /has 'a' twice, in columns 1 and 3/],
    ["a quote that is never closed", 'external_id\n"ada\nbob\n', "csv", /:3: .*never closed/],
  ];
  for (const [what, content, extension, message] of sample(refused, 3)) {
    test(`a CSV file is refused with the reason and nothing of it is imported: ${what}`, async () => {
      const workspace = await server.workspace();
      const path = await fileOf(content, extension);
      const { code, stdout, stderr } = await importing("users", path, workspace);
      assert.deepEqual([code, stdout], [1, ""]);
      const [line = ""] = stderr.split("\n").filter((each) => each.startsWith("rapport: "));
      assert.match(line, message);
      assert.equal((await workspace.profiles({ external_ids: ["ada"] })).length, 0);
    });
  }

  test("because it does not exist is named", async () => {
    const workspace = await server.workspace();
    const path = join(folder, "missing");
    const { code, stderr } = await importing("users", path, workspace);
    assert.deepEqual([code, stderr], [1, `rapport: ${path}: there is no such file or folder.\n`]);
  });

  test("in one line of 10 MB, or in bytes that are not UTF-8, costs that line alone", async () => {
    const workspace = await server.workspace();
    const long = JSON.stringify({ external_id: "long", note: "x".repeat(10_000_000) });
    const latin = Buffer.from('{"external_id":"latin","first_name":"Ren\u00e9"}\n', "latin1");
    const content = Buffer.concat([Buffer.from(`${long}\n${GOOD}`), latin, Buffer.from(GOOD)]);
    const path = await fileOf(content, "ndjson");
    const { code, stdout, stderr } = await importing("users", path, workspace);
    assert.deepEqual([code, stdout], [2, "2 users imported, 2 rejected\n"]);
    assert.match(stderr, /:1: the line is longer than 2000000 bytes \(LINE_TOO_LONG\)$/m);
    assert.match(stderr, /:3: the line is not UTF-8: .* \(INVALID_UTF8\)$/m);
    const csv = Buffer.from("external_id,first_name\nc1,Ren\u00e9\nc2,Ada\n", "latin1");
    const mixed = await importing("users", await fileOf(csv, "csv"), workspace);
    assert.deepEqual([mixed.code, mixed.stdout], [2, "1 user imported, 1 rejected\n"]);
  });
});

describe("an export of another product", () => {
  for (const preset of sample(["segment", "rudderstack"], 1)) {
    test(`an export of ${preset} becomes users, events and purchases`, async () => {
      const workspace = await server.workspace();
      const path = fixture(`${preset}.ndjson`);
      const outputs: string[] = [];
      for (const kind of ["users", "events", "purchases"]) {
        const { code, stdout, stderr } = await importing(kind, path, workspace, "--preset", preset);
        assert.equal(code, 0, stderr);
        outputs.push(stdout.replace(/,.*/, "").trim());
      }
      assert.deepEqual(outputs, ["2 users imported", "3 events imported", "2 purchases imported"]);
      const ada = await workspace.profile({ external_ids: ["ada-1"] });
      assert.deepEqual(
        [ada.first_name, ada.last_name, ada.email, ada.home_city, ada.custom_attributes],
        ["Ada", "Lovelace", "ada@example.com", "London", { plan: "pro", logins: 5 }],
      );
      assert.deepEqual(
        ada.custom_events.map(({ name, count }: { name: string; count: number }) => [name, count]),
        [
          ["Order Completed", 1],
          ["Song Played", 1],
        ],
      );
      assert.equal(ada.total_revenue, 2 * 4.5 + 20);
      const aliases = [{ alias_name: "anonymous-2", alias_label: "anonymous_id" }];
      assert.equal((await workspace.profile({ user_aliases: aliases })).first_name, "Grace");
    });
  }

  test("an export of Braze becomes users with history, and Currents files become events and purchases", async () => {
    const workspace = await server.workspace();
    const profiles = fixture("braze-users.ndjson");
    const users = await importing("users", profiles, workspace, "--preset", "braze");
    assert.equal(users.code, 0, users.stderr);
    assert.match(
      users.stderr,
      /^Left out: the app 'Old iOS', which the workspace does not have\.$/m,
    );
    const jane = await workspace.profile({ external_ids: ["A8i3mkd99"] });
    assert.deepEqual(
      [
        jane.first_name,
        jane.email_subscribe,
        jane.custom_attributes.loyaltyId,
        jane.apps[0].app_id,
      ],
      ["Jane", "opted_in", "37c98b9d-9a7f-4b2f-a125-d873c5152856", WEB_APP],
    );
    assert.deepEqual(jane.user_aliases, [{ alias_name: "user_123", alias_label: "amplitude_id" }]);
    assert.equal(
      jane.campaigns_received[0].api_campaign_id,
      "d72fdc84-ddda-44f1-a0d5-0e79f47ef942",
    );
    const currents = fixture("braze-currents.ndjson");
    for (const kind of ["events", "purchases"]) {
      const { code, stdout } = await importing(kind, currents, workspace, "--preset", "braze");
      assert.equal(code, 0);
      assert.match(stdout, /^1 \w+ imported, 0 rejected, 1 records of another kind passed over\n$/);
    }
    const after = await workspace.profile({ external_ids: ["A8i3mkd99"] });
    assert.deepEqual([after.custom_events[0].name, after.total_revenue], ["Finished Lesson", 9.99]);
  });
});
