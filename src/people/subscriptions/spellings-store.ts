import { bucketsOfValues } from "../../database/buckets.ts";
import type { Queryable } from "../../database/database.ts";
import { type AddressRow, hasForm, NO_ID } from "../profiles/spellings-store.ts";

/** The tables whose rows belong to an address; the history has several rows for each. */
export type AddressTable = "email_states" | "hard_bounces" | "email_state_changes";

const idIn = (table: AddressTable): string =>
  table === "email_state_changes" ? "change_id" : `'${NO_ID}'::uuid`;

/** A page of rows, those after a row. */
export const selectSpelledRows = (
  database: Queryable,
  table: AddressTable,
  { address, workspaceId, id }: AddressRow,
  limit: number,
): Promise<AddressRow[]> =>
  database.query<AddressRow>(
    `select email as address, workspace_id as "workspaceId", ${idIn(table)} as id from ${table}
     where ${hasForm("email")} and (email, workspace_id, ${idIn(table)}) > ($1, $2, $3::uuid)
     order by email, workspace_id${table === "email_state_changes" ? ", change_id" : ""} limit $4`,
    [address, workspaceId, id, limit],
  );

/** Those of the addresses that have a row. */
export async function selectPresent(
  database: Queryable,
  table: "identifiers" | AddressTable,
  workspaceId: number,
  addresses: readonly string[],
): Promise<string[]> {
  const [column, kind] = table === "identifiers" ? ["value", " and kind = 'email'"] : ["email", ""];
  const rows = await database.query<{ address: string }>(
    `select distinct ${column} as address from ${table}
     where workspace_id = $1 and ${column} = any($2::text[]) and bucket = any($3::smallint[])${kind}`,
    [workspaceId, addresses, bucketsOfValues(workspaceId, addresses).all],
  );
  return rows.map(({ address }) => address);
}
