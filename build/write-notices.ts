import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../src/core/base/package-root.ts";
import { RAPPORT_VERSION } from "../src/core/base/version.ts";
import { describe, notedThirdParty, type ThirdParty } from "./third-party.ts";

/*
 * Run at the end of the build: dist/THIRD-PARTY-NOTICES and dist/sbom.json (CycloneDX 1.6) of what the bundles hold, and of
 * the packages that are installed beside them; the same two files for the client. A licence that is not allowed fails the
 * build.
 */

/** Licences under which we pass code on: all of them permissive. A new one is a decision. */
const ALLOWED = new Set([
  "0BSD",
  "Apache-2.0",
  "BlueOak-1.0.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "ISC",
  "MIT",
  "MIT-0",
  "OFL-1.1",
  // Data of Unicode: permissive, and approved by the Open Source Initiative. docs/decisions/money.md
  "Unicode-3.0",
  "Unlicense",
]);

const root = packageRoot();

const beside = Object.keys(
  JSON.parse(readFileSync(join(root, "package.json"), "utf8")).dependencies,
).map((name) => describe(join(root, "node_modules", name)));
const ofServer = (["server", "web"] as const).flatMap((bundle) => notedThirdParty(root, bundle));
write(join(root, "dist"), "rapport-server", [...ofServer, ...beside]);
write(join(root, "client", "dist"), "rapport-client", notedThirdParty(root, "client"));

function write(folder: string, name: string, all: readonly ThirdParty[]): void {
  const byName = new Map(all.map((each) => [`${each.name}@${each.version}`, each]));
  const packages = [...byName.values()].sort((one, other) => (one.name < other.name ? -1 : 1));
  const refused = packages.filter(({ license }) => !isAllowed(license));
  if (refused.length > 0) {
    const list = refused.map((each) => `${each.name} (${each.license})`).join(", ");
    throw new Error(
      `These packages have a licence that is not allowed: ${list}. See build/write-notices.ts.`,
    );
  }
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "THIRD-PARTY-NOTICES"), noticesOf(name, packages));
  writeFileSync(join(folder, "sbom.json"), `${JSON.stringify(sbomOf(name, packages))}\n`);
}

/** Of a choice one has to be allowed, of a conjunction all. */
function isAllowed(license: string): boolean {
  const expression = license.replace(/^\((.*)\)$/, "$1");
  if (expression.includes(" OR ")) return expression.split(" OR ").some(isAllowed);
  return expression.split(" AND ").every((each) => ALLOWED.has(each));
}

/** Each text once, under the packages that have it. */
function noticesOf(name: string, packages: readonly ThirdParty[]): string {
  const headings = new Map<string, string[]>();
  for (const { name, version, license, author, texts } of packages) {
    const text = texts.join("\n\n") || `Copyright (c) ${author}\n\n${textOf(license)}`;
    headings.set(text, [...(headings.get(text) ?? []), `${name} ${version} (${license})`]);
  }
  const parts = [...headings].map(([text, names]) => `${names.join("\n")}\n\n${text}\n`);
  const line = `\n${"-".repeat(80)}\n\n`;
  return [`${name} contains the following works of others.\n`, ...parts].join(line);
}

/** The usual text of a licence, for packages that have none. @throws Error if we have none either. */
function textOf(license: string): string {
  return readFileSync(join(root, "build", "licences", license), "utf8").trim();
}

function sbomOf(name: string, packages: readonly ThirdParty[]): object {
  return {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      component: {
        type: "application",
        name,
        version: RAPPORT_VERSION,
        "bom-ref": `pkg:npm/${name}@${RAPPORT_VERSION}`,
        licenses: [{ license: { id: "Apache-2.0" } }],
      },
    },
    components: packages.map(({ name, version, license }) => {
      const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`;
      const [, group, ofGroup] = /^(@[^/]+)\/(.*)$/.exec(name) ?? [];
      return {
        type: "library",
        "bom-ref": purl,
        ...(group && { group }),
        name: ofGroup ?? name,
        version,
        licenses: [
          / (OR|AND) /.test(license) ? { expression: license } : { license: { id: license } },
        ],
        purl,
      };
    }),
  };
}
