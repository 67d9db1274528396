import { isUnavailable } from "../database/database.ts";
import type { Reply } from "../http/endpoint.ts";
import { KeyTaken } from "../http/idempotency.ts";
import { Problem } from "../problem.ts";
import { type WriteRequest, type WriteServices, writeBatch } from "./write-batch.ts";

/** How many items may wait. Beyond that a request is refused before memory grows. */
const MOST_WAITING_ITEMS = 20_000;

/** How many items one transaction takes, at most (docs/performance.md). */
const BATCH_ITEMS = 1_000;

interface Waiting {
  readonly request: WriteRequest;
  resolve(reply: Reply): void;
  reject(error: unknown): void;
}

export interface WriteQueue {
  /**
   * Writes a request together with others that wait; resolves once it is committed.
   *
   * @throws Problem RATE_LIMITED when too much is waiting.
   */
  write(request: WriteRequest): Promise<Reply>;
}

/**
 * Group commit: while one transaction runs, requests gather; the next transaction takes them all.
 * A request is never split, and the requests of a workspace keep the order in which they came.
 */
export function createWriteQueue(services: WriteServices): WriteQueue {
  const waiting: Waiting[] = [];
  let waitingItems = 0;
  let isWriting = false;

  /** The requests at the head that go together: of one workspace, and not too many. */
  function takeBatch(): Waiting[] {
    const workspaceId = waiting[0]?.request.workspace.id;
    const batch: Waiting[] = [];
    let items = 0;
    for (const each of waiting) {
      items += each.request.items.length;
      const fits = batch.length === 0 || items <= BATCH_ITEMS;
      if (!fits || each.request.workspace.id !== workspaceId) break;
      batch.push(each);
    }
    waiting.splice(0, batch.length);
    waitingItems -= itemsOf(batch);
    services.metrics.waiting(waitingItems);
    return batch;
  }

  async function writeAll(): Promise<void> {
    if (isWriting) return;
    isWriting = true;
    // Requests that arrive in the same turn of the event loop go together.
    await new Promise((resolve) => setImmediate(resolve));
    while (waiting.length > 0) await writeTogether(services, takeBatch());
    isWriting = false;
  }

  return {
    write(request) {
      if (waitingItems + request.items.length > MOST_WAITING_ITEMS) {
        throw new Problem("RATE_LIMITED", "The server has more to write than it can hold.", {
          retryAfterSeconds: 1,
        });
      }
      return new Promise((resolve, reject) => {
        waiting.push({ request, resolve, reject });
        waitingItems += request.items.length;
        services.metrics.waiting(waitingItems);
        void writeAll();
      });
    },
  };
}

const itemsOf = (batch: readonly Waiting[]): number =>
  batch.reduce((sum, each) => sum + each.request.items.length, 0);

/** Never throws: every request gets its answer or its error. */
async function writeTogether(services: WriteServices, batch: readonly Waiting[]): Promise<void> {
  try {
    const startedAt = performance.now();
    const requests = batch.map((each) => each.request);
    const replies = await writeBatch(services, requests);
    services.metrics.batch(itemsOf(batch), (performance.now() - startedAt) / 1_000);
    for (const [index, each] of batch.entries()) each.resolve(replies[index] as Reply);
  } catch (error) {
    if (error instanceof KeyTaken) return writeOthers(services, batch, error);
    if (batch.length === 1 || isUnavailable(error)) {
      for (const each of batch) each.reject(error);
      return;
    }
    // One of them cannot be written: alone, it spoils nobody else's.
    for (const each of batch) await writeTogether(services, [each]);
  }
}

/** Leaves out the requests whose Idempotency-Key somebody else has used in the meantime. */
async function writeOthers(
  services: WriteServices,
  batch: readonly Waiting[],
  taken: KeyTaken,
): Promise<void> {
  const isTaken = ({ request }: Waiting) => taken.keys.has(request.claim?.key ?? "");
  for (const each of batch.filter(isTaken)) each.reject(taken);
  const others = batch.filter((each) => !isTaken(each));
  if (others.length > 0) await writeTogether(services, others);
}
