import type { Database } from "../../database/database.ts";
import { type ChainedEntry, type Head, isAsWritten, type Unchained } from "./chain.ts";
import { selectChain, selectFiner, selectHead, selectOutside, selectUnchained } from "./store.ts";

/** The first place where the audit has been altered. */
export interface Break {
  readonly position: number;
  /** The row there; null if there is none. */
  readonly entry: ChainedEntry | null;
  readonly message: string;
}

export interface Verification {
  readonly head: Pick<Head, "entries" | "hash">;
  /** Undefined: every row is unaltered. */
  readonly brokenAt: Break | undefined;
}

/** Few enough that hashing a page delays no other request; large rows make it shorter. */
const PAGE = 500;

/**
 * Walks the chain of the audit in pages, up to its end when the walk begins, and accounts for every other row of the table.
 *
 * @param expected a hash that was printed earlier: the chain must still have it. It shows that no rows
 *   were removed from the end together with the record of that end.
 * @returns the recorded end of the chain, and the first break.
 */
export async function verifyAudit(
  services: { readonly database: Database },
  expected: string | undefined,
): Promise<Verification> {
  const database = services.database.for("analysis");
  const head = await selectHead(database);
  if (!head) {
    const message = "The record of the end of the chain was removed.";
    return { head: { entries: 0, hash: "" }, brokenAt: { position: 0, entry: null, message } };
  }
  const { entries, hash } = head;
  const walk = { found: expected === undefined };
  const brokenAt =
    (await findBreak(database, head, (each) => {
      walk.found ||= each === expected;
    })) ??
    (await findUnchained(database, head.unchained)) ??
    (await findOutside(database)) ??
    (await findFiner(database)) ??
    (walk.found ? undefined : missing(entries, EXPECTED_MISSING));
  return { head: { entries, hash }, brokenAt };
}

const EXPECTED_MISSING =
  "No row has the expected hash: rows were removed from the end or replaced after it was printed.";

const missing = (position: number, message: string): Break => ({ position, entry: null, message });

async function findBreak(
  database: Database,
  head: Head,
  seen: (hash: string) => void,
): Promise<Break | undefined> {
  let position = 0;
  let before = "";
  while (position < head.entries) {
    const rows = await selectChain(database, position, undefined, PAGE);
    if (rows.length === 0) break;
    for (const row of rows) {
      if (position === head.entries) break;
      position += 1;
      if (row.position !== position) {
        return missing(position, "This row was removed.");
      }
      if (!isAsWritten(before, position, head.unchained, row)) {
        return at(
          row,
          "This row was changed or inserted, or the row before it was replaced: its hash does not match.",
        );
      }
      before = row.hash;
      seen(before);
    }
  }
  if (position < head.entries) {
    return missing(position + 1, "This row and all after it were removed.");
  }
  if (before === head.hash) return undefined;
  return missing(
    position,
    "The record of the end of the chain has another hash than the last row.",
  );
}

async function findUnchained(database: Database, expected: Unchained): Promise<Break | undefined> {
  const found = await selectUnchained(database);
  if (found.rows !== expected.rows) {
    const message = `${found.rows} rows are not part of the chain, where ${expected.rows} were there before it.`;
    return missing(0, message);
  }
  if (found.hash === expected.hash) return undefined;
  return missing(0, "A row from before the chain was changed.");
}

async function findOutside(database: Database): Promise<Break | undefined> {
  const entry = await selectOutside(database);
  if (!entry) return undefined;
  const where = entry.position < 1 ? "before the beginning" : "at the end";
  return at(entry, `This row was inserted ${where}.`);
}

async function findFiner(database: Database): Promise<Break | undefined> {
  const entry = await selectFiner(database);
  return entry && at(entry, "The time of this row was changed: it has parts of a millisecond.");
}

/** A break at a row, which is left out if its time is none: that cannot be shown. */
const at = (row: ChainedEntry, message: string): Break => {
  const isShown = row.at instanceof Date && !Number.isNaN(row.at.getTime());
  return { position: row.position, entry: isShown ? row : null, message };
};
