/*
 * How statements find their rows: by key, in tables that grow with the number of people. A
 * statement that reads all of a table passes every other test, because the tables of tests are
 * small. Here the engine therefore plans each statement of a request, and no plan may read such a
 * table without a key. Nothing is timed.
 *
 * Requests of the administrator that list everything of a workspace are left out.
 */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { packageRoot } from "../../../../src/core/base/package-root.ts";
import type { Queryable, Transaction } from "../../../../src/core/database/database.ts";
import { migrate } from "../../../../src/core/database/migrations/migrate.ts";
import { openDatabase } from "../../../../src/server/open-database.ts";
import { requestsAboutUsers } from "../../../core/database/requests-about-users.ts";
import { testConfig } from "../../../harness.ts";

const database = await openDatabase(await testConfig());
after(() => database.close());
await migrate(database);

/** The tables that grow with the number of people: those that are distributed on Citus. */
const LARGE = new Set(
  readdirSync(join(packageRoot(), "migrations")).flatMap((file) => {
    const sql = readFileSync(join(packageRoot(), "migrations", file), "utf8");
    return [...sql.matchAll(/^-- distributed by: bucket\ncreate table (\w+)/gm)].map(
      (match) => match[1] as string,
    );
  }),
);
LARGE.delete("buckets");
// Sixteen rows for each workspace.
LARGE.delete("change_heads");

interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Cond"?: string;
  readonly "Index Name"?: string;
  readonly Filter?: string;
  readonly Plans?: readonly PlanNode[];
}

const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

/**
 * Whether a node reads a large table without a key. A key in the filter counts: for a table with
 * few rows the engine may choose any index.
 */
function readsAll(node: PlanNode): boolean {
  const { "Node Type": type, "Relation Name": table = "" } = node;
  if (!LARGE.has(table) || !/ Scan$/.test(type)) return false;
  // A range of the primary key holds identifiers of every kind and every workspace.
  const isRange = /\(value >|ROW\(value/.test(`${node["Index Cond"]}`);
  if (isRange && node["Index Name"] === "identifiers_pkey") return true;
  return !/\b(profile_id|kept_profile_id|merged_profile_id|merge_id|name_words|value|email|key)\b/.test(
    `${node["Index Cond"]} ${node.Filter}`,
  );
}

/** Large tables that the plan of a statement reads whole. */
async function tablesReadWhole(
  queryable: Queryable,
  sql: string,
  parameters: readonly unknown[],
): Promise<string[]> {
  const [row] = await queryable.query<{ "QUERY PLAN": string | readonly { Plan: PlanNode }[] }>(
    `explain (format json) ${sql}`,
    parameters,
  );
  const plan = row?.["QUERY PLAN"] ?? [];
  const plans = typeof plan === "string" ? JSON.parse(plan) : plan;
  const nodes = plans.flatMap((each: { Plan: PlanNode }) => nodesOf(each.Plan));
  return nodes.filter(readsAll).map((node: PlanNode) => node["Relation Name"] as string);
}

// Citus plans on its nodes, each for its part: see citus-plans.test.ts.
const skip = (process.env.TEST_CITUS_WORKERS ?? "") !== "";

const trackStatements = new Set<string>();

test("no request about individual users scans a whole large table", { skip }, async () => {
  const statements = new Set<string>();
  const faults: string[] = [];
  await requestsAboutUsers(database, async (queryable, sql, parameters, path) => {
    statements.add(sql);
    if (path === "/users/track") trackStatements.add(sql);
    const tables = await tablesReadWhole(queryable, sql, parameters);
    faults.push(...tables.map((table) => `all of ${table} is read by: ${sql}`));
  });

  assert.deepEqual(faults, []);
  assert.ok(statements.size > 50, `${statements.size} statements were looked at`);
});

/** Plans a statement without looking at its parameters, and tells the large tables that it does not read by a key. */
async function tablesOfKeptPlan(tx: Transaction, sql: string): Promise<string[]> {
  const name = "kept_plan";
  await tx.script(`prepare ${name} as ${sql}`);
  const [row] = await tx.query<{ count: number }>(
    "select cardinality(parameter_types) as count from pg_prepared_statements where name = $1",
    [name],
  );
  const values = Array.from({ length: row?.count ?? 0 }, () => "null").join();
  const [plan] = await tx.query<{ "QUERY PLAN": string | readonly { Plan: PlanNode }[] }>(
    `explain (format json) execute ${name}${values && `(${values})`}`,
  );
  await tx.script(`deallocate ${name}`);
  const plans = plan?.["QUERY PLAN"] ?? [];
  const nodes = (typeof plans === "string" ? JSON.parse(plans) : plans).flatMap(
    (each: { Plan: PlanNode }) => nodesOf(each.Plan),
  );
  return nodes
    .filter(({ Filter, ...node }: PlanNode) => readsAll(node))
    .map((node: PlanNode) => `${node["Relation Name"]} by ${node["Index Name"]}`);
}

test("a plan of a track request that the engine keeps goes by key, also if the tables were small when it was made", {
  skip,
}, async () => {
  assert.ok(trackStatements.size > 20, `${trackStatements.size} statements were looked at`);
  const faults: string[] = [];
  for (const isAnalyzed of [false, true]) {
    if (isAnalyzed) for (const table of LARGE) await database.query(`analyze ${table}`);
    await database.transaction(async (tx) => {
      await tx.script("set local plan_cache_mode = force_generic_plan");
      for (const sql of trackStatements) {
        const tables = await tablesOfKeptPlan(tx, sql);
        faults.push(...tables.map((table) => `analyzed ${isAnalyzed}: ${table} in: ${sql}`));
      }
    });
  }
  assert.deepEqual(faults, []);
});
