import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { TSchema } from "typebox";
import { packageRoot } from "../src/base/package-root.ts";
import { budgetsOf } from "../src/base/work.ts";
import type { Access, Contract } from "../src/http/endpoint.ts";
import { ENDPOINTS } from "../src/server/app.ts";

/*
 * Writes docs/security-bounds.md: for each operation who may call it, the largest request and response, and what bounds its
 * work. All but the last column follow from the declarations; the last one is written by hand and kept.
 */

export const BOUNDS_PAGE = join(packageRoot(), "docs/security-bounds.md");

/** The last column of a new operation, until its bound is written down. */
export const NOT_WRITTEN = "?";

const BEGIN =
  "| operation | who may call | largest request | largest response | what bounds its work |";

/** The page as it should be. */
export function boundsPage(page: string): string {
  const written = boundsIn(page);
  const rows = ENDPOINTS.map(({ contract }) => rowOf(contract, written.get(contract.name)));
  const head = page.slice(0, page.indexOf(BEGIN));
  return `${head}${BEGIN}\n|---|---|---|---|---|\n${rows.join("\n")}\n`;
}

/** The last column by operation. */
export const boundsIn = (page: string): ReadonlyMap<string, string> =>
  new Map(
    [...page.matchAll(/^\| `(\w+)` \|.*\| ([^|]*) \|$/gm)].map(([, name = "", bound = ""]) => [
      name,
      bound,
    ]),
  );

const rowOf = (contract: Contract, bound = NOT_WRITTEN): string =>
  `| \`${contract.name}\` | ${callerOf(contract.access)} | ${requestOf(contract)} | ${responseOf(contract)} | ${bound} |`;

function callerOf(access: Access): string {
  switch (access.by) {
    case "key":
      return `API key, ${access.permission}`;
    case "scim":
      return "SCIM token";
    case "session":
      return "who is signed in";
    case "anybody":
      return "anybody";
    case "administrator": {
      const where = access.of === "workspace" ? "in the workspace" : "in the company";
      return `${access.permissions.join(", ") || "admin"} ${where}`;
    }
  }
}

const megabytes = (bytes: number): string => `${bytes / 1_048_576} MB`;

function requestOf(contract: Contract): string {
  if (!contract.body) return "path and query of 48 kB";
  const { bytesIn, valuesIn, entriesApart } = budgetsOf(contract);
  const lists = listsOf(contract.body);
  const values = contract.accepts
    ? ""
    : `, ${valuesIn.toLocaleString("en")} values${entriesApart ? " in an object" : ""}`;
  return [`${megabytes(bytesIn)}${values}`, ...lists].join("; ");
}

/** The lists of a body with their limits. */
function listsOf(body: TSchema): string[] {
  const { properties = {} } = body as { properties?: Record<string, { maxItems?: number }> };
  return Object.entries(properties).flatMap(([name, { maxItems }]) =>
    maxItems === undefined ? [] : [`${name} ${maxItems.toLocaleString("en")}`],
  );
}

function responseOf(contract: Contract): string {
  if (contract.streams) return "a stream, as fast as it is read";
  return megabytes(budgetsOf(contract).bytesOut);
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  writeFileSync(BOUNDS_PAGE, boundsPage(readFileSync(BOUNDS_PAGE, "utf8")));
}
