/*
 * Names that users write into their files, scripts and dashboards stay: settings, fields of a
 * manifest, commands with their options, and metrics. (Operations: openapi.test.ts.) A list in this
 * folder has each; a new name is added to its list, and a name that disappears breaks its users.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { publishedSchema } from "../../src/core/admin/workspaces/apply-manifest.ts";
import { createMetrics } from "../../src/core/base/observe/metrics.ts";
import { packageRoot } from "../../src/core/base/package-root.ts";
import { COMPANY_RESOURCES, RESOURCES } from "../../src/server/assembled.ts";
import { SETTINGS } from "../../src/server/settings.ts";

function keepsNames(list: string, names: Iterable<string>): void {
  const file = join(packageRoot(), "test", "server", `${list}.txt`);
  const known = readFileSync(file, "utf8").trim().split("\n");
  const missing = known.filter((name) => !new Set(names).has(name));
  assert.deepEqual(missing, [], "Removing or renaming one breaks those who use it.");
  const added = [...new Set(names)].filter((name) => !known.includes(name));
  assert.deepEqual(added, [], `Add new names to test/server/${list}.txt.`);
}

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly patternProperties?: Readonly<Record<string, Schema>>;
}

/** The path of every field, with dots; a place in a list is `[]`, a key that the author chooses `*`. */
function fieldsOf(schema: Schema, path = ""): string[] {
  const { properties = {}, patternProperties = {}, items } = schema;
  const named = Object.entries(properties).flatMap(([name, field]) => {
    const place = path === "" ? name : `${path}.${name}`;
    return [place, ...fieldsOf(field, place)];
  });
  const forms = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])];
  return [
    ...named,
    ...Object.values(patternProperties).flatMap((field) => fieldsOf(field, `${path}.*`)),
    ...(items ? fieldsOf(items, `${path}[]`) : []),
    ...forms.flatMap((form) => fieldsOf(form, path)),
  ];
}

/** Each command with its options, from a script that completes them. */
function commandsOf(script: string): string[] {
  const line = /^complete -c rapport -n 'test \(__rapport_path\) = "([^"]*)"' -a '([^']+)'/gm;
  return [...script.matchAll(line)]
    .map(([, path = "", word]) => `${path} ${word}`.trim())
    .filter((words) => !words.endsWith("--help"));
}

/** Rapport's own: metrics of the process are Node's and the library's. */
const metricsOf = (): string[] =>
  createMetrics()
    .registry.getMetricsAsArray()
    .filter(({ name }) => name.startsWith("rapport_"))
    .map((metric) =>
      [metric.name, ...("labelNames" in metric ? (metric.labelNames as string[]) : [])].join(" "),
    );

test("every setting keeps its name", () => {
  keepsNames("setting-names", Object.keys(SETTINGS));
});

test("every field of a manifest keeps its name and its place", () => {
  const schema = publishedSchema({ resources: RESOURCES, companyResources: COMPANY_RESOURCES });
  keepsNames("manifest-names", fieldsOf(schema as Schema));
});

test("every command and every option keeps its name", () => {
  const main = join(packageRoot(), "dist", "bundle", "main.js");
  const script = execFileSync(process.execPath, [main, "completion", "fish"], { encoding: "utf8" });
  keepsNames("command-names", commandsOf(script));
});

test("every metric keeps its name and its labels", () => {
  keepsNames("metric-names", metricsOf());
});
