/* The settings of a server: defaults, what each takes, and the sentence about one that cannot be meant. */
import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { packageRoot } from "../../src/base/package-root.ts";
import {
  type Config,
  InvalidSetting,
  processesFor,
  readConfig,
  SETTINGS,
} from "../../src/server/config.ts";
import { freePort } from "../free-port.ts";
import { runCommand } from "../system/child-server.ts";

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

  test("a server with an invalid setting prints the reason and exits with code 1", async () => {
    const { code, stdout, stderr } = await runCommand(["serve"], { PORT: "http" });
    assert.deepEqual([code, stdout], [1, ""]);
    assert.match(stderr, /^rapport: .*PORT.*whole number from 0 to 65535\.\n$/);
  });
});

describe("rapport --help", () => {
  for (const args of [["--help"], ["serve", "--help"]]) {
    test(`rapport ${args.join(" ")} lists every setting with its default`, async () => {
      const { code, stdout, stderr } = await runCommand(args, {});
      assert.deepEqual([code, stderr], [0, ""]);
      for (const [name, { about, default: value }] of Object.entries(SETTINGS)) {
        assert.ok(stdout.includes(name) && stdout.includes(about), name);
        if (value) assert.ok(stdout.includes(`(default: ${value})`), name);
      }
    });
  }

  test("rapport --help lists the subcommands, and each subcommand has its own help", async () => {
    const { stdout } = await runCommand(["--help"], {});
    const commands = [...stdout.matchAll(/^ {2}([a-z][a-z-]+)(?: \[| <| {2,})/gm)].map(
      ([, name]) => name,
    );
    const known = [
      "serve",
      "migrate",
      "apply",
      "schema",
      "users",
      "import",
      "export",
      "tail",
      "backup",
      "restore",
      "cdi",
      "keys",
      "secrets",
      "scim-tokens",
      "sign-in",
      "audit",
      "reset",
      "doctor",
      "completion",
    ];
    assert.deepEqual(commands, [...known, "help"]);
    for (const name of commands) {
      const help = await runCommand([name as string, "--help"], {});
      assert.equal(help.code, 0);
      assert.match(help.stdout, new RegExp(`^Usage: rapport ${name === "help" ? "" : name}`));
    }
  });

  test("the package has one executable, named rapport", () => {
    const text = readFileSync(join(packageRoot(), "package.json"), "utf8");
    const { bin } = JSON.parse(text) as { bin: Record<string, string> };
    assert.deepEqual(Object.keys(bin), ["rapport"]);
    const file = readFileSync(join(packageRoot(), bin.rapport ?? ""), "utf8");
    assert.match(file, /^#!\/usr\/bin\/env node\n/);
  });

  test("the build makes the rapport command executable for npx and the shell", () => {
    const { mode } = statSync(join(packageRoot(), "dist", "bundle", "main.js"));
    assert.equal(mode & 0o111, 0o111);
  });

  test("rapport --version prints the version of the package", async () => {
    const { version } = JSON.parse(readFileSync(join(packageRoot(), "package.json"), "utf8"));
    const { code, stdout } = await runCommand(["--version"], {});
    assert.deepEqual([code, stdout], [0, `${version}\n`]);
  });

  test("an unknown subcommand, an unknown option and a missing argument end with an error message", async () => {
    for (const args of [["fly"], ["serve", "--fly"], ["apply"]]) {
      const { code, stderr } = await runCommand(args, { PORT: "0", DATA_DIR: "memory:" });
      assert.equal(code, 1, args.join(" "));
      assert.match(stderr, /^error: /m);
    }
    const { stderr } = await runCommand(["aply"], {});
    assert.equal(stderr, "error: unknown command 'aply'\n(Did you mean apply?)\n");
  });
});

describe("a command that talks to a server", () => {
  test("a client command finds the server through PORT or RAPPORT_URL and explains an unreachable one", async () => {
    const port = String(await freePort("127.0.0.1"));
    const url = `http://127.0.0.1:${port}`;
    const cases: [environment: Record<string, string>, url: string][] = [
      [{ PORT: port }, url],
      [{ PORT: "1", RAPPORT_URL: url }, url],
    ];
    for (const [environment, url] of cases) {
      const { code, stderr } = await runCommand(["keys", "list", "demo"], {
        ADMIN_TOKEN: "x",
        ...environment,
      });
      assert.equal(code, 1);
      assert.ok(stderr.startsWith(`rapport: The server at ${url} cannot be reached: `), stderr);
      assert.match(stderr, /pass --url, or set RAPPORT_URL or PORT\.\n$/);
    }
  });

  test("a client command reports when the server at the URL is not a Rapport server", async () => {
    const other = createServer((_request, response) => {
      response.writeHead(404, { "content-type": "text/html" }).end("<html>");
    });
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const RAPPORT_URL = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    const { code, stderr } = await runCommand(["keys", "list", "demo"], {
      ADMIN_TOKEN: "x",
      RAPPORT_URL,
    });
    other.close();
    assert.equal(code, 1);
    assert.equal(
      stderr,
      `rapport: The server at ${RAPPORT_URL} is not a Rapport server: it responded with 404 and text/html ` +
        "instead of JSON. For another server pass --url, or set RAPPORT_URL or PORT.\n",
    );
  });

  test("a --workers value that is not a whole number from 1 to 256 is refused with an example", async () => {
    const { code, stderr } = await runCommand(["serve", "--workers", "many"], {});
    assert.equal(code, 1);
    assert.equal(
      stderr,
      "error: option '--workers <count>' argument 'many' is invalid. " +
        "It is a whole number from 1 to 256, such as --workers 2.\n",
    );
  });
});
