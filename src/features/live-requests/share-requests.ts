import type { ErasedPerson, TraceEraser } from "../../core/admin/retention/retention.ts";
import { earlier } from "../../core/base/clock.ts";
import { type Mentions, mentionsOf } from "../../core/base/mentions.ts";
import {
  type Database,
  isUnavailable,
  type Transaction,
  withRetries,
} from "../../core/database/database.ts";
import { isRefusal } from "../../core/http/respond.ts";
import { bytesOf, type KeptRequest, type RequestLog } from "./request-log.ts";
import {
  deleteOldRequests,
  deleteRequests,
  insertRequests,
  lockForErasing,
  lockForWriting,
  selectErasures,
  selectTexts,
  trimRequests,
  upsertErasure,
} from "./store.ts";

/*
 * If several servers share a database, each process writes its requests into one small table, in
 * one batch a second, so that every server shows the requests of all servers. The embedded engine has one process,
 * which writes them when it stops: a restart forgets nothing. docs/decisions/live-requests.md
 */

export type RequestSharing = ReturnType<typeof createRequestSharing>;

type SharingServices = { readonly database: Database; readonly requestLog: RequestLog };

interface Portion {
  readonly requests: number;
  readonly bytes: number;
}

const A_SECOND: Portion = { requests: 100, bytes: 524_288 };
const AT_THE_END: Portion = { requests: 1_000, bytes: 4 * 1_048_576 };

/** The limit for all processes in the table together. */
const MOST_STORED = 1_000;
const MOST_STORED_BYTES = 16 * 1_048_576;

const KEPT = { days: 1 };

/** The clocks of servers on one database differ by less (docs/decisions/clocks.md). */
const CLOCKS_DIFFER_MS = 1_000;

export function createRequestSharing({ database, requestLog }: SharingServices) {
  const isShared = database.engine === "postgres";
  /** What this process has forgotten already. */
  let applied: ReadonlyMap<number, Date> = new Map();
  let written: string | undefined;
  let writing: Promise<void> | undefined;

  async function writeAtMost(most: Portion): Promise<void> {
    const latest = requestLog.latest();
    if (latest === undefined) return;
    const fresh = portionOf(requestLog.after(written), most);
    const erasures = await database.transaction(async (tx) => {
      if (fresh.length > 0) await lockForWriting(tx);
      const found = await selectErasures(tx);
      const unerased = fresh.filter((request) => !isErased(request, found));
      if (unerased.length === 0) return found;
      const sized = unerased.map((request) => ({ ...request, bytes: bytesOf(request) }));
      await insertRequests(tx, { logId: requestLog.id, server: requestLog.server }, sized);
      await trimRequests(tx, Math.min(requestLog.size, MOST_STORED), MOST_STORED_BYTES);
      return found;
    });
    written = latest;
    if (isShared) forgetErased(erasures);
  }

  /** A person erased by another server may be named here too; the rest of it is in the table. */
  function forgetErased(erasures: ReadonlyMap<number, Date>): void {
    for (const [id, at] of erasures) {
      if (applied.get(id)?.getTime() !== at.getTime())
        requestLog.forget(id, (each) => isErased(each, erasures));
    }
    applied = erasures;
  }

  return {
    /**
     * Writes the new requests, and forgets those that were erased elsewhere. Call it every second.
     */
    async write() {
      if (!isShared || writing !== undefined) return;
      writing = writeAtMost(A_SECOND).catch((error) => {
        // They wait in memory for the database; the log has its loss.
        if (!isUnavailable(error)) throw error;
      });
      await writing.finally(() => {
        writing = undefined;
      });
    },
    /** The same before the process ends: all that it keeps. */
    async writeAll() {
      await writing?.catch(() => {});
      await writeAtMost(AT_THE_END);
    },
  };
}

const isErased = ({ workspace, at }: KeptRequest, erasures: ReadonlyMap<number, Date>): boolean =>
  at.getTime() <=
  (erasures.get(workspace.id)?.getTime() ?? Number.NEGATIVE_INFINITY) + CLOCKS_DIFFER_MS;

/** The latest that fit, refused ones first: those are what people look for. In the order of arrival. */
function portionOf(requests: readonly KeptRequest[], most: Portion): KeptRequest[] {
  const newest = requests.toReversed();
  const chosen = new Set<KeptRequest>();
  let bytes = 0;
  for (const wantsRefused of [true, false]) {
    for (const request of newest) {
      if (isRefusal(request.status) !== wantsRefused) continue;
      if (chosen.size === most.requests) break;
      const size = bytesOf(request);
      if (bytes + size > most.bytes) break;
      bytes += size;
      chosen.add(request);
    }
  }
  return requests.filter((request) => chosen.has(request));
}

export const sweepRequests = (database: Database, now: Date): Promise<void> =>
  deleteOldRequests(database, earlier(now, KEPT));

/** How many requests a step of an erasure reads. */
const STEP = 50;

export const eraseRequestsNaming: TraceEraser = async (tx, workspaceId, { mentions }, after) => {
  const read = await selectTexts(tx, workspaceId, after, STEP);
  const naming = read.filter((request) => mentions.in(textOf(request)));
  if (naming.length > 0)
    await deleteRequests(
      tx,
      naming.map(({ id }) => id),
    );
  return read.length < STEP ? undefined : read.at(-1)?.id;
};

/**
 * Forgets the requests that name an erased person: at once in this process and in the table. Other
 * processes forget their older requests within a second.
 */
export async function forgetRequests(
  { database, requestLog }: SharingServices,
  { workspaceId, names }: ErasedPerson,
): Promise<void> {
  const mentions = mentionsOf(names);
  requestLog.forget(workspaceId, (kept) => mentions.in(textOf(kept)));
  const erased = { mentions, since: new Date(0) };
  await withRetries(database, async (tx) => {
    await lockForErasing(tx);
    await upsertErasure(tx, workspaceId);
    await eraseAll(tx, workspaceId, erased);
  });
}

async function eraseAll(
  tx: Transaction,
  workspaceId: number,
  erased: { readonly mentions: Mentions; readonly since: Date },
): Promise<void> {
  let after: string | undefined;
  do {
    after = await eraseRequestsNaming(tx, workspaceId, erased, after);
  } while (after !== undefined);
}

/** Every part of a request that can name people, with the escapes of its JSON resolved. */
function textOf({ path, body, response = "", notes }: KeptRequest): string {
  const text = body?.toString("utf8") ?? "";
  const said = notes.map(({ message }) => message).join(" ");
  return `${path} ${text.includes("\\") ? resolved(text) : text} ${response} ${said}`;
}

function resolved(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return text;
  }
}
