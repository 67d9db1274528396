/* Both tarballs in an empty project, as npm installs them: their contents, types, CommonJS, npx. */
import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { sample, sized } from "../../sizes.ts";
import { temporaryFolder } from "../../stored-rows.ts";
import { installPackages, ROOT, run } from "../packed.ts";

/** Which TypeScript a project has is its own affair: this one still knows `node10`. */
const TSC = join(ROOT, "client", "node_modules", "typescript", "bin", "tsc");

const { project, installed, describedBy } = await installPackages();

describe("each tarball", () => {
  const CONTENTS = {
    "rapport-server": ["LICENSE", "dist/THIRD-PARTY-NOTICES", "dist/sbom.json"],
    "rapport-client": ["LICENSE", "dist/THIRD-PARTY-NOTICES", "dist/sbom.json"],
  };
  for (const [name, files] of Object.entries(CONTENTS)) {
    test(`${name} has its licence, those of the works in it, and a bill of materials`, () => {
      for (const file of files) assert.ok(statSync(join(installed(name), file)).size > 0, file);
    });
  }
});

describe("the package", () => {
  test("contains everything that a server needs and nothing of its development", async () => {
    const { stdout } = await run("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
      cwd: ROOT,
    });
    const [{ files }] = JSON.parse(stdout) as [{ files: { path: string }[] }];
    const paths = files.map(({ path }) => path);
    const needed = [
      "dist/bundle/main.js",
      "dist/bundle/start-rapport.cjs",
      "dist/bundle/rapport-thread.js",
      "dist/src/server/testing/start-rapport.d.cts",
      "dist/src/server/testing/start-rapport.d.ts",
      "openapi.json",
      "openapi-admin.json",
      "dist/reference/site.json.br",
    ];
    for (const path of needed) assert.ok(paths.includes(path), path);
    assert.ok(paths.some((path) => /^dist\/embedded-\w+\.snapshot$/.test(path)));
    assert.ok(paths.some((path) => /^migrations\/.*\.sql$/.test(path)));
    const foreign =
      /\.ts$|^(?!dist\/bundle\/).*\.map$|^(src|test|lab|build|client|node_modules)\/|^dist\/(test|lab|build|client)\//;
    const wrong = paths.filter((path) => foreign.test(path) && !/\.d\.c?ts$/.test(path));
    assert.deepEqual(wrong, []);
  });
});

test("the server's package needs the embedded engine alone, and says which drivers of warehouses it works with", () => {
  const { dependencies, optionalDependencies, drivers } = describedBy("rapport-server");
  assert.deepEqual(Object.keys(dependencies), ["@electric-sql/pglite"]);
  assert.equal(optionalDependencies, undefined);
  assert.deepEqual(Object.keys(drivers), ["@duckdb/node-api", "mysql2"]);
});

const PROGRAM = `
import {
  type Change,
  ChangesGone,
  createClient,
  followChanges,
  ItemRejected,
  RapportError,
  type Verdict,
  verifyWebhook,
  WebhookError,
} from "rapport-client";
import { type StartedRapport, startRapport } from "rapport-server";

async function visit(rapport: StartedRapport): Promise<string> {
  const { url, key, adminToken, workspace } = rapport;
  const client = createClient({ url, key, adminToken });
  const codes: string[] = [];
  const tracker = client.tracker({
    onRejected(error, item) {
      if (error instanceof ItemRejected) codes.push(error.code, JSON.stringify(item));
      else codes.push(String(error.status));
    },
  });
  const verdict: Verdict = await tracker.attributes({ external_id: "ada", first_name: "Ada" });
  await tracker.event({ external_id: "ada", name: "", time: "2026-01-01T00:00:00Z" }).catch(() => {});
  await tracker.close();
  const { apps } = await client.admin.listApps({ path: { name: workspace } });
  const { users } = await client.exportUsers({ body: { external_ids: ["ada"] } });
  // @ts-expect-error: an administrator's call is no call with a key.
  client.listApps;
  // @ts-expect-error: calls of pages are left out.
  client.submitPreferencePage;
  return [verdict.outcome, users[0]?.first_name, codes[0], apps.length >= 0].join(" ");
}

function nameOf(change: Change): string {
  // @ts-expect-error: not every change is an event.
  change.name;
  return change.type === "event.logged" ? change.name : change.type;
}

async function read({ url, key, adminToken, workspace }: StartedRapport): Promise<string> {
  const client = createClient({ url, key, adminToken });
  const path = { name: workspace };
  const { settings } = await client.admin.getSettings({ path });
  await client.admin.putSettings({ path, body: { ...settings, change_feed: true } });
  await client.trackUsers({
    body: { events: [{ external_id: "eve", name: "opened", time: "2026-01-01T00:00:00Z" }] },
  });
  const names: string[] = [];
  for await (const { changes, caught_up } of followChanges(client, { cursor: "beginning" })) {
    names.push(...changes.map(nameOf));
    if (caught_up) break;
  }
  const headers: Record<string, string | undefined> = {};
  const code = await verifyWebhook({ secret: "whsec_AAAA", headers, body: "" }).then(
    ({ changes }) => changes.map(nameOf).join(),
    (error) => (error instanceof WebhookError ? error.code : String(error)),
  );
  return [...names, code, ChangesGone.name].join(" ");
}

async function main(): Promise<void> {
  const rapport = await startRapport({ now: new Date("2026-01-01T00:00:00Z") });
  console.log(await visit(rapport));
  console.log(await read(rapport));
  await rapport.stop();
  if (!(new RapportError("", 0) instanceof Error)) throw new Error();
}

main();
`;

const PRINTED = `recorded Ada INVALID_NAME true
user.created opened MISSING_HEADER ChangesGone
`;

/** `module`, `moduleResolution`, and the type of the project's package. */
const KINDS = [
  ["commonjs", "node10", "commonjs"],
  ["node16", "node16", "commonjs"],
  ["node16", "node16", "module"],
  ["nodenext", "nodenext", "commonjs"],
  ["nodenext", "nodenext", "module"],
  ["esnext", "bundler", "module"],
] as const;

/** For each change the oldest and the newest, in the night all. */
const TRIED = sized<readonly (typeof KINDS)[number][]>([KINDS[0], KINDS[5]], KINDS);

describe("both packages in a project", () => {
  const folderOf = (module: string, type: string) => join(project, `${module}-${type}`);
  let errors = "";

  // One compiler for all: it reads the libraries once.
  before(async () => {
    for (const [module, moduleResolution, type] of TRIED) {
      const folder = folderOf(module, type);
      await mkdir(folder);
      await writeFile(join(folder, "package.json"), JSON.stringify({ type }));
      await writeFile(join(folder, "program.ts"), PROGRAM);
      const lib = ["es2023", "dom", "dom.iterable"];
      const strict = { strict: true, target: "es2022", lib, types: [] };
      const compilerOptions = { module, moduleResolution, ...strict };
      const tsconfig = JSON.stringify({ compilerOptions, files: ["program.ts"] });
      await writeFile(join(folder, "tsconfig.json"), tsconfig);
    }
    const folders = TRIED.map(([module, , type]) => folderOf(module, type));
    await run(process.execPath, [TSC, "--build", ...folders], { cwd: project }).catch((error) => {
      errors = `${error.stdout}${error.stderr}`;
    });
  });

  for (const [module, moduleResolution, type] of TRIED) {
    test(`TypeScript finds the types with ${module} and ${moduleResolution} in a project of type ${type}`, () => {
      assert.equal(errors, "");
    });
  }

  // What Node loads depends on the type alone.
  for (const [module, type] of sample(
    [
      ["commonjs", "commonjs"],
      ["esnext", "module"],
    ] as const,
    1,
  )) {
    test(`the program that TypeScript wrote runs in a project of type ${type}`, async () => {
      const cwd = folderOf(module, type);
      const { stdout } = await run(process.execPath, ["program.js"], { cwd });
      assert.equal(stdout, PRINTED);
    });
  }

  test("the packed package.json has no scripts and requires only packages that the bundle does not contain", () => {
    const [server, client] = [describedBy("rapport-server"), describedBy("rapport-client")];
    for (const each of [server, client]) {
      const { scripts, devDependencies, overrides, workspaces } = each;
      assert.deepEqual([scripts, devDependencies, overrides, workspaces], Array(4).fill(undefined));
    }
    assert.deepEqual(Object.keys(server.dependencies), ["@electric-sql/pglite"]);
  });

  test("npx rapport-server runs the built command line in a clone, and the installed package's in a project", async () => {
    const { version } = describedBy("rapport-server");
    const bin = join(project, "node_modules", ".bin");
    await mkdir(bin, { recursive: true });
    for (const [name, file] of Object.entries<string>(describedBy("rapport-server").bin)) {
      await symlink(join(installed("rapport-server"), file), join(bin, name));
    }
    const built = () => statSync(join(ROOT, "dist", "src", "main.js")).mtimeMs;
    const before = built();
    // As at the first call: npx keeps its installation.
    const env = { ...process.env, npm_config_cache: await temporaryFolder() };
    for (const cwd of [ROOT, project]) {
      const { stdout } = await run("npx", ["--offline", "rapport-server", "--version"], {
        cwd,
        env,
      });
      assert.equal(stdout.split(/[ \n]/)[0], version);
    }
    assert.equal(built(), before);
  });
});
