/*
 * Which shards statements go to on Citus. A statement that is pulled to the coordinator or sent to
 * every shard passes every other test and costs a hundred times as much. Here the cluster plans
 * each statement of requests about individual users, and the tasks are counted: one for each shard
 * among the statement's buckets. Nothing is timed.
 *
 * Runs where TEST_CITUS_WORKERS says that there is a cluster (`npm run test:citus`).
 */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { BUCKETS } from "../../../src/core/database/buckets.ts";
import { countShards } from "../../../src/core/database/citus/distribute.ts";
import type { Queryable } from "../../../src/core/database/database.ts";
import { migrate } from "../../../src/core/database/migrations/migrate.ts";
import { isTypedList } from "../../../src/core/database/parameters/typed-list.ts";
import { openDatabase } from "../../../src/server/open-database.ts";
import { testConfig } from "../../harness.ts";
import { requestsAboutUsers } from "./requests-about-users.ts";

const skip = process.env.TEST_CITUS_WORKERS
  ? false
  : "there is no cluster: run npm run test:citus with DATABASE_URL";

/** These name no bucket, because the rows may be in any: one task for each shard. */
const IN_ANY_BUCKET = [
  /from merged_profiles\s+where workspace_id = \$1 and kept_profile_id = any/,
  // The search by the beginning of an identifier.
  /from identifiers\s+where workspace_id = \$1 and kind = '\w+' and value/,
];

interface PlanNode {
  readonly "Custom Plan Provider"?: string;
  readonly "INSERT/SELECT method"?: string;
  readonly "Distributed Query"?: {
    readonly Job?: { readonly "Task Count": number };
    readonly Subplans?: unknown;
  };
  readonly Plans?: readonly PlanNode[];
}

async function planOf(
  queryable: Queryable,
  sql: string,
  parameters: readonly unknown[],
): Promise<PlanNode> {
  const [row] = await queryable.query<{ "QUERY PLAN": string | readonly { Plan: PlanNode }[] }>(
    `explain (format json) ${sql}`,
    parameters,
  );
  const plan = row?.["QUERY PLAN"] ?? [];
  const [first] = typeof plan === "string" ? JSON.parse(plan) : plan;
  return first.Plan;
}

const PLACES = new Map(BUCKETS.map((bucket, place) => [bucket, place]));

/** How many shards the buckets of a statement are on; undefined if it names none. */
function shardsNamed(parameters: readonly unknown[], shards: number): number | undefined {
  for (const parameter of [...parameters].reverse()) {
    const numbers = isTypedList(parameter) ? (parameter.values as number[]) : [parameter as number];
    const places = numbers.map((number) => PLACES.get(number));
    if (places.length === 0 || places.some((place) => place === undefined)) continue;
    return new Set(places.map((place) => Math.floor((((place ?? 0) + 0.5) * shards) / 256))).size;
  }
  return undefined;
}

function faultOf(plan: PlanNode, named: number | undefined, shards: number): string | undefined {
  const method = plan["INSERT/SELECT method"];
  if (method) return method;
  const query = plan["Distributed Query"];
  if (!query) return undefined;
  if (query.Subplans) return "a part of it is planned separately";
  const tasks = query.Job?.["Task Count"];
  const expected = named ?? shards;
  return tasks === expected ? undefined : `${tasks} tasks instead of ${expected}`;
}

test("every statement of a request about users becomes one task for each shard of its buckets", {
  skip,
}, async () => {
  const database = await openDatabase(await testConfig());
  after(() => database.close());
  await migrate(database);
  const shards = await countShards(database);
  const statements = new Set<string>();
  const faults = new Set<string>();
  await requestsAboutUsers(database, async (queryable, sql, parameters) => {
    if (!/\bbucket\b/.test(sql) && !IN_ANY_BUCKET.some((known) => known.test(sql))) {
      const plan = await planOf(queryable, sql, parameters);
      if (plan["Distributed Query"]) faults.add(`names no bucket: ${sql}`);
      return;
    }
    statements.add(sql);
    const plan = await planOf(queryable, sql, parameters);
    const fault = faultOf(plan, shardsNamed(parameters, shards), shards);
    if (fault) faults.add(`${fault}: ${sql}`);
  });
  assert.deepEqual([...faults], []);
  assert.ok(statements.size > 40, `${statements.size} statements were looked at`);
});
