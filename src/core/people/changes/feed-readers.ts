import { setTimeout as sleep } from "node:timers/promises";
import { createFairLine, type FairLine } from "../../base/fair-line.ts";
import { startTurns } from "../../base/turns.ts";
import type { Database } from "../../database/database.ts";
import type { ChangeType, FeedChange } from "./change.ts";
import { type Positions, writeCursor } from "./cursor.ts";
import {
  type FeedPage,
  type FeedWorkspace,
  inFeed,
  namedIn,
  positionsAfter,
  readFeed,
  readHeads,
  startOf,
} from "./read-changes.ts";
import type { ChangeWatch } from "./watch-changes.ts";

/*
 * The readers of a workspace's feed take turns together. A turn reads the heads once, and the changes after each
 * position once for all readers at it. Each reader then takes what it asked for; one that finds nothing moves on
 * without a response, so all that wait are at one position and the next turn needs one read for them.
 *
 * A turn responds to a few readers and is followed by a pause that grows with them, so the work of a workspace per
 * second is bounded, however many of its readers wait (docs/decisions/change-feed.md).
 */

export interface WantedPage {
  /** A cursor, `beginning`, or undefined for the latest position. */
  readonly cursor: string | undefined;
  readonly limit: number;
  /** Undefined for all. */
  readonly types: ReadonlySet<ChangeType> | undefined;
  /** The platform_id, in lower case, of the user to read the changes of; undefined for all users. */
  readonly user: string | undefined;
  /** For how long to wait if nothing is new. */
  readonly waitMs: number;
  /** Ends the reading with its reason. */
  readonly signal: AbortSignal;
}

export type FeedReaders = ReturnType<typeof createFeedReaders>;

type ReadFeed = (workspace: FeedWorkspace, wanted: WantedPage) => Promise<ReadPage>;

export type ReadPage = Omit<FeedPage, "characters">;

/** Turns at the same time, of different workspaces. */
const TURNS_AT_ONCE = 4;

/** How many positions one turn reads from, and how many readers it responds to. */
const MOST_READS = 4;
const MOST_RESPONSES = 50;

/** The largest limit of a page: a filter looks at so many changes in one turn. */
const MOST_CHANGES = 1_000;

/** The pause after a turn for each response, and for each 64 KB of a response beyond the first. */
const PAUSE_MS = 0.5;
const PAUSED_CHARACTERS = 65_536;

/** The least pause while other readers wait: those that join in it share the next turn. */
const LEAST_PAUSE_MS = 5;

/** How many pages a request looks at if it finds no change of the requested types. */
const MOST_LOOKS = 20;

/** The pause after a turn that the database refused. */
const FAILED_PAUSE_MS = 1_000;

/** One wait for a change; another one follows. */
const WATCH_MS = 60_000;

interface Reader {
  readonly wanted: WantedPage;
  readonly endsAt: number;
  /** Where it reads on, as a cursor: the same text for all readers there. */
  place: string;
  /** Undefined before its first turn. */
  positions: Positions | undefined;
  /** Whether nothing came after its position at the last turn. */
  isCaughtUp: boolean;
  readonly found: FeedChange[];
  looks: number;
  readonly resolve: (page: ReadPage) => void;
  readonly reject: (error: unknown) => void;
}

/** The result of one read for all readers at a position. */
interface SharedPage extends FeedPage {
  readonly after: Positions;
  /** The cursor behind it. */
  readonly place: string;
  readonly types: ReadonlySet<ChangeType>;
  readonly people: ReadonlySet<string>;
}

interface GroupServices {
  readonly database: Database;
  readonly changeWatch: ChangeWatch;
  readonly turns: FairLine;
}

/** Reads the feed for all readers of this process. */
export function createFeedReaders(database: Database, changeWatch: ChangeWatch) {
  const groups = new Map<string, ReadFeed>();
  const turns = createFairLine({
    places: TURNS_AT_ONCE,
    mostWaiting: 1,
    refusal: () => new Error("A workspace takes one turn at a time."),
  });
  return {
    /** @throws Problem GONE with `oldest`; NOT_FOUND if the feed is off; the reason of the signal. */
    read(workspace: FeedWorkspace, wanted: WantedPage) {
      // A feed that was turned off and on again is another one.
      const key = `${workspace.id} ${workspace.feed}`;
      const services = { database, changeWatch, turns };
      const read = groups.get(key) ?? createGroup(services, workspace, () => groups.delete(key));
      groups.set(key, read);
      return read(workspace, wanted);
    },
  };
}

/** The readers of one workspace. @param onEmpty is called once none is left. */
function createGroup(
  { database, changeWatch, turns }: GroupServices,
  workspace: FeedWorkspace,
  onEmpty: () => void,
): ReadFeed {
  /** Those that have waited longest come first. */
  const readers = new Set<Reader>();
  let isRunning = false;
  let wake = () => {};

  async function run(): Promise<void> {
    isRunning = true;
    while (readers.size > 0) {
      const turn = () => takeTurn(database, workspace, readers);
      const pauseMs = await turns.run(workspace.id, turn).catch(rejectNew);
      await sleep(Math.max(readers.size > 0 ? LEAST_PAUSE_MS : 0, pauseMs));
      if (changeWatch.isStopped) for (const each of readers) if (each.positions) respond(each);
      await nextChange();
    }
    isRunning = false;
    onEmpty();
  }

  /** Without the database, those that wait go on waiting. */
  function rejectNew(error: unknown): number {
    for (const each of readers) if (!each.positions) each.reject(error);
    return FAILED_PAUSE_MS;
  }

  /** Resolves once there is something to read, or a reader comes or goes. */
  async function nextChange(): Promise<void> {
    const [first] = readers;
    if (!first?.positions || [...readers].some((each) => !each.isCaughtUp)) return;
    const abort = new AbortController();
    wake = () => abort.abort();
    await changeWatch.wait(workspace.id, first.positions, WATCH_MS, abort.signal);
  }

  return (_, wanted) =>
    new Promise((resolve, reject) => {
      const { cursor: place = "", waitMs, signal } = wanted;
      const leave = (how: () => void) => {
        if (!readers.delete(reader)) return;
        clearTimeout(timer);
        signal.removeEventListener("abort", abort);
        how();
        wake();
      };
      const reader: Reader = {
        ...{ wanted, place, positions: undefined, isCaughtUp: false, found: [], looks: 0 },
        endsAt: performance.now() + waitMs,
        resolve: (page) => leave(() => resolve(page)),
        reject: (error) => leave(() => reject(error)),
      };
      const abort = () => reader.reject(signal.reason);
      // One that has not had its turn gets that first.
      const timer = setTimeout(() => reader.positions && respond(reader), waitMs);
      readers.add(reader);
      signal.addEventListener("abort", abort);
      if (signal.aborted) abort();
      wake();
      if (!isRunning) void run();
    });
}

/** Reads for all readers and responds to those that find something. @returns for how long the next turn waits. */
async function takeTurn(
  database: Database,
  workspace: FeedWorkspace,
  readers: ReadonlySet<Reader>,
): Promise<number> {
  // Before the heads: a reader that comes later may be further than these.
  const present = [...readers];
  const heads = await readHeads(database, workspace);
  const latest = writeCursor(workspace, heads);
  for (const each of present) each.isCaughtUp = each.isCaughtUp && each.place === latest;
  const pages = new Map<string, Promise<SharedPage>>();
  const parts = startTurns();
  let weight = 0;
  for (const reader of present) {
    const { place, positions, isCaughtUp } = reader;
    if (isCaughtUp || (pages.size === MOST_READS && !pages.has(place))) continue;
    if (weight >= MOST_RESPONSES) break;
    try {
      const limit = () => Math.max(...present.filter((each) => each.place === place).map(mostOf));
      const page =
        pages.get(place) ??
        readFrom(database, workspace, { place, positions, heads, limit: limit() });
      pages.set(place, page);
      const shared = await page;
      if (readers.has(reader)) weight += take(reader, shared);
    } catch (error) {
      reader.reject(error);
    }
    if (parts.isOver()) await parts.next();
  }
  return weight * PAUSE_MS;
}

/** Lets a reader take its part of a page. @returns the weight of its response, 0 if it gets none. */
function take(reader: Reader, page: SharedPage): number {
  const { wanted, found, endsAt } = reader;
  const taken = wantedIn(page, wanted).slice(0, wanted.limit - found.length);
  found.push(...taken);
  const isFull = found.length === wanted.limit;
  const end = isFull ? page.changes.indexOf(taken.at(-1) as FeedChange) + 1 : page.changes.length;
  const isWhole = end === page.changes.length;
  reader.place = page.place;
  reader.positions = isWhole
    ? page.positions
    : positionsAfter(page.after, page.changes.slice(0, end));
  reader.isCaughtUp = isWhole && page.isCaughtUp;
  const isDone = reader.isCaughtUp || isFull || !isFiltered(wanted);
  if (!isDone && ++reader.looks < MOST_LOOKS) return 0;
  if (found.length === 0 && reader.isCaughtUp && performance.now() < endsAt) {
    reader.looks = 0;
    return 0;
  }
  respond(reader);
  const share = taken.length / Math.max(1, page.changes.length);
  return 1 + (page.characters * share) / PAUSED_CHARACTERS;
}

const respond = ({ found: changes, positions = new Map(), isCaughtUp, resolve }: Reader): void =>
  resolve({ changes, positions, isCaughtUp });

/** Reads what follows a position. @throws as `FeedReaders.read`. */
const readFrom = (
  database: Database,
  workspace: FeedWorkspace,
  {
    place,
    positions,
    heads,
    limit,
  }: Pick<Reader, "place" | "positions"> & { heads: Positions; limit: number },
): Promise<SharedPage> =>
  inFeed(database, workspace, async () => {
    const after = positions ?? (await startOf(database, workspace, place || undefined, heads));
    // The oldest position may have been deleted since, and be newer than the heads.
    const latest = place === "beginning" ? await readHeads(database, workspace) : heads;
    const page = await readFeed(database, workspace, { after, heads: latest, limit });
    return {
      ...page,
      after,
      place: writeCursor(workspace, page.positions),
      types: new Set(page.changes.map(({ type }) => type)),
      people: new Set(page.changes.flatMap(namedIn)),
    };
  });

const isFiltered = ({ types, user }: WantedPage): boolean =>
  types !== undefined || user !== undefined;

const mostOf = ({ wanted, found }: Reader): number =>
  isFiltered(wanted) ? MOST_CHANGES : wanted.limit - found.length;

/** The changes of a page that a reader asked for. Most readers that wait find nothing, and each change must not be looked at for each of them. */
function wantedIn(page: SharedPage, { types, user }: WantedPage): readonly FeedChange[] {
  if (types && ![...types].some((type) => page.types.has(type))) return [];
  if (user !== undefined && !page.people.has(user)) return [];
  return page.changes.filter(
    (change) =>
      (!types || types.has(change.type)) && (user === undefined || namedIn(change).includes(user)),
  );
}
