import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { TSchema } from "typebox";
import { packageRoot } from "../src/core/base/package-root.ts";
import { budgetsOf } from "../src/core/base/work.ts";
import type { Access, Contract } from "../src/core/http/endpoint.ts";
import { ENDPOINTS } from "../src/server/assembled.ts";

/*
 * Writes docs/security-bounds.md: for each operation who may call it, the largest request and response, and what bounds its
 * work. All but the last column follow from the declarations; the last one is written by hand and kept.
 */

export const BOUNDS_PAGE = join(packageRoot(), "docs/security-bounds.md");

/** The last column of a new operation, until its bound is written down. */
export const NOT_WRITTEN = "?";

const BEGIN = "| operations | who may call | other sizes | what bounds their work |";

/** The page as it should be. */
export function boundsPage(page: string): string {
  const written = boundsIn(page);
  /** Operations by the cells that they share. */
  const operations = new Map<string, string[]>();
  for (const { contract } of ENDPOINTS) {
    const cells = cellsOf(contract, written.get(contract.name));
    operations.set(cells, [...(operations.get(cells) ?? []), contract.name]);
  }
  const rows = [...operations].map(([cells, names]) => `| \`${names.join(" ")}\` | ${cells} |`);
  const head = page.slice(0, page.indexOf(BEGIN));
  return `${head}${BEGIN}\n|---|---|---|---|\n${rows.join("\n")}\n`;
}

/** The last column by operation. */
export const boundsIn = (page: string): ReadonlyMap<string, string> =>
  new Map(
    [...page.matchAll(/^\| `([\w ]+)` \|.*\| ([^|]*) \|$/gm)].flatMap(
      ([, names = "", bound = ""]) => names.split(" ").map((name) => [name, bound] as const),
    ),
  );

const cellsOf = (contract: Contract, bound = NOT_WRITTEN): string =>
  `${callerOf(contract.access)} | ${[...requestOf(contract), ...responseOf(contract)].join("; ")} | ${bound}`;

function callerOf(access: Access): string {
  switch (access.by) {
    case "key":
      return `key: ${access.permission}`;
    case "scim":
      return "SCIM token";
    case "session":
      return "who is signed in";
    case "anybody":
      return "anybody";
    case "administrator": {
      const permissions = access.permissions.join(", ") || "admin";
      return access.of === "workspace" ? permissions : `${permissions} (company)`;
    }
  }
}

const megabytes = (bytes: number): string => `${bytes / 1_048_576} MB`;

/** Empty for what applies to an endpoint that declares nothing. */
function requestOf(contract: Contract): string[] {
  if (!contract.body) return [];
  const { bytesIn, valuesIn, entriesApart } = budgetsOf(contract);
  const lists = listsOf(contract.body);
  const usual = budgetsOf({});
  const count = `${valuesIn.toLocaleString("en")} values${entriesApart ? " in an object" : ""}`;
  const isUsual = contract.accepts || (valuesIn === usual.valuesIn && !entriesApart);
  const bytes = bytesIn === usual.bytesIn ? [] : [megabytes(bytesIn)];
  return [...bytes, ...(isUsual ? [] : [count]), ...lists];
}

interface MaybeList {
  readonly maxItems?: number;
  readonly anyOf?: readonly { readonly maxItems?: number }[];
}

/** The lists of a body with their limits. */
function listsOf(body: TSchema): string[] {
  const { properties = {} } = body as { properties?: Record<string, MaybeList> };
  return Object.entries(properties).flatMap(([name, { maxItems, anyOf = [] }]) => {
    // In a PATCH the list may be null.
    const most = maxItems ?? anyOf.find((each) => each.maxItems !== undefined)?.maxItems;
    return most === undefined ? [] : [`${name} ${most.toLocaleString("en")}`];
  });
}

function responseOf(contract: Contract): string[] {
  if (contract.streams) return ["response a stream"];
  const { bytesOut } = budgetsOf(contract);
  return bytesOut === budgetsOf({}).bytesOut ? [] : [`response ${megabytes(bytesOut)}`];
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  writeFileSync(BOUNDS_PAGE, boundsPage(readFileSync(BOUNDS_PAGE, "utf8")));
}
