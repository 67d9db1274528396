import type { Queryable } from "../../database/database.ts";

/** A row of an address, in the order of all such rows of a table. */
export interface AddressRow {
  /** As it is stored. */
  readonly address: string;
  readonly workspaceId: number;
  /** Of the profile, or of an entry of the history; of a table with one row for each address, `NO_ID`. */
  readonly id: string;
}

export const NO_ID = "00000000-0000-0000-0000-000000000000";

export const FIRST_ROW: AddressRow = { address: "", workspaceId: 0, id: NO_ID };

/** The condition of the rows whose address may have another form: see `addressForm`. */
export const hasForm = (column: string): string =>
  `(octet_length(${column}) <> char_length(${column}) or ${column} like '%xn--%')`;

/** A page of identifiers, those after a row. */
export const selectSpelledIdentifiers = (
  database: Queryable,
  { address, workspaceId, id }: AddressRow,
  limit: number,
) =>
  database.query<AddressRow>(
    `select value as address, workspace_id as "workspaceId", profile_id as id from identifiers
     where kind = 'email' and ${hasForm("value")}
       and (value, workspace_id, profile_id) > ($1, $2, $3::uuid)
     order by value, workspace_id, profile_id limit $4`,
    [address, workspaceId, id, limit],
  );
