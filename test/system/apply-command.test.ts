/*
 * Manifests in files: `rapport apply` against a running server, and MANIFEST at a start. Every fault is
 * reported with the file, the line, the column and the rule, and nothing is applied.
 */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { startServer, testConfig } from "../harness.ts";
import { sample } from "../sizes.ts";
import { temporaryFolder } from "../stored-rows.ts";
import { type Environment, post, runCommand, startChild } from "./child-server.ts";

const server = await startServer();
const folder = await temporaryFolder();
// Names the company, so that no test does; and has a key that others may not take.
await server.workspace({ api_keys: [{ name: "a", key: "taken-key", permissions: [] }] });

let files = 0;
async function manifestFile(text: string, extension = "yaml"): Promise<string> {
  const path = join(folder, `manifest-${++files}.${extension}`);
  await writeFile(path, text);
  return path;
}

/** Runs `rapport apply` with the token of the server, unless the environment has another. */
const apply = (path: string, environment: Environment = {}, ...more: string[]) =>
  runCommand(["apply", path, "--url", server.url, ...more], {
    ADMIN_TOKEN: server.adminToken,
    ...environment,
  });

const EVENT = { external_id: "ada", name: "opened", time: "2026-01-01T12:00:00Z" };

const keyWorks = async (key: string, url = server.url): Promise<boolean> =>
  (await post(`${url}/users/track`, key, { events: [EVENT] })).status === 201;

const variable = (name: string): string => `\${${name}}`;

const GOOD = (name: string, key = `${name}-key`) => `
company:
  name: Test
workspaces:
  - name: ${name}
    api_keys: [{ name: dev, key: "${key}", permissions: [all] }]
    subscription_groups:
      - { id: g1, name: Newsletter, channel: email }
`;

describe("rapport apply", { concurrency: 4 }, () => {
  test("rapport apply applies a manifest and lists the changes; applying it again changes nothing", async () => {
    const path = await manifestFile(GOOD("file-1"));
    const first = await apply(path);
    assert.deepEqual(first, {
      code: 0,
      stdout:
        "created workspace file-1\ncreated api_key dev in file-1\n" +
        "created subscription_group Newsletter in file-1\n" +
        "created preference_center default in file-1\n",
      stderr: "",
    });
    assert.equal(await keyWorks("file-1-key"), true);
    assert.deepEqual(await apply(path), { code: 0, stdout: "Nothing to change.\n", stderr: "" });
  });

  test("rapport apply accepts a manifest in JSON", async () => {
    const manifest = {
      company: { name: "Test" },
      workspaces: [{ name: "json", api_keys: [{ name: "a", key: "json-key", permissions: [] }] }],
    };
    const { code, stdout } = await apply(await manifestFile(JSON.stringify(manifest), "json"));
    assert.equal(code, 0);
    assert.match(stdout, /created api_key a in json/);
  });

  test("rapport apply substitutes environment variables and keeps the lower-case variables of pages", async () => {
    const text = GOOD("vars", `${variable("PREFIX")}-${variable("KEY")}`).replace(
      "Newsletter",
      `"To ${variable("you")}"`,
    );
    const path = await manifestFile(text);
    const { code, stdout } = await apply(path, { PREFIX: "pre", KEY: "fix" });
    assert.equal(code, 0);
    assert.match(stdout, /created subscription_group To \$\{you\} in vars/);
    assert.equal(await keyWorks("pre-fix"), true);
  });

  const faults: [what: string, text: string, place: string, rule: RegExp][] = [
    [
      "a variable that is not set",
      GOOD("f1", variable("NOT_SET")),
      "6:34",
      /NOT_SET, which is not set\.$/,
    ],
    ["a rule of the schema", GOOD("f2").replace("email", "fax"), "8:46", /email, sms, whatsapp$/],
    [
      "an alias that refers to what contains it",
      `${GOOD("f10")}more: &self\n  within: [{ it: *self }]\n`,
      "10:18",
      /^The alias '\*self' refers to what contains it\.$/,
    ],
    [
      "a key that is not known",
      GOOD("f3").replace("    api_keys", "    colour: red\n    api_keys"),
      "6:13",
      /'colour'$/,
    ],
    ["a member that is missing", GOOD("f4").replace("id: g1, ", ""), "8:9", /id' is required$/],
    [
      "a name that stands twice",
      `${GOOD("f5")}      - { id: g1, name: Again, channel: sms }\n`,
      "9:15",
      /has the id 'g1' twice\.$/,
    ],
    [
      "a key that another workspace has",
      GOOD("f6", "taken-key"),
      "6:15",
      /is already in use or was revoked\.$/,
    ],
    ["YAML that cannot be read", `${GOOD("f7")}  - [unclosed\n`, "10:1", /./],
    [
      "an alias that leads nowhere",
      GOOD("f8").replace("name: Test", "name: *nowhere"),
      "3:9",
      /alias/i,
    ],
    [
      "aliases that lead to far too much",
      `${GOOD("f9")}${[
        "a: &a [1]",
        ...[..."bcdef"].map((name, index) => {
          const before = "abcde"[index];
          return `${name}: &${name} [${Array(10).fill(`*${before}`).join(", ")}]`;
        }),
      ].join("\n")}\n`,
      "10:8",
      /resource exhaustion/,
    ],
    ["nothing", "", "1:1", /^The manifest must be an object$/],
  ];
  for (const [what, text, at, rule] of sample(faults, 4)) {
    test(`rapport apply reports file, line, column and rule of a fault and applies nothing: ${what}`, async () => {
      const path = await manifestFile(text);
      const { code, stdout, stderr } = await apply(path);
      assert.deepEqual([code, stdout], [1, ""]);
      const [firstLine = ""] = stderr.split("\n");
      const place = `rapport: ${path}:${at}: `;
      assert.ok(firstLine.startsWith(place), `${firstLine}\n${place}`);
      assert.match(firstLine.slice(place.length), rule);
      const name = /- name: (\w+)/.exec(text)?.[1];
      const { status } = await server.admin("GET", `/admin/v1/workspaces/${name ?? "none"}`);
      assert.equal(status, 404);
    });
  }

  test("rapport apply reports every fault of a manifest at once, one per line with its position", async () => {
    const text = GOOD("many")
      .replace("email", "fax")
      .replace(
        "    api_keys",
        "    colour: red\n    settings: { track_max_updates: many }\n    api_keys",
      );
    const path = await manifestFile(text);
    const { code, stderr } = await apply(path);
    assert.equal(code, 1);
    assert.deepEqual(
      stderr.split("\n").map((line) => line.replace("rapport: ", "").split(": ", 1)[0]),
      [`${path}:6:13`, `${path}:7:36`, `${path}:10:46`, ""],
    );
    const unset = await manifestFile(GOOD(variable("NO_NAME"), variable("NO_KEY")));
    assert.match((await apply(unset)).stderr, /:5:11: .*NO_NAME.*\n.*:6:34: .*NO_KEY/);
  });

  test("rapport apply --dry-run lists what would change and changes nothing", async () => {
    const path = await manifestFile(GOOD("dry", "key-of-the-dry-run"));
    const dry = await apply(path, {}, "--dry-run");
    assert.deepEqual([dry.code, dry.stderr], [0, ""]);
    assert.match(dry.stdout, /^would create workspace dry\nwould create api_key dev in dry\n/);
    assert.equal(await keyWorks("key-of-the-dry-run"), false);
    const { stdout } = await apply(path, {}, "--json");
    assert.equal(JSON.parse(stdout).changes[0].action, "created");
    assert.equal(await keyWorks("key-of-the-dry-run"), true);
  });

  test("rapport apply --dry-run shows each field that changes, and no secret", async () => {
    await apply(await manifestFile(GOOD("fields")));
    const changed = GOOD("fields", "another-key-of-fields")
      .replace("name: Newsletter", "name: Weekly")
      .replace("api_keys", "settings: { multi_language: true }\n    api_keys");
    const dry = await apply(await manifestFile(changed), {}, "--dry-run");
    assert.deepEqual(dry.stdout.split("\n"), [
      "would update workspace fields",
      "    settings.multi_language: false → true",
      "would update api_key dev in fields",
      "    (secret)",
      "would update subscription_group Weekly in fields",
      '    name: "Newsletter" → "Weekly"',
      "",
    ]);
  });

  test("rapport apply removes no key without --yes, and says which keys differ from the manifest and stay", async () => {
    const two = GOOD("careful").replace(
      "api_keys: [",
      'api_keys: [{ name: old, key: "old-key-of-careful", permissions: [all] }, ',
    );
    await apply(await manifestFile(two));
    const path = await manifestFile(GOOD("careful"));
    const refused = await apply(path);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /would remove api_key old in careful\n.*pass --yes\.\n$/s);
    assert.equal(await keyWorks("old-key-of-careful"), true);
    assert.equal((await apply(path, {}, "--yes")).stdout, "removed api_key old in careful\n");
    assert.equal(await keyWorks("old-key-of-careful"), false);
    await server.admin("POST", "/admin/v1/workspaces/careful/api-keys/dev/rotate", {});
    const drifted = await apply(path);
    assert.equal(
      drifted.stdout,
      "Nothing to change.\nnote: The API key 'dev' was rotated outside the manifest: the declared key is not in effect.\n",
    );
    const without = await manifestFile(GOOD("careful").replace(/ {4}api_keys.*\n/, ""));
    assert.equal(
      (await apply(without, {}, "--dry-run")).stdout,
      "Nothing to change.\nnote: api_key dev in careful stays: the manifest omits its list (--prune removes it).\n",
    );
  });

  test("rapport validate checks a manifest without a server, and reports every fault with its place", async () => {
    const good = await runCommand(
      ["validate", await manifestFile(GOOD("valid", "k".repeat(24)))],
      {},
    );
    assert.deepEqual([good.code, good.stderr], [0, ""]);
    assert.match(good.stdout, /is valid: \d+ changes to an empty server\.\n$/);
    // A key that two workspaces have is found only where both are applied.
    const twice = GOOD("one", "k".repeat(24));
    const second = twice.slice(twice.indexOf("  - name")).replace("name: one", "name: two");
    const faulty = await manifestFile(`${twice}${second}`);
    const refused = await runCommand(["validate", faulty], {});
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /:10:\d+: .*already in use/);
  });

  test("rapport apply --prune removes the entries of an omitted list only if --yes confirms it", async () => {
    await apply(await manifestFile(GOOD("pruned")));
    const without = await manifestFile(
      GOOD("pruned").replace(/ {4}subscription_groups:\n.*\n/, ""),
    );
    assert.equal((await apply(without)).stdout, "Nothing to change.\n");
    const removal = "subscription_group Newsletter in pruned\n";
    assert.equal(
      (await apply(without, {}, "--prune", "--dry-run")).stdout,
      `would remove ${removal}`,
    );
    const unconfirmed = await apply(without, {}, "--prune");
    assert.equal(unconfirmed.code, 1);
    assert.match(unconfirmed.stderr, /would remove subscription_group .*pass --yes\.\n$/s);
    assert.equal((await apply(without, {}, "--prune", "--yes")).stdout, `removed ${removal}`);
  });

  test("rapport apply explains a missing file, a wrong or missing token and an unreachable server", async () => {
    const path = await manifestFile(GOOD("file-1"));
    const missing = await apply(join(folder, "none.yaml"));
    assert.deepEqual([missing.code, missing.stdout], [1, ""]);
    assert.match(missing.stderr, /^rapport: .*none\.yaml: it cannot be read \(ENOENT\)\.\n$/);
    const stranger = await apply(path, { ADMIN_TOKEN: "wrong" });
    assert.deepEqual(
      [stranger.code, stranger.stderr],
      [
        1,
        "rapport: The server refused (401): Invalid admin token. API keys do not open /admin/v1. Set ADMIN_TOKEN, or pass --admin-token-file.\n",
      ],
    );
    const nowhere = await apply(path, {}, "--url", "http://127.0.0.1:9");
    assert.equal(nowhere.code, 1);
    assert.match(nowhere.stderr, /^rapport: The server at http:\/\/127\.0\.0\.1:9 cannot be reach/);
    const noToken = await apply(path, { ADMIN_TOKEN: "", DATA_DIR: folder });
    assert.equal(noToken.code, 1);
    assert.match(
      noToken.stderr,
      /^rapport: No admin token: set ADMIN_TOKEN, pass --admin-token-file/,
    );
  });

  test("rapport apply reads the admin token from --admin-token-file or from the local data folder", async () => {
    const path = await manifestFile(GOOD("file-1"));
    const dataDir = await temporaryFolder();
    const tokenFile = join(dataDir, "admin-token");
    await writeFile(tokenFile, `${server.adminToken}\n`);
    const given = await apply(path, { ADMIN_TOKEN: "" }, "--admin-token-file", tokenFile);
    assert.equal(given.code, 0);
    assert.equal((await apply(path, { ADMIN_TOKEN: "", DATA_DIR: dataDir })).code, 0);
  });
});

describe("MANIFEST at startup", () => {
  test("MANIFEST is applied before the first request instead of the demo workspace; a faulty one stops the start", async () => {
    const { databaseUrl } = await testConfig();
    const environment = {
      DATA_DIR: await temporaryFolder(),
      ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
    };
    const faults = [
      [GOOD("start").replace("email", "fax"), /^rapport: .*manifest-\d+\.yaml:8:46: .*whatsapp$/m],
      [
        GOOD("start").replace("Newsletter", '"a\\0"'),
        /manifest-\d+\.yaml:8:25: .*characters that are not allowed/,
      ],
    ] as const;
    for (const [faulty, message] of sample<(typeof faults)[number]>(faults, 1)) {
      const MANIFEST = await manifestFile(faulty);
      const refusal = await runCommand(["serve"], { ...environment, PORT: "0", MANIFEST });
      assert.equal(refusal.code, 1);
      assert.match(refusal.stderr, message);
    }

    const key = "key-of-the-started-server";
    const MANIFEST = await manifestFile(GOOD("start", key));
    const child = await startChild({ ...environment, MANIFEST });
    assert.doesNotMatch(child.greeting, /API key/);
    assert.equal(await keyWorks(key, child.url), true);
    assert.equal((await child.end("SIGTERM")).code, 0);
  });
});
