import { join } from "node:path";
import { uuidOf } from "../../src/core/base/values/uuid.ts";
import { bucketOfId, bucketOfValue } from "../../src/core/database/buckets.ts";
import type { Database, Queryable } from "../../src/core/database/database.ts";
import { migrateWithin } from "../../src/core/database/migrations/migrate.ts";
import { openDatabase } from "../../src/server/open-database.ts";
import { testConfig } from "../harness.ts";
import { temporaryFolder } from "../stored-rows.ts";

/*
 * Data as versions stored it that compared addresses in lower case: each spelling is an address of its own. Written
 * with their statements, because this version has no way to make such rows.
 */

const WORKSPACE = 1;

export interface EarlierUser {
  readonly externalId: string;
  /** As it was written. */
  readonly email: string;
}

export interface EarlierState {
  readonly email: string;
  readonly state: "opted_in" | "subscribed" | "unsubscribed";
  /** A day of January 2026. */
  readonly day: number;
}

export interface EarlierData {
  readonly users?: readonly EarlierUser[];
  readonly states?: readonly EarlierState[];
  readonly bounces?: readonly { readonly email: string; readonly day: number }[];
  /** User names, the first created first. */
  readonly dashboardUsers?: readonly string[];
}

export const idOf = (place: number): string => uuidOf(`0198${String(place).padStart(28, "0")}`);

const timeOf = (day: number): string => `2026-01-${String(day).padStart(2, "0")}T00:00:00.123Z`;

/** Gives an empty database the earlier schema, a company with the workspace "shop", and data. */
export async function storeEarlier(database: Database, data: EarlierData): Promise<void> {
  await database.for("analysis").transaction(async (tx) => {
    await tx.script("drop schema public cascade");
    await tx.script("create schema public");
    await migrateWithin(tx, (name) => name < "0036-one-form");
    await tx.query(`insert into companies values ('${idOf(0)}', 'Acme', '2026-01-01')`);
    await tx.query(
      `insert into workspaces (workspace_id, company_id, name, allow_reset, settings, created_at)
       values (${WORKSPACE}, '${idOf(0)}', 'shop', true, '{}', '2026-01-01')`,
    );
    await storeRows(tx, data, 1);
    for (const [place, userName] of (data.dashboardUsers ?? []).entries()) {
      await tx.query(
        `insert into dashboard_users (company_id, user_id, user_name_key, attributes, searchable, created_at, updated_at)
         select '${idOf(0)}', $1, $2, $3::text::json, $4::text::jsonb, '2026-01-01', '2026-01-01'`,
        [
          idOf(900 + place),
          userName.toLowerCase(),
          JSON.stringify({
            userName,
            active: true,
            name: { givenName: "Ada", familyName: "Lovelace" },
            department: "bi",
            permissions: { companyPermissions: [], appGroup: [] },
          }),
          JSON.stringify({ userName: userName.toLowerCase(), active: true }),
        ],
      );
    }
  });
}

/** @param from the place of the first user and of the first state among all; ids follow from them. */
export async function storeRows(
  tx: Queryable,
  { users = [], states = [], bounces = [] }: EarlierData,
  from: number,
): Promise<void> {
  const ids = users.map((_, place) => idOf(from + place));
  await tx.query(
    `insert into profiles (workspace_id, bucket, profile_id, version, external_id, aliases, email,
       standard_attributes, custom_attributes, created_at, updated_at)
     select ${WORKSPACE}, bucket, id, 1, external_id, '[]', email, '{}', '{}', '2026-01-01', '2026-01-01'
     from unnest($1::smallint[], $2::uuid[], $3::text[], $4::text[]) as new (bucket, id, external_id, email)`,
    [
      ids.map(bucketOfId),
      ids,
      users.map(({ externalId }) => externalId),
      users.map(({ email }) => email),
    ],
  );
  const identifiers = users.flatMap(({ externalId, email }, place) => [
    { kind: "external_id", value: externalId, id: ids[place] },
    { kind: "email", value: email.toLowerCase(), id: ids[place] },
  ]);
  await tx.query(
    `insert into identifiers (workspace_id, bucket, value, kind, profile_id)
     select ${WORKSPACE}, bucket, value, kind::identifier_kind, id
     from unnest($1::smallint[], $2::text[], $3::text[], $4::uuid[]) as new (bucket, value, kind, id)`,
    [
      identifiers.map(({ value }) => bucketOfValue(WORKSPACE, value)),
      identifiers.map(({ value }) => value),
      identifiers.map(({ kind }) => kind),
      identifiers.map(({ id }) => id),
    ],
  );
  const ofStates = [
    states.map(({ email }) => bucketOfValue(WORKSPACE, email.toLowerCase())),
    states.map(({ email }) => email.toLowerCase()),
    states.map(({ state }) => state),
    states.map(({ day }) => timeOf(day)),
  ];
  await tx.query(
    `insert into email_states (workspace_id, bucket, email, state, set_at)
     select ${WORKSPACE}, * from unnest($1::smallint[], $2::text[], $3::text[], $4::timestamptz[])`,
    ofStates,
  );
  await tx.query(
    `insert into email_state_changes (workspace_id, bucket, email, state, changed_at, change_id, call, request_id)
     select ${WORKSPACE}, new.*, 'POST /email/status', 'request'
     from unnest($1::smallint[], $2::text[], $3::text[], $4::timestamptz[], $5::uuid[]) as new`,
    [...ofStates, states.map((_, place) => idOf(5_000_000 + from + place))],
  );
  await tx.query(
    `insert into hard_bounces (workspace_id, bucket, email, bounced_at)
     select ${WORKSPACE}, * from unnest($1::smallint[], $2::text[], $3::timestamptz[])`,
    [
      bounces.map(({ email }) => bucketOfValue(WORKSPACE, email.toLowerCase())),
      bounces.map(({ email }) => email.toLowerCase()),
      bounces.map(({ day }) => timeOf(day)),
    ],
  );
}

/** A database with earlier data, and what a server needs to open it. */
export async function earlier(data: EarlierData) {
  const config = await testConfig({ dataDir: join(await temporaryFolder(), "data") });
  const database = await openDatabase(config);
  await storeEarlier(database, data);
  await database.close();
  const { dataDir, databaseUrl } = config;
  return { dataDir, databaseUrl };
}
