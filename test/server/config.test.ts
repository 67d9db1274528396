/* The settings of a server: defaults, accepted values, and the sentence about an impossible one. */
import assert from "node:assert/strict";
import { availableParallelism } from "node:os";
import { describe, test } from "node:test";
import {
  type Config,
  InvalidSetting,
  processesFor,
  readConfig,
  SETTINGS,
} from "../../src/server/config.ts";

function assertHas(config: Config, expected: Partial<Config>): void {
  for (const [name, value] of Object.entries(expected)) {
    assert.deepEqual(config[name as keyof Config], value, name);
  }
}

describe("the settings of a server", () => {
  test("the default settings are the embedded engine in ./data and port 8080 on the loopback address", () => {
    assertHas(readConfig({}), {
      host: "127.0.0.1",
      port: 8080,
      dataDir: "./data",
      databaseUrl: undefined,
      manifest: undefined,
      adminToken: undefined,
      logLevel: "info",
      workers: 1,
      trustedProxies: [],
      metricsPort: undefined,
      metricsHost: "127.0.0.1",
      demo: true,
      shortestSecret: 24,
    });
  });

  test("settings are read without surrounding spaces, and an empty setting counts as unset", () => {
    const config = readConfig({
      HOST: " 0.0.0.0 ",
      PORT: "0",
      DATA_DIR: "memory:",
      DATABASE_URL: "postgresql://user:password@db.example:5432/rapport",
      MANIFEST: "manifest.yaml",
      MANIFEST_FORCE: "true",
      ADMIN_TOKEN: "token",
      LOG_LEVEL: "silent",
      WEB_CONCURRENCY: "4",
      TRUSTED_PROXIES: "10.0.0.0/8, ::1",
      METRICS_PORT: "9090",
    });
    assertHas(config, {
      host: "0.0.0.0",
      port: 0,
      dataDir: "memory:",
      databaseUrl: "postgresql://user:password@db.example:5432/rapport",
      manifest: "manifest.yaml",
      manifestForce: true,
      adminToken: "token",
      logLevel: "silent",
      workers: 4,
      trustedProxies: ["10.0.0.0/8", "::1"],
      metricsPort: 9090,
      metricsHost: "127.0.0.1",
      demo: false,
      shortestSecret: 1,
    });
    const empty = Object.fromEntries(Object.keys(SETTINGS).map((name) => [name, " "]));
    assert.deepEqual(readConfig(empty), readConfig({}));
  });

  test("the default is one process per four cores, at most four, on PostgreSQL and one process embedded", () => {
    const cores = [1, 2, 3, 4, 8, 64].map(processesFor);
    assert.deepEqual(cores, [1, 1, 1, 1, 2, 4]);
    const postgres = readConfig({ DATABASE_URL: "postgres://localhost/rapport" });
    assert.equal(postgres.workers, processesFor(availableParallelism()));
    assert.equal(readConfig({ DATA_DIR: "memory:" }).workers, 1);
  });

  const wrong: [name: string, values: string[]][] = [
    ["PORT", ["-1", "65536", "80a", "8.5", "http"]],
    ["METRICS_PORT", ["65536", "x"]],
    ["DATABASE_URL", ["mysql://user:password@host/db", "host=localhost password=password"]],
    ["LOG_LEVEL", ["loud", "INFO"]],
    ["WEB_CONCURRENCY", ["0", "-1", "1.5", "many", "257", "2"]],
    ["TRUSTED_PROXIES", ["proxy.example", "10.0.0.0/33"]],
    ["PUBLIC_URL", ["rapport.example", "ftp://rapport.example", "https://u:password@x.example"]],
    ["SMTP_URL", ["mail.example:25", "https://user:password@mail.example"]],
    ["REQUEST_TIMEOUT", ["0", "3601", "1m"]],
    ["MAX_FAILED_AUTH", ["0", "1000001", "few"]],
    ["MAX_EVENT_LOOP_DELAY", ["0", "3601", "1ms"]],
    ["MAX_REQUESTS", ["0", "1000001", "many"]],
    ["JOB_LEASE_SECONDS", ["0", "3601", "x"]],
  ];
  for (const [name, values] of wrong) {
    for (const value of values) {
      test(`${name}=${value} is refused with a message that names the setting`, () => {
        assert.throws(
          () => readConfig({ [name]: value }),
          (error: Error) => {
            assert.ok(error instanceof InvalidSetting);
            assert.match(error.message, new RegExp(`${name}.*\\.$`));
            assert.ok(!error.message.includes("password"), "It tells a password.");
            return true;
          },
        );
      });
    }
  }
});

test("every invalid setting is named at once, misspelt ones included", () => {
  const wrong = {
    PORT: "x",
    LOG_LEVEL: "loud",
    REQUEST_TIMEOUT: "0",
    DATABSE_URL: "postgres://h/d",
  };
  assert.throws(
    () => readConfig(wrong),
    ({ message }: Error) => {
      assert.deepEqual(
        message
          .split("\n")
          .map((line) => line.split("=", 1)[0])
          .sort(),
        Object.keys(wrong).sort(),
      );
      return true;
    },
  );
  // Those that only contradict each other, too.
  const both = {
    SECRET_KEY: "a",
    SECRET_KEY_FILE: "b",
    WEB_CONCURRENCY: "2",
    OIDC_ISSUER: "https://i.example",
  };
  assert.throws(
    () => readConfig(both),
    /^\w+: SECRET_KEY_FILE=b: .*\nWEB_CONCURRENCY=2: .*\nOIDC_CLIENT_ID=: /,
  );
});

describe("the names of settings", () => {
  const misspelt: [name: string, meant: string][] = [
    ["DATABSE_URL", "DATABASE_URL"],
    ["DATABASEURL", "DATABASE_URL"],
    ["database_url", "DATABASE_URL"],
    ["RAPPORT_PORT", "PORT"],
    ["SECRETKEY", "SECRET_KEY"],
    ["SECRET_KEY_FIEL", "SECRET_KEY_FILE"],
    ["ADMIN_TOKENS", "ADMIN_TOKEN"],
    ["OTEL_EXPORTER_OTPL_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"],
  ];
  for (const [name, meant] of misspelt) {
    test(`${name} is refused with the question whether ${meant} is meant, and without its value`, () => {
      assert.throws(
        () => readConfig({ [name]: "postgres://user:password@host/db" }),
        (error: Error) => {
          assert.ok(error instanceof InvalidSetting);
          assert.match(error.message, new RegExp(`^${name}=…: .*did you mean ${meant}\\?`));
          return true;
        },
      );
    });
  }

  test("variables of other programs are no misspelt settings, and neither is an empty one", () => {
    readConfig({
      ...process.env,
      PATH: "/bin",
      HOME: "/root",
      HOSTNAME: "host",
      POST: "1",
      LOGNAME: "root",
      MANPATH: "/man",
      SMTP_HOST: "mail",
      SMTP_PORT: "25",
      SECRET_KEY_BASE: "a",
      TEST_DATABASE_URL: "postgres://localhost/test",
      ADMIN_TOKEN_2: "for a manifest",
      RAPPORT_URL: "http://127.0.0.1:8080",
      OTEL_EXPORTER_OTLP_HEADERS: "a=b",
      XDG_DATA_DIRS: "/usr/share",
      DATABSE_URL: " ",
    });
  });
});
