import { BUCKETS } from "../buckets.ts";
import { type Database, isUnavailable, type Queryable } from "../database.ts";
import { smallints } from "../parameters/typed-list.ts";
import { wrapDatabase } from "../wrap-database.ts";

/** How often the shards are looked up again, and workers that were not reached are tried again. */
const LOOK_EVERY_MS = 10_000;

/** The workers of a cluster as this process reaches them, past the coordinator. */
export type Workers = ReturnType<typeof createWorkers>;

interface Worker {
  readonly database: Database;
  /** Whether this is the server that the coordinator knows, and it responded last time. */
  isReached: boolean;
}

/**
 * A transaction on the worker that has its rows needs no plan and no hop of the coordinator, and
 * commits on one node. Each worker knows where all shards are (`citus_add_node` syncs that). If a
 * shard has moved since it was looked up here, the worker therefore forwards the statements, which
 * is slower and just as correct.
 *
 * Small tables exist on the coordinator only.
 *
 * @param url of the coordinator; workers have the same user, password and database.
 * @param open opens another node of the cluster.
 */
export function createWorkers(
  coordinator: Queryable,
  url: string,
  open: (url: string) => Database,
) {
  /** By bucket. */
  let holders: readonly (Worker | undefined)[] = [];
  let numbers: readonly number[] = [];
  const known = new Map<string, Worker>();
  let lookedAt = -Infinity;
  let isClosed = false;

  async function look(): Promise<void> {
    const placements = await selectPlacements(coordinator);
    const places = new Set(placements.map(({ place }) => place));
    const unreached = [...places].filter((place) => !known.get(place)?.isReached);
    if (unreached.length > 0) {
      const identities = await selectIdentities(coordinator);
      for (const place of unreached) await reach(place, identities.get(place));
    }
    const found: (Worker | undefined)[] = [];
    for (const { place, bucket } of placements) found[bucket] = known.get(place);
    holders = found;
    const workers = [...new Set(BUCKETS.map((bucket) => found[bucket]))];
    numbers = BUCKETS.map((bucket) => workers.indexOf(found[bucket]));
  }

  /** A host name may resolve differently here and on the coordinator. */
  async function reach(place: string, identity: string | undefined): Promise<void> {
    const worker = known.get(place) ?? watched(open(atPlace(url, place)));
    known.set(place, worker);
    const [own] = await worker.database.query<{ identity: string }>(IDENTITY).catch(() => []);
    worker.isReached = identity !== undefined && own?.identity === identity && !isClosed;
  }

  function lookAgain(): void {
    const now = performance.now();
    if (isClosed || now - lookedAt < LOOK_EVERY_MS) return;
    lookedAt = now;
    // Without a coordinator nothing changes.
    look().catch(() => {});
  }

  return {
    /**
     * The database through the worker that has the rows of all these buckets.
     *
     * @returns undefined if no single worker has them, or it was not reached.
     */
    holderOf(buckets: Iterable<number>) {
      lookAgain();
      let holder: Worker | undefined;
      for (const bucket of buckets) {
        const own = holders[bucket];
        if (!own?.isReached || (holder && holder !== own)) return undefined;
        holder = own;
      }
      return holder?.database;
    },
    /** A number for the worker of each bucket, in the order of `BUCKETS`; undefined unless all of them are reached. */
    numbers: () => (BUCKETS.every((bucket) => holders[bucket]?.isReached) ? numbers : undefined),
    async close() {
      isClosed = true;
      await Promise.all([...known.values()].map(({ database }) => database.close()));
    },
  };
}

/** A worker that is used until it is unavailable once; then it must be reached again. */
function watched(database: Database): Worker {
  const notice = <Result>(result: Promise<Result>): Promise<Result> => {
    result.catch((error) => {
      if (isUnavailable(error)) worker.isReached = false;
    });
    return result;
  };
  const worker: Worker = {
    isReached: false,
    database: wrapDatabase(database, () => ({
      statement: (_, run) => notice(run()),
      transaction: (run) => notice(run((work) => work())),
    })),
  };
  return worker;
}

interface Placement {
  readonly bucket: number;
  /** `host:port` */
  readonly place: string;
}

/** The worker of each bucket, without buckets on the coordinator. */
const selectPlacements = (coordinator: Queryable) =>
  coordinator.query<Placement>(
    `select bucket, nodename || ':' || nodeport as place
     from unnest($1::smallint[]) as bucket
       join pg_dist_shard on logicalrelid = 'buckets'::regclass
         and shardid = get_shard_id_for_distribution_column('buckets'::regclass, bucket)
       join pg_dist_placement using (shardid)
       join pg_dist_node using (groupid)
     where groupid <> 0 and isactive and noderole = 'primary' and hasmetadata and metadatasynced`,
    [smallints(BUCKETS)],
  );

/** Identifies a server: a number that it got when it was created, and the database. */
const IDENTITY =
  "select system_identifier || ' ' || current_database() as identity from pg_control_system()";

async function selectIdentities(coordinator: Queryable): Promise<ReadonlyMap<string, string>> {
  const rows = await coordinator.query<{ place: string; identity: string }>(
    `select nodename || ':' || nodeport as place, result as identity
     from run_command_on_workers($1) where success`,
    [IDENTITY],
  );
  return new Map(rows.map(({ place, identity }) => [place, identity]));
}

/** The URL with another host, or with one instead of several. */
const atPlace = (url: string, place: string): string =>
  url.replace(/^([^/]+\/\/(?:[^@/]*@)?)[^/?]*/, (_, before) => `${before}${place}`);
