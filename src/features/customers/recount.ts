import { setTimeout as pause } from "node:timers/promises";
import type { Job, JobKind } from "../../core/admin/jobs/job.ts";
import { enqueue } from "../../core/admin/jobs/queue.ts";
import { type Clock, earlier, later } from "../../core/base/clock.ts";
import { nextTurn } from "../../core/base/turns.ts";
import { entryOf } from "../../core/base/values/group-by.ts";
import type { Database } from "../../core/database/database.ts";
import type { StoringServices } from "../../core/database/storing-services.ts";
import { type Days, daysIn } from "./days.ts";
import { differenceOf } from "./difference.ts";
import { beginOfSlot, slotAt } from "./pending.ts";
import {
  BEFORE_ALL,
  type Counting,
  countEvents,
  countGroupStates,
  countPurchases,
  countStateSteps,
  selectActiveDays,
  selectEmailStates,
  selectFirstChange,
  selectUsers,
} from "./people-store.ts";
import { addMark, emptySketch, markOf, type Sketch } from "./sketch.ts";
import {
  bringCutForward,
  deleteOldDays,
  endRecount,
  insertRecounts,
  lockRecount,
  type Recount,
  replaceRecounted,
  replaceSketches,
  selectRecount,
  selectRecounts,
  selectZones,
} from "./store.ts";
import { AT_PRESENT, type CountKey, type CountKind, createTally, type Tally } from "./tally.ts";
import { type CustomerCounts, countSteps, nextCut, writeActivity } from "./write-counts.ts";

const RECOUNT_JOB = "customer_recount";

/** A recount begins so long after its cut: what was received before it is committed by then. */
const COMMITTED_AFTER_MS = 60_000;

const EVERY = { days: 1 };

/** A workspace that is older than this when it gets its first cut was there before the upgrade: its first recount counts it. */
const NEW_FOR_MS = 10 * 60_000;

/**
 * Gives every workspace a cut, so that a workspace of an older version is counted too, and begins the recounts that are due. A
 * workspace with another zone than before is counted anew soon.
 */
export async function scheduleRecounts({
  database,
  clock,
  customerCounts,
}: StoringServices & { readonly customerCounts: CustomerCounts }): Promise<void> {
  const now = clock.now();
  const zones = new Map((await selectZones(database)).map((each) => [each.workspaceId, each.zone]));
  customerCounts.setZones(zones);
  const recounts = (await selectRecounts(database)).filter(({ workspaceId }) =>
    zones.has(workspaceId),
  );
  const known = new Set(recounts.map(({ workspaceId }) => workspaceId));
  const missing = [...zones].filter(([id]) => !known.has(id));
  const moved = recounts.filter(({ workspaceId, zone }) => zones.get(workspaceId) !== zone);
  const dueBefore = earlier(now, { ms: COMMITTED_AFTER_MS });
  const due = recounts.filter(({ cut }) => beginOfSlot(cut) <= dueBefore);
  if (missing.length + moved.length + due.length === 0) return;
  await database.transaction(async (tx) => {
    const rows = missing.map(([workspaceId, zone]) => ({ workspaceId, zone }));
    // A new workspace has changes of subscriptions already.
    const since = earlier(now, { ms: NEW_FOR_MS });
    if (rows.length > 0) await insertRecounts(tx, rows, nextCut(now), since);
    for (const { workspaceId } of moved) {
      await bringCutForward(tx, workspaceId, nextCut(now), zones.get(workspaceId) ?? "UTC");
    }
    for (const { workspaceId } of due) {
      await enqueue(tx, clock, { workspaceId, kind: RECOUNT_JOB, subject: "workspace" });
    }
  });
}

export const recountJob: JobKind<StoringServices> = {
  name: RECOUNT_JOB,
  run: async (services, job) => recount(services, job),
};

/** How many users a statement looks at, by engine: others wait for it on an engine of one connection. */
const USERS = { embedded: 250, postgres: 2_000 } as const;
/** How many times as long as a step the recount then leaves the engine to others. */
const PAUSES = { embedded: 3, postgres: 1 } as const;
const ADDRESSES = 2_000;

/** How many counts a recount holds; names beyond them are counted together as `…`. */
const MOST_COUNTS = 500_000;

/** Counts a workspace from what is stored. It starts again if it is interrupted. */
async function recount({ database, clock }: StoringServices, job: Job): Promise<void> {
  const { workspaceId } = job;
  const found = await selectRecount(database, workspaceId);
  if (!found) return database.transaction((tx) => job.finish(tx));
  const days = daysIn(found.zone, clock.now());
  if (beginOfSlot(found.cut) < clock.now()) {
    const counted = await countAll(database.for("analysis"), found, days, job.signal);
    await save(database, clock, found, days, counted, job);
  }
  const { revision } = (await selectRecount(database, workspaceId)) ?? found;
  const span = { first: days.first, last: days.today + 1 };
  await writeActivity(database, workspaceId, revision, span);
  await database.transaction((tx) => job.finish(tx));
}

interface Counted {
  readonly tally: Tally;
  readonly sketches: ReadonlyMap<number, Sketch>;
}

/** Everything that was received before the cut of a workspace. */
async function countAll(
  database: Database,
  { workspaceId, cut }: Recount,
  days: Days,
  signal: AbortSignal,
): Promise<Counted> {
  const tally = createTally();
  const sketches = new Map<number, Sketch>();
  const counting: Counting = { workspaceId, cut, borders: days.borders };
  const step = async (work: () => Promise<void>) => {
    signal.throwIfAborted();
    const startedAt = performance.now();
    await work();
    await pause(PAUSES[database.engine] * (performance.now() - startedAt));
  };
  const size = USERS[database.engine];
  for (let after: string | undefined = BEFORE_ALL; after; ) {
    const users = await selectUsers(database, counting, after, size);
    await step(() => countUsers(database, counting, days, users, { tally, sketches }));
    after = users.length < size ? undefined : users.at(-1)?.id;
  }
  for (let after: string | undefined = ""; after !== undefined; ) {
    const addresses = await selectEmailStates(database, counting, after, ADDRESSES);
    for (const { state } of addresses)
      if (state) tally.add("state", AT_PRESENT, `email ${state}`, 1);
    after = addresses.length < ADDRESSES ? undefined : addresses.at(-1)?.email;
    await nextTurn();
  }
  for (const table of ["group_state_changes", "email_state_changes"] as const) {
    await countChanges(database, table, counting, days, tally, signal);
  }
  return { tally, sketches };
}

/** A day at a time, from the first one with a change: most workspaces are younger than the days that are kept. */
async function countChanges(
  database: Database,
  table: "group_state_changes" | "email_state_changes",
  { workspaceId, cut, borders }: Counting,
  days: Days,
  tally: Tally,
  signal: AbortSignal,
): Promise<void> {
  const before = new Date((borders[0] as number) - 1);
  const first = await selectFirstChange(database, workspaceId, table, before);
  if (!first) return;
  const cutAt = later(beginOfSlot(cut), { ms: -1 });
  for (const [index, begin] of borders.slice(0, -1).entries()) {
    const end = new Date((borders[index + 1] as number) - 1);
    if (end < first) continue;
    const span = { borders, after: new Date(begin - 1), until: end < cutAt ? end : cutAt };
    if (span.after >= span.until) break;
    countSteps(tally, days, await countStateSteps(database, workspaceId, table, span, false));
    signal.throwIfAborted();
  }
}

async function countUsers(
  database: Database,
  counting: Counting,
  days: Days,
  users: Awaited<ReturnType<typeof selectUsers>>,
  { tally, sketches }: { readonly tally: Tally; readonly sketches: Map<number, Sketch> },
): Promise<void> {
  const dayOf = (place: number) => days.first + place - 1;
  for (const { place, hasEmail, hasPhone } of users) {
    tally.add("users", AT_PRESENT, "", 1);
    if (place > 0) tally.add("new", dayOf(place), "", 1);
    if (hasEmail) tally.add("address", AT_PRESENT, "email", 1);
    if (hasPhone) tally.add("address", AT_PRESENT, "phone", 1);
  }
  const ids = users.map(({ id }) => id);
  if (ids.length === 0) return;
  const bounded = (name: string) => (tally.size() < MOST_COUNTS ? name : "…");
  for (const { place, name, seen } of await countEvents(database, counting, ids)) {
    tally.add("event", dayOf(place), bounded(name), seen);
  }
  for (const { place, name, currency, seen, amount } of await countPurchases(
    database,
    counting,
    ids,
  )) {
    tally.add("product", dayOf(place), bounded(name), seen);
    tally.addAmount(dayOf(place), currency, seen, amount);
  }
  for (const { name, state, seen } of await countGroupStates(database, counting, ids)) {
    if (state) tally.add("state", AT_PRESENT, `${name} ${state}`, seen);
  }
  for (const table of ["events", "purchases"] as const) {
    for (const { id, places } of await selectActiveDays(database, counting, table, ids)) {
      const mark = markOf(id);
      for (const place of places.split(",")) {
        addMark(entryOf(sketches, dayOf(Number(place)), emptySketch), mark);
      }
    }
  }
}

/** What is counted from rows that retention may delete. */
const OF_KEPT = new Set<CountKind>(["event", "product", "revenue"]);

/** Corrects the counts of what was received before the cut, apart from days of which rows were deleted. */
async function save(
  database: Database,
  clock: Clock,
  { workspaceId, cut, zone }: Recount,
  days: Days,
  { tally, sketches }: Counted,
  job: Job,
): Promise<void> {
  const next = later(beginOfSlot(cut), EVERY);
  const kept = (await selectZones(database)).find((each) => each.workspaceId === workspaceId);
  // What retention has deleted stays as it was counted before; today's first day of it is not whole.
  const since = kept?.keptDays ? days.today - kept.keptDays + 2 : days.first;
  const isReplaced = ({ kind, day }: CountKey) => !OF_KEPT.has(kind) || day >= since;
  const difference = await differenceOf(
    database.for("analysis"),
    workspaceId,
    tally.counts().filter(isReplaced),
    sketches,
    { since, isReplaced },
  );
  await database.transaction(async (tx) => {
    await job.advance(tx);
    const locked = await lockRecount(tx, workspaceId);
    // Reset meanwhile, or moved to another zone: then the next recount comes at once.
    if (locked?.cut !== cut || locked.zone !== zone) return;
    const following = next > clock.now() ? slotAt(next) : nextCut(clock.now());
    await endRecount(tx, workspaceId, { counted: cut, cut: following, since });
    await replaceRecounted(tx, workspaceId, difference);
    await replaceSketches(tx, workspaceId, difference);
  });
}

export const sweepCustomers = (database: Database, now: Date): Promise<void> =>
  deleteOldDays(database, daysIn("UTC", now).first - 1);
