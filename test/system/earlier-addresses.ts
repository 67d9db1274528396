import { uuidOf } from "../../src/base/values/uuid.ts";
import { bucketOfId, bucketOfValue } from "../../src/database/buckets.ts";
import type { Database, Transaction } from "../../src/database/database.ts";
import { migrateWithin } from "../../src/database/migrations/migrate.ts";

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

const timeOf = (day: number): string => `2026-01-${String(day).padStart(2, "0")}T00:00:00.123456Z`;

/** Gives an empty database the earlier schema, a company with the workspace "shop", and data. */
export async function storeEarlier(database: Database, data: EarlierData): Promise<void> {
  await database.for("analysis").transaction(async (tx) => {
    await tx.script("drop schema public cascade");
    await tx.script("create schema public");
    await migrateWithin(tx, (name) => name < "0033");
    await tx.query(`insert into companies values ('${idOf(0)}', 'Acme', '2026-01-01')`);
    await tx.query(
      `insert into workspaces (workspace_id, company_id, name, allow_reset, settings, created_at)
       values (${WORKSPACE}, '${idOf(0)}', 'shop', true, '{}', '2026-01-01')`,
    );
    for (const [place, user] of (data.users ?? []).entries()) await storeUser(tx, user, place + 1);
    for (const [place, state] of (data.states ?? []).entries())
      await storeState(tx, state, place + 1);
    for (const { email, day } of data.bounces ?? []) {
      const value = email.toLowerCase();
      await tx.query(
        `insert into hard_bounces (workspace_id, bucket, email, bounced_at)
         select ${WORKSPACE}, $1, $2, $3::timestamptz`,
        [bucketOfValue(WORKSPACE, value), value, timeOf(day)],
      );
    }
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
            permissions: { companyPermissions: [], appGroup: [] },
          }),
          JSON.stringify({ userName: userName.toLowerCase(), active: true }),
        ],
      );
    }
  });
}

async function storeUser(tx: Transaction, { externalId, email }: EarlierUser, place: number) {
  const id = idOf(place);
  await tx.query(
    `insert into profiles (workspace_id, bucket, profile_id, version, external_id, aliases, email,
       standard_attributes, custom_attributes, created_at, updated_at)
     select ${WORKSPACE}, $1, $2, 1, $3, '[]', $4, '{}', '{}', '2026-01-01', '2026-01-01'`,
    [bucketOfId(id), id, externalId, email],
  );
  for (const [kind, value] of [
    ["external_id", externalId],
    ["email", email.toLowerCase()],
  ] as const) {
    await tx.query(
      `insert into identifiers (workspace_id, bucket, value, kind, profile_id)
       select ${WORKSPACE}, $1, $2, $3::text::identifier_kind, $4`,
      [bucketOfValue(WORKSPACE, value), value, kind, id],
    );
  }
}

async function storeState(tx: Transaction, { email, state, day }: EarlierState, place: number) {
  const value = email.toLowerCase();
  const bucket = bucketOfValue(WORKSPACE, value);
  await tx.query(
    `insert into email_states (workspace_id, bucket, email, state, set_at)
     select ${WORKSPACE}, $1, $2, $3, $4::timestamptz`,
    [bucket, value, state, timeOf(day)],
  );
  await tx.query(
    `insert into email_state_changes (workspace_id, bucket, email, change_id, state, changed_at, call, request_id)
     select ${WORKSPACE}, $1, $2, $3, $4, $5::timestamptz, 'POST /email/status', $6`,
    [bucket, value, idOf(500 + place), state, timeOf(day), `request-${place}`],
  );
}
