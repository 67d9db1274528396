/* CSV files as people and old programs write them. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { AWKWARD_TEXT } from "../../../awkward-text.ts";
import { startServer, type TestWorkspace } from "../../../harness.ts";
import { temporaryFolder } from "../../../stored-rows.ts";
import { runCommand } from "../../../system/child-server.ts";

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

describe("a CSV file", { concurrency: 3 }, () => {
  test("a file that people wrote is imported with their headings, decimals, blanks and dates", async () => {
    const workspace = await server.workspace();
    const text =
      "Customer ID;E-Mail Address;First Name;Birthday;Spent;Since\n" +
      "c-1; ada@example.com ; Ada ;10.12.1990;1.234,56;31.01.2024\n" +
      "c-2;bob@example.com;Bob;;9,90;05.11.2025\n";
    const path = await fileOf(text, "csv");
    const how = ["--decimal", ",", "--trim", "--date-format", "dd.mm.yyyy"];
    const { code, stdout, stderr } = await importing("users", path, workspace, ...how);
    assert.deepEqual([code, stdout], [0, "2 users imported, 0 rejected\n"], stderr);
    const [ada] = await workspace.profiles({ external_ids: ["c-1"] });
    assert.deepEqual(
      [ada?.email, ada?.first_name, ada?.dob, ada?.custom_attributes],
      ["ada@example.com", "Ada", "1990-12-10", { Spent: 1234.56, Since: "2024-01-31" }],
    );
  });

  test("a file whose dates can be read in two ways is refused with the option, and nothing of it is imported", async () => {
    const workspace = await server.workspace();
    const path = await fileOf("Customer ID,Birthday\na,03/04/1990\nb,04/05/1991\n", "csv");
    const { code, stdout, stderr } = await importing("users", path, workspace);
    assert.deepEqual([code, stdout], [1, ""]);
    assert.match(
      stderr,
      /^rapport: The dates of the column 'Birthday' can be read in two ways.*--date-format dmy or mdy/m,
    );
    assert.equal((await workspace.profiles({ external_ids: ["a"] })).length, 0);
  });

  test("without a terminal, users are found by phone only with --by-phone, and a dry run says so", async () => {
    const workspace = await server.workspace();
    const path = await fileOf("Account,Phone Number\na-1,+14155552671\n", "csv");
    const refused = await importing("users", path, workspace);
    assert.deepEqual([refused.code, refused.stdout], [1, ""]);
    assert.match(
      refused.stderr,
      /No column is an id or an email address: users are found by phone\. .*pass --by-phone\.$/m,
    );
    const tried = await importing("users", path, workspace, "--dry-run");
    assert.deepEqual([tried.code, tried.stdout], [0, "1 user would be imported, 0 rejected\n"]);
    assert.match(tried.stderr, /users are found by phone/);
    const allowed = await importing("users", path, workspace, "--by-phone");
    assert.deepEqual([allowed.code, allowed.stdout], [0, "1 user imported, 0 rejected\n"]);
    const mapped = await importing("users", path, workspace, "--map", "Account=external_id");
    assert.equal(mapped.code, 0, mapped.stderr);
  });

  test("rows with more values than a request may hold are imported in smaller requests", async () => {
    const workspace = await server.workspace();
    const attributes = Object.fromEntries(Array.from({ length: 150 }, (_, n) => [`a${n}`, n]));
    const rows = Array.from({ length: 1_000 }, (_, n) => ({ external_id: `u${n}`, ...attributes }));
    const large = { external_id: "large", list: Array.from({ length: 60_000 }, () => 1) };
    const text = [...rows, large].map((row) => JSON.stringify(row)).join("\n");
    const path = await fileOf(text, "ndjson");
    const { stdout, stderr } = await importing("users", path, workspace);
    assert.equal(stdout, "1,000 users imported, 1 rejected\n", stderr);
    assert.match(stderr, /:1001: the row has more than 50000 JSON values \(TOO_MANY_VALUES\)/);
    assert.doesNotMatch(stderr, /smaller requests/);
  });

  test("a CSV file whose rows end with and without carriage returns is imported row by row", async () => {
    const workspace = await server.workspace();
    const text = AWKWARD_TEXT.replaceAll('"', "");
    const rows = [
      "external_id,plan,note\r\n",
      "r1,pro,a\n",
      `r2,pro,"${text}"\r\n`,
      "r3,free,b\u2028c\rd\n",
      "r4,free,e",
    ];
    const ids = ["r1", "r2", "r3", "r4"];
    const expected = [
      { plan: "pro", note: "a" },
      { plan: "pro", note: text },
      { plan: "free", note: "b\u2028c\rd" },
      { plan: "free", note: "e" },
    ];
    for (const mark of ["\uFEFF", ""]) {
      const path = await fileOf(mark + rows.join(""), "csv");
      const { code, stderr } = await importing("users", path, workspace, "--again");
      assert.equal(code, 0, stderr);
      const users = await workspace.profiles({ external_ids: ids });
      assert.deepEqual(
        ids.map((id) => users.find((each) => each.external_id === id)?.custom_attributes),
        expected,
      );
    }
  });

  test("a CSV file of an old Mac, with carriage returns alone, is imported", async () => {
    const workspace = await server.workspace();
    const path = await fileOf('external_id;first_name\rr1;Ada\rr2;"B\nob"\r', "csv");
    assert.equal((await importing("users", path, workspace)).code, 0);
    const users = await workspace.profiles({ external_ids: ["r1", "r2"] });
    assert.deepEqual(users.map((user) => user.first_name).sort(), ["Ada", "B\nob"]);
  });
});
