/* Invariants of the tables' rows, after any requests. For tests that race. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../../../../src/core/base/package-root.ts";
import type { Database } from "../../../../src/core/database/database.ts";
import { aliasValue } from "../../../../src/core/people/profiles/identifiers.ts";

type Row = Record<string, any>;

/** Every table whose rows belong to profiles, as the migrations make it. */
const TABLES_OF_PROFILES = readdirSync(join(packageRoot(), "migrations")).flatMap((file) => {
  const sql = readFileSync(join(packageRoot(), "migrations", file), "utf8");
  return [...sql.matchAll(/^create table (\w+) \(\n(.*?)\n\)/gms)]
    .filter(([, , columns]) => /^ {2}profile_id /m.test(columns as string))
    .map(([, table]) => table as string);
});

/** These describe profiles that no longer exist. */
const OF_THE_GONE = ["merged_profiles", "identity_audit"];

/** Where the rows of a user who was identified without a merge stay, for an undo. */
const LEFT_BEHIND = ["events", "purchases"];

/**
 * Checks a whole database: rows belong to existing profiles, identifiers and profiles agree, ids of
 * merged profiles identify existing ones, and summaries are correct.
 */
export async function checkRows(database: Database): Promise<void> {
  const read = (columns: string, table: string) =>
    database.query<Row>(`select workspace_id, ${columns} from ${table}`);
  const profiles = await read("profile_id, external_id, aliases, email, phone", "profiles");
  const merged = await read("profile_id, kept_profile_id, external_id", "merged_profiles");
  const living = new Set(profiles.map(keyOf));
  const records = await database.query<Row>(
    `select workspace_id, body::json->'merged'->>'id' as profile_id from merge_records
     where piece = 0 and body::json->>'extent' = 'tokens_and_messages'`,
  );
  const left = new Set(records.map(keyOf));

  for (const table of TABLES_OF_PROFILES) {
    if (OF_THE_GONE.includes(table)) continue;
    const rows = await read("profile_id", table);
    const orphans = rows.filter(
      (row) => !living.has(keyOf(row)) && !(LEFT_BEHIND.includes(table) && left.has(keyOf(row))),
    );
    assert.deepEqual(orphans, [], `rows without a user in ${table}`);
  }

  for (const row of merged) {
    assert.ok(!living.has(keyOf(row)), "a merged profile is there");
    assert.ok(
      living.has(keyOf({ ...row, profile_id: row.kept_profile_id })),
      "it redirects to a user that does not exist",
    );
  }

  const identifiers = await read("profile_id, kind, value", "identifiers");
  const held = identifiers.map((row) => `${keyOf(row)} ${row.kind} ${row.value}`);
  assert.deepEqual(held.sort(), expectedIdentifiers(profiles, merged).sort());

  const ofLiving = (rows: readonly Row[]) => rows.filter((row) => !left.has(keyOf(row)));
  const events = ofLiving(await read("profile_id, name", "events"));
  const eventSummaries = await read("profile_id, name, count", "event_summaries");
  assert.deepEqual(countsOf(eventSummaries), countsOf(events));
  const purchases = ofLiving(
    await read("profile_id, product_id as name, quantity as count", "purchases"),
  );
  const summaries = await read("profile_id, product_id as name, count", "purchase_summaries");
  assert.deepEqual(countsOf(summaries), countsOf(purchases));
}

const keyOf = ({ workspace_id, profile_id }: Row): string => `${workspace_id} ${profile_id}`;

/** The identifiers in the profiles themselves. */
function expectedIdentifiers(profiles: readonly Row[], merged: readonly Row[]): string[] {
  const own = profiles.flatMap((row) => [
    ...(row.external_id === null ? [] : [`${keyOf(row)} external_id ${row.external_id}`]),
    ...row.aliases.map((alias: Parameters<typeof aliasValue>[0]) => {
      return `${keyOf(row)} alias ${aliasValue(alias)}`;
    }),
    ...(row.email === null ? [] : [`${keyOf(row)} email ${row.email.toLowerCase()}`]),
    ...(row.phone === null ? [] : [`${keyOf(row)} phone ${row.phone}`]),
  ]);
  const redirected = merged.flatMap(({ kept_profile_id: profile_id, ...row }) =>
    row.external_id === null
      ? []
      : [`${keyOf({ ...row, profile_id })} external_id ${row.external_id}`],
  );
  return [...own, ...redirected];
}

function countsOf(rows: readonly Row[]): string[] {
  const counts = new Map<string, number>();
  for (const row of rows) {
    const key = `${keyOf(row)} ${row.name}`;
    counts.set(key, (counts.get(key) ?? 0) + (row.count ?? 1));
  }
  return [...counts].map(([key, count]) => `${key} ${count}`).sort();
}
