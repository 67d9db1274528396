import type { Workspace } from "../access/workspace.ts";
import type { Clock } from "../clock.ts";
import {
  allDone,
  type Database,
  type Queryable,
  readTogether,
  type Transaction,
  withRetries,
} from "../database/database.ts";
import type { Call } from "../http/endpoint.ts";
import type { Fault } from "../problem.ts";
import type { Who } from "../profiles/identifiers.ts";
import { lockProfiles, selectProfiles } from "../profiles/store.ts";
import { writeSubscriptions } from "../subscriptions/states.ts";
import { writePeopleOf } from "../workspaces/reset.ts";
import { recordAudit } from "./audit.ts";
import { joinBelongings, readBelongings, saveBelongings, type Told } from "./belongings.ts";
import type { Cast, CastChanges, Change } from "./cast.ts";
import { type LoadCastOptions, loadCast } from "./load-cast.ts";
import { findAbandoned, saveCast } from "./save-cast.ts";

export interface IdentityServices {
  readonly database: Database;
  readonly clock: Clock;
}

/** Where an item stands in its request. */
export interface Place {
  readonly array: string;
  readonly index: number;
}

/** One checked item of a request: whom it names, and what it does. */
export interface Step {
  readonly place: Place;
  readonly names: readonly Who[];
  /** Works the item out in the cast. A fault is why it is valid and changes nothing. */
  apply(cast: Cast): Applied;
}

export type Applied =
  | { readonly fault: Fault }
  /** The change is there where users were joined or removed, or became identified. */
  | { readonly done: Done; readonly change?: Change };

/** What happened, in a word. */
export type Done = "added" | "created" | "renamed" | "identified" | "merged" | "deleted";

/** What became of an item, with the effects of its change. */
export interface Result {
  readonly place: Place;
  readonly applied: Applied;
  readonly told: Told | undefined;
}

/** What a request asks for. */
export interface Request {
  readonly steps: readonly Step[];
  readonly call: Call;
  /** Whether nothing is to be changed, only told what would be. */
  readonly isDryRun: boolean;
  /** What is committed with the changes or not at all. It runs again whenever they are tried again. */
  alsoWrite?(tx: Transaction, results: readonly Result[]): Promise<void>;
}

/**
 * Carries out the items of one request, in their order, in one transaction, in a constant number of
 * statements.
 *
 * Everybody whom the items name is read, the items are worked out in memory, and what came of them
 * is written with checks: a profile must be as it was read, an identifier still free. Whoever writes
 * anything of a person raises the version of the profile, so the check covers events, summaries and
 * states too. Where it fails, somebody was faster, and all is rolled back and done again, in the end
 * with the profiles locked before they are read (docs/decisions/read-compute-write.md).
 *
 * @returns what became of each item, in their order.
 */
export function changeIdentities(
  services: IdentityServices,
  workspace: Workspace,
  request: Request,
): Promise<Result[]> {
  const { database } = services;
  if (request.isDryRun) {
    return readTogether(database, async (tx) => {
      const read = (ids: readonly string[]) => selectProfiles(tx, workspace.id, ids);
      return (await workOut(tx, services, workspace, request, read)).results;
    });
  }
  return withRetries(database, async (tx, attempt) => {
    const isLocked = attempt >= LOCKING_TRY;
    const readOrLock = isLocked ? lockProfiles : selectProfiles;
    const read = (ids: readonly string[]) => readOrLock(tx, workspace.id, ids);
    await writePeopleOf(tx, workspace.id);
    const work = await workOut(tx, services, workspace, request, read);
    await save(tx, services, workspace, request, work, isLocked);
    await request.alsoWrite?.(tx, work.results);
    return work.results;
  });
}

/** From which try on profiles are locked before they are read: see LOCKING_TRY in track/write-batch.ts. */
const LOCKING_TRY = 4;

interface Work {
  readonly results: Result[];
  readonly cast: Cast;
  readonly changes: readonly Change[];
  readonly before: Awaited<ReturnType<typeof readBelongings>>;
  readonly outcome: ReturnType<typeof joinBelongings>;
}

async function workOut(
  database: Queryable,
  services: IdentityServices,
  workspace: Workspace,
  { steps }: Request,
  read: LoadCastOptions["read"],
): Promise<Work> {
  const names = steps.flatMap((step) => step.names);
  const cast = await loadCast(database, workspace.id, names, {
    newId: services.clock.newId,
    redirects: workspace.settings.redirect_merged_ids,
    read,
  });
  const applied = steps.map((step) => step.apply(cast));
  const changes = applied.flatMap((each) => ("change" in each && each.change ? [each.change] : []));
  const before = await readBelongings(database, workspace.id, profilesIn(changes));
  const outcome = joinBelongings(changes, before);
  const told = new Map(outcome.told.map((each) => [each.change, each]));
  const results = steps.map(({ place }, index): Result => {
    const each = applied[index] as Applied;
    const change = "change" in each ? each.change : undefined;
    return { place, applied: each, told: change && told.get(change) };
  });
  return { results, cast, changes, before, outcome };
}

/** Whose belongings a change touches. */
function profilesIn(changes: readonly Change[]): string[] {
  const ids = changes.flatMap((change) => {
    if (change.kind === "merge") return [change.kept.platformId, change.merged.platformId];
    return change.kind === "delete" ? [change.user.platformId] : [];
  });
  return [...new Set(ids)];
}

async function save(
  tx: Transaction,
  { clock }: IdentityServices,
  workspace: Workspace,
  { call }: Request,
  { cast, changes, before, outcome }: Work,
  isLocked: boolean,
): Promise<void> {
  const now = clock.now();
  const written = cast.changes(now);
  await saveCast(tx, workspace.id, written, { isLocked, now });
  const abandonedEmails = await findAbandoned(tx, workspace.id, written);
  await allDone([
    saveBelongings(
      tx,
      workspace.id,
      { changes, before, after: outcome.after, abandonedEmails },
      { call, clock },
    ),
    writeSubscriptions(tx, workspace.id, emailStates(written, call), clock),
    recordAudit(tx, workspace.id, outcome.told, { call, clock }),
  ]);
}

const emailStates = ({ initialEmailStates }: CastChanges, call: Call) => ({
  groupStates: [],
  emailStates: [],
  initialEmailStates: initialEmailStates.map((row) => ({ ...row, call })),
});
