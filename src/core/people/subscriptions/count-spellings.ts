import { addressForm } from "../../base/values/address-form.ts";
import { groupBy } from "../../base/values/group-by.ts";
import type { Queryable } from "../../database/database.ts";
import {
  type AddressRow,
  FIRST_ROW,
  selectSpelledIdentifiers,
} from "../profiles/spellings-store.ts";
import { type AddressTable, selectPresent, selectSpelledRows } from "./spellings-store.ts";

/* What it changes to give every address its form (`addressForm`). docs/decisions/addresses.md */

export const SPELLED_TABLES = [
  "identifiers",
  "email_states",
  "hard_bounces",
  "email_state_changes",
] as const satisfies readonly ("identifiers" | AddressTable)[];

export type SpelledTable = (typeof SPELLED_TABLES)[number];

/** A page of the rows of a table whose address may have another form. */
export const selectSpelled = (
  database: Queryable,
  table: SpelledTable,
  after: AddressRow,
  limit: number,
): Promise<AddressRow[]> =>
  table === "identifiers"
    ? selectSpelledIdentifiers(database, after, limit)
    : selectSpelledRows(database, table, after, limit);

/** The number of rows that get another form, and of spellings that are one address with another one. */
export interface SpellingCount {
  readonly rows: number;
  readonly joined: number;
}

const PAGE = 5_000;

/** About 100 bytes each. Of more, some joined spellings may be missed. */
const MOST_FORMS = 2_000_000;

/** Counts what the migration would change, and changes nothing. */
export async function countSpellings(
  database: Queryable,
): Promise<Record<SpelledTable, SpellingCount>> {
  const counts: [SpelledTable, SpellingCount][] = [];
  for (const table of SPELLED_TABLES) counts.push([table, await countIn(database, table)]);
  return Object.fromEntries(counts) as Record<SpelledTable, SpellingCount>;
}

async function countIn(database: Queryable, table: SpelledTable): Promise<SpellingCount> {
  const forms = new Set<string>();
  let rows = 0;
  let joined = 0;
  let after = FIRST_ROW;
  let counted = "";
  for (;;) {
    const page = await selectSpelled(database, table, after, PAGE);
    const last = page.at(-1);
    if (!last) return { rows, joined };
    after = last;
    const changed = page
      .map((row) => ({ ...row, form: addressForm(row.address) }))
      .filter(({ address, form }) => form !== address);
    rows += changed.length;
    for (const [workspaceId, all] of groupBy(changed, (row) => row.workspaceId)) {
      const present = new Set(
        await selectPresent(
          database,
          table,
          workspaceId,
          all.map(({ form }) => form),
        ),
      );
      for (const { address, form } of all) {
        const key = `${workspaceId} ${form}`;
        // Rows of one address follow each other.
        if (`${workspaceId} ${address}` === counted) continue;
        counted = `${workspaceId} ${address}`;
        if (present.has(form) || forms.has(key)) joined += 1;
        if (forms.size < MOST_FORMS) forms.add(key);
      }
    }
  }
}
