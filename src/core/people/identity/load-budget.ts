import { setTimeout as sleep } from "node:timers/promises";
import type { FairLine } from "../../base/fair-line.ts";
import { Problem } from "../../base/problem.ts";
import type { Database, Queryable } from "../../database/database.ts";
import { measureProfiles, measureStored, type Stored } from "../profiles/export-store.ts";
import { findHolders } from "../profiles/find-holders.ts";
import { findLikely, type Naming } from "./likely-holders.ts";

/*
 * The data of a request about identities is measured before it is loaded: a profile may have a
 * megabyte of attributes, and a request names a hundred. lab/attacks.md
 */

/** Bytes of attributes that one request may load: enough for any four users. */
const MOST_LOADED_BYTES = 8 * 1_048_576;

/** As stored. However well the engine compresses, this is within the budget, so nothing else is measured. */
const CERTAINLY_SMALL_BYTES = 65_536;

/**
 * Measuring unpacks stored values: this many of a megabyte each take a few milliseconds of the
 * engine.
 */
const MEASURED_AT_ONCE = 4;

/**
 * The data to read about the users of a request: everything, or no attributes if those exceed the
 * budget and the request can do without them.
 *
 * @throws Problem INVALID_REQUEST over the budget.
 */
export async function columnsWithinBudget(
  tx: Queryable,
  workspaceId: number,
  profileIds: readonly string[],
  canOmitAttributes: boolean,
): Promise<"all" | "names"> {
  const stored = await measureStored(tx, workspaceId, profileIds);
  if (stored.bytes <= CERTAINLY_SMALL_BYTES) return "all";
  if (!(await exceeds(tx, workspaceId, stored, false))) return "all";
  if (!canOmitAttributes) throw tooLarge();
  return "names";
}

interface Previewed {
  readonly steps: readonly Naming[];
  readonly canOmitAttributes: boolean;
  /** The queue for previews of large profiles: one at a time per workspace. */
  readonly line: FairLine;
}

/**
 * Runs a preview. One of large profiles waits until no other one of its workspace runs, outside of any transaction, and is
 * measured there at a pace that leaves the engine to others for half of the time.
 *
 * @throws Problem INVALID_REQUEST over the budget; UNAVAILABLE if too many large ones wait.
 */
export async function previewInLine<Result>(
  database: Database,
  workspaceId: number,
  { steps, canOmitAttributes, line }: Previewed,
  run: () => Promise<Result>,
): Promise<Result> {
  if (database.isWithin) return run();
  const { found } = await findLikely(database, workspaceId, steps);
  const named = steps.flatMap(({ names }) => names);
  const byOwnId = named.filter(({ kind }) => kind === "platform_id");
  const own = await findHolders(database, workspaceId, byOwnId);
  const ids = [...new Set([...found.map((row) => row.profileId), ...[...own.values()].flat()])];
  const stored = await measureStored(database, workspaceId, ids);
  if (stored.bytes <= CERTAINLY_SMALL_BYTES) return run();
  return line.run(workspaceId, async () => {
    const isLarge = await exceeds(database, workspaceId, stored, true);
    if (isLarge && !canOmitAttributes) throw tooLarge();
    return run();
  });
}

/** Stops at the budget. @param isPaced whether it waits as long as it has worked. */
async function exceeds(
  database: Queryable,
  workspaceId: number,
  { smallBytes, largeIds }: Stored,
  isPaced: boolean,
): Promise<boolean> {
  let bytes = smallBytes;
  for (let from = 0; from < largeIds.length; from += MEASURED_AT_ONCE) {
    const startedAt = performance.now();
    const some = largeIds.slice(from, from + MEASURED_AT_ONCE);
    bytes += await measureProfiles(database, workspaceId, some);
    if (bytes > MOST_LOADED_BYTES) return true;
    if (isPaced) await sleep(performance.now() - startedAt);
  }
  return false;
}

const tooLarge = (): Problem =>
  new Problem(
    "INVALID_REQUEST",
    `The attributes of the users that this request names take more than the ${MOST_LOADED_BYTES} bytes allowed. ` +
      "Name fewer users in one request.",
  );
