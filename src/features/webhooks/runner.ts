import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { later } from "../../core/base/clock.ts";
import { describeError } from "../../core/base/observe/log.ts";
import { createPool } from "../../core/base/pool.ts";
import { groupBy } from "../../core/base/values/group-by.ts";
import { settleAll } from "../../core/database/database.ts";
import type { Positions } from "../../core/people/changes/cursor.ts";
import { selectHeads } from "../../core/people/changes/store.ts";
import type { ChangeWatch } from "../../core/people/changes/watch-changes.ts";
import { type DeliverServices, deliverPartition, LEASE } from "./deliver.ts";
import {
  claimPositions,
  forgetHolders,
  type PartitionPosition,
  releasePosition,
  selectActive,
  selectFree,
  type Times,
} from "./positions-store.ts";
import { LONGEST_DELAY_MS } from "./retry.ts";

/*
 * Each server process delivers the partitions that it can claim. It wakes when the feed of a
 * workspace with webhooks grows, by the statement that all readers of the feed share. It also looks
 * once a second for work that no change announces: retries, replays, new webhooks, and the work of
 * a process that has ended.
 */

export type RunnerServices = DeliverServices & { readonly changeWatch: ChangeWatch };

/** How often it looks for what no change announces. */
const ROUND_MS = 1_000;

/** How long one wait for changes of a workspace lasts at most. */
const WATCH_MS = 60_000;

/** How many connections a webhook has at a time, its replays one of them, and all of a process together. */
const MOST_OF_ONE = 4;
const MOST_OF_REPLAY = 1;
const MOST_OF_ALL = 256;

/**
 * How long a webhook rests after its receiver has refused a batch: longer each time until it accepts one. A receiver that
 * refuses everything at once would otherwise get hundreds of batches a second.
 */
const FIRST_REST_MS = 50;
const LONGEST_REST_MS = 1_000;

/** How long batches under way may take when the server stops. */
const STOP_MS = 2_000;

const keyOf = ({ workspaceId, webhookId, isReplay, partition }: PartitionPosition): string =>
  `${workspaceId} ${partition} ${isReplay} ${webhookId}`;

/** Live deliveries and replays are claimed apart. */
const ownerOf = ({ workspaceId, webhookId, isReplay }: PartitionPosition): string =>
  `${workspaceId} ${isReplay} ${webhookId}`;

/** Delivers until it is stopped. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: its rounds share what runs and whether it stops.
export async function startWebhooks(services: RunnerServices) {
  const { database, clock, log, changeWatch } = services;
  const holder = randomUUID();
  const running = new Map<
    string,
    { readonly place: PartitionPosition; readonly done: Promise<void> }
  >();
  /** Workspaces share the connections: the more are in use, the fewer each may have. */
  const connections = createPool(MOST_OF_ALL);
  /** Webhooks whose receivers have refused their latest batches. */
  const resting = new Map<string, { readonly refusals: number; readonly until: number }>();
  /** Workspaces that may have something to deliver. */
  const awake = new Set<number>();
  const watched = new Set<number>();
  const crowdedOut = new Set<number>();
  const changedAt = new Map<number, number>();
  const abort = new AbortController();
  let isStopping = false;
  let endPause = () => {};

  // The lock on its folder says that no other process has the embedded engine.
  if (database.engine === "embedded") await forgetHolders(database);

  function wake(workspaceId: number): void {
    awake.add(workspaceId);
    endPause();
  }

  const times = (): Times => {
    const now = clock.now();
    return {
      now,
      // Another server's clock may be slightly ahead.
      longestLease: later(now, { seconds: 2 * LEASE.seconds }),
      longestDelay: later(now, { ms: LONGEST_DELAY_MS }),
    };
  };

  async function look(): Promise<void> {
    const active = await selectActive(database, times());
    const ids = new Set(active.map(({ workspaceId }) => workspaceId));
    for (const id of changedAt.keys()) if (!ids.has(id)) changedAt.delete(id);
    const longAgo = performance.now() - LONGEST_REST_MS * 60;
    for (const [owner, { until }] of resting) if (until < longAgo) resting.delete(owner);
    for (const { workspaceId, changedAt: at, isDue } of active) {
      if (isDue || changedAt.get(workspaceId) !== at.getTime()) awake.add(workspaceId);
      changedAt.set(workspaceId, at.getTime());
    }
  }

  async function watch(workspaceId: number, heads: Positions): Promise<void> {
    if (watched.has(workspaceId) || !changedAt.has(workspaceId)) return;
    watched.add(workspaceId);
    await changeWatch.wait(workspaceId, heads, WATCH_MS);
    watched.delete(workspaceId);
    if (!isStopping && changedAt.has(workspaceId)) wake(workspaceId);
  }

  async function deliverAwake(): Promise<void> {
    const ids = [...awake];
    if (ids.length === 0) return;
    awake.clear();
    const [free, heads] = await settleAll([
      selectFree(database, ids, times()),
      selectHeads(database, ids),
    ]).catch((error: unknown) => {
      for (const id of ids) awake.add(id);
      throw error;
    });
    const headsOf = new Map<number, Map<number, number>>(ids.map((id) => [id, new Map()]));
    for (const { workspaceId, bucket, position } of heads) {
      headsOf.get(workspaceId)?.set(bucket, position);
    }
    const pending = free.filter(
      (place) =>
        !running.has(keyOf(place)) &&
        (place.batchId !== null ||
          place.isReplay ||
          place.position !== (headsOf.get(place.workspaceId)?.get(place.partition) ?? 0)),
    );
    for (const places of groupBy(pending, ownerOf).values()) await claim(places);
    for (const [id, positions] of headsOf) void watch(id, positions);
  }

  /** Claims as many of a webhook's partitions as there is room for, not always the same ones first. */
  async function claim(places: readonly PartitionPosition[]): Promise<void> {
    const [first] = places;
    if (!first || isStopping) return;
    const owner = ownerOf(first);
    const { workspaceId } = first;
    const rest = resting.get(owner);
    if (rest && rest.until > performance.now()) return;
    const own = [...running.values()].filter(({ place }) => ownerOf(place) === owner).length;
    // Which batches it accepts again is tried with one.
    const most = first.isReplay || rest ? MOST_OF_REPLAY : MOST_OF_ONE;
    const wanted = Math.min(most - own, places.length);
    let room = 0;
    while (room < wanted && connections.take(`${workspaceId}`, 1)) room++;
    if (room < wanted) crowdedOut.add(workspaceId);
    if (room === 0) return;
    const start = Math.floor(Math.random() * places.length);
    const partitions = [...places.slice(start), ...places.slice(0, start)]
      .slice(0, room)
      .map(({ partition }) => partition);
    const lease = { holder, leasedUntil: later(clock.now(), LEASE) };
    let begun = 0;
    try {
      for (const place of await claimPositions(database, first, partitions, lease, times())) {
        begin(place);
        begun++;
      }
    } finally {
      if (begun < room) connections.give(`${workspaceId}`, room - begun);
    }
  }

  /** Lets a webhook rest after a refusal, and go on after anything else. */
  function hear(place: PartitionPosition, outcome: string): void {
    const owner = ownerOf(place);
    if (outcome !== "refused") return void resting.delete(owner);
    const refusals = (resting.get(owner)?.refusals ?? 0) + 1;
    const ms = Math.min(FIRST_REST_MS * 2 ** (refusals - 1), LONGEST_REST_MS);
    resting.set(owner, { refusals, until: performance.now() + ms });
    setTimeout(wake, ms, place.workspaceId).unref();
  }

  function begin(place: PartitionPosition): void {
    const done = deliver(place).finally(() => {
      connections.give(`${place.workspaceId}`, 1);
      running.delete(keyOf(place));
      for (const id of crowdedOut) awake.add(id);
      crowdedOut.clear();
      wake(place.workspaceId);
    });
    running.set(keyOf(place), { place, done });
  }

  /** Never throws. */
  async function deliver(place: PartitionPosition): Promise<void> {
    try {
      const told = (outcome: string) => hear(place, outcome);
      await deliverPartition(services, holder, place, told, abort.signal);
    } catch (error) {
      if (!abort.signal.aborted) {
        log.error({ webhook: place.webhookId, ...describeError(error) }, "webhook not delivered");
        // A failure here is not the receiver's: it is not tried again at once.
        await sleep(ROUND_MS, undefined, { ref: false });
      }
    }
    await releasePosition(database, holder, place).catch(() => {});
  }

  async function goRounds(): Promise<void> {
    let lookedAt = Number.NEGATIVE_INFINITY;
    while (!isStopping) {
      try {
        if (performance.now() - lookedAt >= ROUND_MS) {
          lookedAt = performance.now();
          await look();
        }
        await deliverAwake();
      } catch (error) {
        log.warn(describeError(error), "webhooks not looked for");
        await pause(ROUND_MS);
      }
      if (awake.size === 0) await pause(Math.max(0, lookedAt + ROUND_MS - performance.now()));
    }
  }

  async function pause(ms: number): Promise<void> {
    // It may have been told to stop since the round began.
    if (isStopping) return;
    await new Promise<void>((resolve) => {
      const end = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(end, ms).unref();
      endPause = end;
    });
  }

  const rounds = goRounds();
  return {
    /**
     * Lets every batch reach a point where it can stop. A delivery without a response in time is sent
     * again later.
     */
    async stop() {
      isStopping = true;
      endPause();
      await rounds;
      const ended = settleAll([...running.values()].map(({ done }) => done));
      await Promise.race([ended, sleep(STOP_MS, undefined, { ref: false })]);
      abort.abort();
      await ended;
    },
  };
}
