/* Every reason for which a server does not start: `rapport doctor` reports it in the same words, before anyone tries. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { examineAll } from "../../src/cli/doctor.ts";
import { explainError } from "../../src/cli/explain-error.ts";
import { createSealing } from "../../src/core/admin/secrets/sealing.ts";
import { readConfig } from "../../src/server/config.ts";
import { openDatabase } from "../../src/server/open-database.ts";
import { serve } from "../../src/server/serve.ts";
import { DATABASE_CHECKS, settingChecks } from "../../src/server/start-checks.ts";
import { testConfig } from "../harness.ts";
import { sized } from "../sizes.ts";
import { temporaryFolder } from "../stored-rows.ts";

type Environment = Readonly<Record<string, string>>;

interface Reason {
  /** Doctor's name of the check. */
  readonly check: string;
  readonly environment: Environment;
  readonly message: RegExp;
}

const KEY = "the-secret-key-of-this-test-1";
const folder = await temporaryFolder();
const at = (name: string) => join(folder, name);
const file = async (name: string, text: string): Promise<string> => {
  await writeFile(at(name), text);
  return at(name);
};

const manifest = (more: object) => ({
  company: { name: "Test" },
  workspaces: [{ name: "shop", ...more }],
});
const KEYS = [{ name: "one", key: "key-of-the-start-checks-0001", permissions: ["all"] }];

const LOST = at("lost");
const EMPTY = await file("empty", "\n");

/** Faults of the settings and the files that they name. None of it needs a database. */
const OF_SETTINGS: readonly Reason[] = [
  { check: "settings", environment: { PORT: "many" }, message: /^PORT=many: a port is/ },
  {
    check: "settings",
    environment: { DATABSE_URL: "postgres://127.0.0.1/rapport" },
    message: /did you mean DATABASE_URL/,
  },
  {
    check: "settings",
    environment: { SECRET_KEY: KEY, SECRET_KEY_FILE: EMPTY },
    message: /SECRET_KEY is set too/,
  },
  {
    check: "settings",
    environment: { OIDC_ISSUER: "https://id.example" },
    message: /OIDC_CLIENT_ID/,
  },
  { check: "settings", environment: { WEB_CONCURRENCY: "2" }, message: /serves one process/ },
  {
    check: "settings",
    environment: { OTEL_EXPORTER_OTLP_ENDPOINT: "x" },
    message: /is an address/,
  },
  {
    check: "admin token",
    environment: { ADMIN_TOKEN: "short" },
    message: /^ADMIN_TOKEN has 5 char/,
  },
  { check: "secret key", environment: { SECRET_KEY: "short" }, message: /^SECRET_KEY has 5 char/ },
  {
    check: "secret key",
    environment: { SECRET_KEY: KEY, PREVIOUS_SECRET_KEY: "short" },
    message: /^PREVIOUS_SECRET_KEY has 5 char/,
  },
  {
    check: "secret key",
    environment: { SECRET_KEY_FILE: LOST },
    message: /lost: it cannot be read/,
  },
  { check: "secret key", environment: { SECRET_KEY_FILE: EMPTY }, message: /empty: it is empty/ },
  {
    check: "sign-in",
    environment: {
      OIDC_ISSUER: "https://id.example",
      OIDC_CLIENT_ID: "rapport",
      OIDC_CLIENT_SECRET_FILE: LOST,
    },
    message: /^OIDC_CLIENT_SECRET_FILE=.*lost: it cannot be read/,
  },
  { check: "data folder", environment: { DATA_DIR: EMPTY }, message: /is not a folder|folder/ },
  {
    check: "manifest",
    environment: { MANIFEST: LOST },
    message: /lost: it cannot be read \(ENOENT/,
  },
  {
    check: "manifest",
    environment: { MANIFEST: await file("broken.yaml", "company: {") },
    message: /broken\.yaml:1:/,
  },
  {
    check: "manifest",
    environment: { MANIFEST: await file("unset.yaml", `company: { name: '${"$"}{NOT_SET}' }`) },
    message: /needs the environment variable NOT_SET/,
  },
  {
    check: "manifest",
    environment: {
      MANIFEST: await file("wrong.json", JSON.stringify(manifest({ api_keys: [{ nam: "x" }] }))),
    },
    message: /wrong\.json:1:.*nam/,
  },
];

const ONE_OF_EACH = OF_SETTINGS.filter(
  ({ check }, place) => OF_SETTINGS.findIndex((each) => each.check === check) === place,
);

const engineOf = async (): Promise<Environment> => {
  const { databaseUrl } = await testConfig();
  const dataDir = join(await temporaryFolder(), "data");
  return { DATA_DIR: dataDir, ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }) };
};

const withUsual = (environment: Environment) => ({
  PORT: "0",
  LOG_LEVEL: "silent",
  DEMO: "false",
  ...environment,
});

/** What no server needs for its settings; doctor does not open an engine for each. */
const NO_DATABASE = { DATABASE_URL: "postgres://nobody@127.0.0.1:9/none", DATABASE_WAIT: "0" };

/** The error of a server that does not start with these settings. */
async function refusalOf(environment: Environment): Promise<string> {
  try {
    const server = await serve(readConfig(withUsual(environment)));
    await server.stop();
    return "It has started.";
  } catch (error) {
    return explainError(error);
  }
}

/** Compares what both say. */
async function assertRefused({ check, environment, message }: Reason): Promise<void> {
  const refusal = await refusalOf(environment);
  assert.match(refusal, message, JSON.stringify(environment));
  const findings = await examineAll(withUsual(environment));
  const failed = findings.filter(({ status }) => status === "failed");
  assert.ok(
    failed.some((each) => each.check === check && each.message === refusal),
    `${refusal}\n${JSON.stringify(findings)}`,
  );
}

describe("rapport doctor and rapport serve", () => {
  test("doctor reports each setting or file that keeps serve from starting, in the same words", async () => {
    for (const { check, environment, message } of sized(ONE_OF_EACH, OF_SETTINGS)) {
      const isAboutEmbedded = "DATA_DIR" in environment || "WEB_CONCURRENCY" in environment;
      const more = isAboutEmbedded ? {} : NO_DATABASE;
      const dataDir = join(await temporaryFolder(), "data");
      await assertRefused({
        check,
        environment: { DATA_DIR: dataDir, ...more, ...environment },
        message,
      });
    }
    const covered = new Set(OF_SETTINGS.map(({ check }) => check));
    assert.deepEqual(
      [...covered].sort(),
      [...Object.keys(await settingChecks()), "settings"].sort(),
    );
  });

  test("doctor reports faults of the database that keep serve from starting, in the same words, and changes nothing", async () => {
    const engine = await engineOf();
    const first = await file("first.json", JSON.stringify(manifest({ api_keys: KEYS })));
    const started = { ...engine, SECRET_KEY: KEY };
    assert.equal(await refusalOf({ ...started, MANIFEST: first }), "It has started.");
    const database = await openDatabase(readConfig(withUsual(engine)));
    const sealing = createSealing({ current: KEY, previous: undefined });
    await database.transaction((tx) => sealing.seal(tx, "secret", "place"));
    await database.close();

    const other = {
      ...manifest({ api_keys: KEYS }),
      workspaces: [{ name: "cafe", api_keys: KEYS }],
    };
    const taken = await file("taken.json", JSON.stringify(other));
    await assertRefused({
      check: "secret key",
      environment: { ...engine, SECRET_KEY: `${KEY}-other` },
      message: /^The secrets in this database are sealed with the key/,
    });
    await assertRefused({
      check: "manifest",
      environment: { ...started, MANIFEST: taken },
      message: /taken\.json:1:\d+: /,
    });
    const healthy = await examineAll(withUsual({ ...started, MANIFEST: first }));
    assert.deepEqual(
      healthy.filter(({ status }) => status === "failed"),
      [],
    );

    const newer = await openDatabase(readConfig(withUsual(engine)));
    await newer.query("insert into migrations (name, checksum) values ('9999-newer.sql', 'x')");
    await newer.close();
    await assertRefused({ check: "schema", environment: started, message: /9999-newer\.sql/ });
    assert.deepEqual(Object.keys(DATABASE_CHECKS).sort(), [
      "admin token",
      "data folder",
      "manifest",
      "schema",
      "secret key",
      "writes",
    ]);
  });

  test("doctor applies the manifest of a first start to an empty database, as serve does", async () => {
    const both = [{ name: "shop" }, { name: "cafe" }].map((each) => ({ ...each, api_keys: KEYS }));
    const path = await file("twice.json", JSON.stringify({ ...manifest({}), workspaces: both }));
    await assertRefused({
      check: "manifest",
      environment: { ...(await engineOf()), MANIFEST: path },
      message: /twice\.json:1:\d+: /,
    });
  });
});
