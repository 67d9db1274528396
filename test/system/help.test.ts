/* The texts that `rapport` prints about itself: help, version, and the sentences about impossible arguments and settings. */
import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, test } from "node:test";
import { packageRoot } from "../../src/core/base/package-root.ts";
import { SETTINGS } from "../../src/server/config.ts";
import { freePort } from "../free-port.ts";
import { sample } from "../sizes.ts";
import { runCommand } from "./child-server.ts";

test("a server with an invalid setting prints the reason and exits with code 1", async () => {
  const { code, stdout, stderr } = await runCommand(["serve"], { PORT: "http" });
  assert.deepEqual([code, stdout], [1, ""]);
  assert.match(stderr, /^rapport: .*PORT.*whole number from 0 to 65535\.\n$/);
});

describe("rapport settings", () => {
  test("rapport settings lists every setting with its default, or the named one", async () => {
    const { code, stdout, stderr } = await runCommand(["settings"], {});
    assert.deepEqual([code, stderr], [0, ""]);
    for (const [name, { about, default: value }] of Object.entries(SETTINGS)) {
      assert.ok(stdout.includes(name) && stdout.includes(about), name);
      if (value) assert.ok(stdout.includes(`(default: ${value})`), name);
    }
    const one = await runCommand(["settings", "PORT"], {});
    assert.match(one.stdout, /^ {2}PORT .*\(default: 8080\)\n$/);
    const none = await runCommand(["settings", "PORTS"], {});
    assert.match(none.stderr, /There is no setting PORTS; did you mean PORT\?/);
  });

  test("docs/settings.md lists the settings of the table with the same defaults", () => {
    const guide = readFileSync(join(packageRoot(), "docs/settings.md"), "utf8");
    const rows = [...guide.matchAll(/^\| `([A-Z_]+)` \| (?:`(.*?)`)? ?\|/gm)];
    assert.deepEqual(
      Object.fromEntries(rows.map(([, name, value = ""]) => [name, value])),
      Object.fromEntries(Object.entries(SETTINGS).map(([name, each]) => [name, each.default])),
    );
  });
});

describe("rapport --help", () => {
  test("a server with a misspelt setting does not start", async () => {
    const environment = { DATABSE_URL: "postgres://localhost/rapport", PORT: "0" };
    const { code, stdout, stderr } = await runCommand(["serve"], environment);
    assert.deepEqual([code, stdout], [1, ""]);
    assert.match(stderr, /^rapport: DATABSE_URL=…: there is no such setting; did you mean/);
  });

  test("the help of rapport fits on a screen and says where the settings are listed", async () => {
    for (const [args, most] of [
      [["--help"], 46],
      [["serve", "--help"], 35],
    ] as const) {
      const { code, stdout, stderr } = await runCommand(args, {});
      assert.deepEqual([code, stderr], [0, ""]);
      assert.match(stdout, /npx rapport-server settings/);
      assert.ok(stdout.split("\n").length <= most, stdout);
    }
  });

  test("rapport --help lists the subcommands, and each subcommand has its own help", async () => {
    const { stdout } = await runCommand(["--help"], {});
    const commands = [...stdout.matchAll(/^ {2}([a-z][a-z-]+)(?: \[| <| {2,})/gm)].map(
      ([, name]) => name,
    );
    const known = [
      "serve",
      "demo",
      "status",
      "init",
      "migrate",
      "apply",
      "validate",
      "schema",
      "users",
      "segments",
      "import",
      "export",
      "tail",
      "changes",
      "webhooks",
      "backup",
      "restore",
      "cdi",
      "keys",
      "secrets",
      "scim-tokens",
      "sign-in",
      "invite",
      "audit",
      "workspaces",
      "reset",
      "doctor",
      "settings",
      "completion",
    ];
    assert.deepEqual(commands, [...known, "help"]);
    for (const name of sample(commands, 6)) {
      const help = await runCommand([name as string, "--help"], {});
      assert.equal(help.code, 0);
      assert.match(
        help.stdout,
        new RegExp(`^Usage: npx rapport-server ${name === "help" ? "" : name}`),
      );
    }
  });

  // npx finds an executable by the package's name: in the package itself, in a project that has it, and in the registry.
  test("the package has one executable, named rapport, and for npx as the package is", () => {
    const text = readFileSync(join(packageRoot(), "package.json"), "utf8");
    const { name, bin } = JSON.parse(text) as { name: string; bin: Record<string, string> };
    assert.deepEqual(bin, { rapport: bin.rapport, [name]: bin.rapport });
    const file = readFileSync(join(packageRoot(), bin.rapport ?? ""), "utf8");
    assert.match(file, /^#!\/usr\/bin\/env node\n/);
  });

  test("the build makes the rapport command executable for npx and the shell", () => {
    const { mode } = statSync(join(packageRoot(), "dist", "bundle", "main.js"));
    assert.equal(mode & 0o111, 0o111);
  });

  test("rapport --version prints the version of the package, the commit and its day", async () => {
    const { version } = JSON.parse(readFileSync(join(packageRoot(), "package.json"), "utf8"));
    const { code, stdout } = await runCommand(["--version"], {});
    assert.equal(code, 0);
    const [, commit, day] = /^\S+ \(([0-9a-f]{8,}), (\d{4}-\d\d-\d\d)\)\n$/.exec(stdout) ?? [];
    assert.ok(stdout.startsWith(`${version} `) && commit && day, stdout);
  });

  test("an unknown subcommand, an unknown option and a missing argument end with an error message", async () => {
    for (const args of [["fly"], ["serve", "--fly"], ["apply"]]) {
      const { code, stderr } = await runCommand(args, { PORT: "0", DATA_DIR: "memory:" });
      assert.equal(code, 1, args.join(" "));
      assert.match(stderr, /^error: /m);
    }
  });

  test("an error in the arguments of a command is followed by its usage and the place of its examples", async () => {
    for (const [args, wanted] of [
      [
        ["aply"],
        "unknown command 'aply'\n(Did you mean apply?)\n\nUsage: npx rapport-server [options] [command]\nSee the examples: npx rapport-server --help\n",
      ],
      [
        ["users", "search"],
        "missing required argument 'text'\n\nUsage: npx rapport-server users search [options] <text>\nSee the examples: npx rapport-server users search --help\n",
      ],
      [
        ["users", "serch"],
        "unknown command 'serch'\n(Did you mean search?)\n\nUsage: npx rapport-server users [options] [command]\nSee the examples: npx rapport-server users --help\n",
      ],
    ] as const) {
      const { code, stderr } = await runCommand([...args], {});
      assert.deepEqual([code, stderr], [1, `error: ${wanted}`]);
    }
  });
});

describe("a command that talks to a server", () => {
  test("a client command finds the server through RAPPORT_URL, or PORT if nothing is on disk, and explains an unreachable one", async () => {
    const port = String(await freePort("127.0.0.1"));
    const url = `http://127.0.0.1:${port}`;
    const cases: [environment: Record<string, string>, url: string][] = [
      [{ PORT: port, DATA_DIR: "memory:" }, url],
      [{ PORT: "1", RAPPORT_URL: url }, url],
    ];
    for (const [environment, url] of cases) {
      const { code, stderr } = await runCommand(["keys", "list", "demo"], {
        ADMIN_TOKEN: "x",
        ...environment,
      });
      assert.equal(code, 1);
      assert.ok(stderr.startsWith(`rapport: The server at ${url} cannot be reached: `), stderr);
      assert.match(stderr, /pass --url, or set RAPPORT_URL\.\n$/);
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
        "instead of JSON. For another server pass --url, or set RAPPORT_URL.\n",
    );
  });

  test("a --workers value that is not a whole number from 1 to 256 is refused with an example", async () => {
    const { code, stderr } = await runCommand(["serve", "--workers", "many"], {});
    assert.equal(code, 1);
    assert.equal(
      stderr.split("\n", 1)[0],
      "error: option '--workers <count>' argument 'many' is invalid. " +
        "It is a whole number from 1 to 256, such as --workers 2.",
    );
  });
});
