/* What others wrote is passed on with its licences: the build's notices and bill of materials name all of it. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { packageRoot } from "../../src/core/base/package-root.ts";
import { startServer } from "../harness.ts";

const dist = (...path: string[]) => join(packageRoot(), "dist", ...path);

interface Component {
  readonly group?: string;
  readonly name: string;
  readonly licenses: readonly object[];
}

const { components } = JSON.parse(readFileSync(dist("sbom.json"), "utf8")) as {
  components: Component[];
};
const listed = new Set(components.map(({ group, name }) => (group ? `${group}/${name}` : name)));
const notices = readFileSync(dist("THIRD-PARTY-NOTICES"), "utf8");

describe("the works of others", () => {
  test("every package that the source maps of the bundle name is listed, with its licence", () => {
    const sources = readdirSync(dist("bundle"))
      .filter((file) => file.endsWith(".map"))
      .flatMap(
        (file) => JSON.parse(readFileSync(dist("bundle", file), "utf8")).sources as string[],
      );
    const named = new Set<string>();
    for (const source of sources) {
      const [, name] = /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(source) ?? [];
      if (name) named.add(name);
    }
    assert.ok(named.size > 50, `${named.size}`);
    assert.deepEqual(
      [...named].filter((name) => !listed.has(name)),
      [],
    );
    for (const { name, licenses } of components) assert.ok(licenses.length > 0, name);
  });

  test("the dashboard's and the installed packages and the fonts are listed", () => {
    const others = ["react", "@mantine/core", "@fontsource-variable/inter", "@electric-sql/pglite"];
    for (const name of ["fastify", ...others]) {
      assert.ok(listed.has(name), name);
      assert.ok(notices.includes(`\n${name} `), name);
    }
    assert.match(notices, /SIL OPEN FONT LICENSE/i);
  });

  test("anybody reads the notices at the address that the dashboard and the reference link to", async () => {
    const server = await startServer();
    const response = await fetch(`${server.url}/docs/third-party-notices`);
    assert.equal(response.status, 200);
    assert.equal(await response.text(), notices);
    const reference = await fetch(`${server.url}/docs`);
    assert.match(await reference.text(), /href="\/docs\/third-party-notices"/);
  });
});
