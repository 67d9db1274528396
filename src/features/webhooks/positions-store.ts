import type { Queryable, Transaction } from "../../core/database/database.ts";
import { listsOf } from "../../core/database/parameters/lists-of.ts";
import { smallints } from "../../core/database/parameters/typed-list.ts";
import type { WebhookKey } from "./webhook.ts";

export interface PartitionPosition extends WebhookKey {
  readonly isReplay: boolean;
  readonly partition: number;
  /** The last change that is done with. */
  readonly position: number;
  /** The end of a replay; null for live deliveries. */
  readonly endsAt: number | null;
  /** The batch under way; null if there is none. */
  readonly batchId: string | null;
  readonly batchUntil: number | null;
  readonly attempts: number;
  readonly failingSince: Date | null;
  /** When the oldest change was written that waits, as far as that is known. */
  readonly behindSince: Date | null;
  /**
   * While a refused change is searched for: how many changes to send at most, and up to which
   * position.
   */
  readonly atMost: number | null;
  readonly narrowedUntil: number | null;
}

const POSITION = `workspace_id as "workspaceId", webhook_id as "webhookId", is_replay as "isReplay", partition,
  position, ends_at as "endsAt", batch_id as "batchId", batch_until as "batchUntil", attempts,
  failing_since as "failingSince", behind_since as "behindSince", at_most as "atMost", narrowed_until as "narrowedUntil"`;

/** When a process asks, and how long leases and delays are at most: longer ones are from before the clock was set back. */
export interface Times {
  readonly now: Date;
  readonly longestLease: Date;
  readonly longestDelay: Date;
}

/** No process has it, and it need not wait. */
const isFree = (now: string, longestLease: string, longestDelay: string): string =>
  `(p.leased_until is null or p.leased_until < ${now} or p.leased_until > ${longestLease})
   and (p.due_at is null or p.due_at <= ${now} or p.due_at > ${longestDelay})`;

const timesOf = ({ now, longestLease, longestDelay }: Times) => [now, longestLease, longestDelay];

/** A workspace with webhooks that deliver. */
export interface ActiveWorkspace {
  readonly workspaceId: number;
  /** When one of its webhooks was last changed. */
  readonly changedAt: Date;
  /**
   * Whether work waits that no new change announces: a retry, a replay, the work of an ended
   * process.
   */
  readonly isDue: boolean;
}

/** The workspaces with active webhooks, when one last changed, and whether work is due there. */
export const selectActive = (database: Queryable, times: Times) =>
  database.query<ActiveWorkspace>(
    `select w.workspace_id as "workspaceId", max(w.changed_at) as "changedAt",
       bool_or(exists (
         select 1 from webhook_positions p
         where p.workspace_id = w.workspace_id and p.webhook_id = w.webhook_id
           and (p.batch_id is not null or p.is_replay or p.holder is not null)
           and ${isFree("$1", "$2", "$3")})) as "isDue"
     from webhooks w where w.state = 'active' and w.paused_reason is null
     group by w.workspace_id`,
    timesOf(times),
  );

/** Partitions in which the webhooks of some workspaces could continue. */
export const selectFree = (database: Queryable, workspaceIds: readonly number[], times: Times) =>
  database.query<PartitionPosition>(
    `select ${POSITION} from webhook_positions p
     where workspace_id = any($4::int[]) and ${isFree("$1", "$2", "$3")}
       and exists (
         select 1 from webhooks w where w.workspace_id = p.workspace_id
           and w.webhook_id = p.webhook_id and w.state = 'active' and w.paused_reason is null)
     order by workspace_id, webhook_id, is_replay, partition`,
    [...timesOf(times), workspaceIds],
  );

export interface Claim {
  readonly holder: string;
  readonly leasedUntil: Date;
}

/** Takes free partitions; those that another process is just taking are left out. */
export const claimPositions = (
  database: Queryable,
  {
    workspaceId,
    webhookId,
    isReplay,
  }: Pick<PartitionPosition, "workspaceId" | "webhookId" | "isReplay">,
  partitions: readonly number[],
  { holder, leasedUntil }: Claim,
  times: Times,
) =>
  database.query<PartitionPosition>(
    `update webhook_positions set holder = $1::uuid, leased_until = $2
     where workspace_id = $3 and webhook_id = $4 and is_replay = $5::boolean and partition in (
       select p.partition from webhook_positions p
       where p.workspace_id = $3 and p.webhook_id = $4 and p.is_replay = $5::boolean
         and p.partition = any($6::smallint[]) and ${isFree("$7", "$8", "$9")}
       order by p.partition for update skip locked)
     returning ${POSITION}`,
    [
      holder,
      leasedUntil,
      workspaceId,
      webhookId,
      isReplay,
      smallints(partitions),
      ...timesOf(times),
    ],
  );

/** One partition of a webhook, while a process has it. */
const OF_PLACE = `workspace_id = $1 and webhook_id = $2 and is_replay = $3::boolean
       and partition = $4::smallint and holder = $5::uuid`;

const placeOf = (
  { workspaceId, webhookId, isReplay, partition }: PartitionPosition,
  holder: string,
) => [workspaceId, webhookId, isReplay, partition, holder];

/**
 * Writes a state of a partition.
 *
 * @param leasedUntil null gives the partition back.
 * @returns whether the process still had it; otherwise nothing was changed.
 */
export async function updatePosition(
  tx: Queryable,
  holder: string,
  place: PartitionPosition,
  { dueAt, leasedUntil }: { readonly dueAt: Date | null; readonly leasedUntil: Date | null },
): Promise<boolean> {
  const rows = await tx.query(
    `update webhook_positions set position = $6, batch_id = $7, batch_until = $8, attempts = $9,
       failing_since = $10, due_at = $11, at_most = $12, narrowed_until = $13, behind_since = $14,
       leased_until = $15, holder = case when $15::timestamptz is null then null else holder end
     where ${OF_PLACE} returning 1`,
    [
      ...placeOf(place, holder),
      place.position,
      place.batchId,
      place.batchUntil,
      place.attempts,
      place.failingSince,
      dueAt,
      place.atMost,
      place.narrowedUntil,
      place.behindSince,
      leasedUntil,
    ],
  );
  return rows.length > 0;
}

export const releasePosition = (database: Queryable, holder: string, place: PartitionPosition) =>
  database.execute(
    `update webhook_positions set holder = null, leased_until = null where ${OF_PLACE}`,
    placeOf(place, holder),
  );

/** Ends a replay in one partition. @returns whether the process still had it. */
export async function deletePosition(
  database: Queryable,
  holder: string,
  place: PartitionPosition,
): Promise<boolean> {
  const rows = await database.query(
    `delete from webhook_positions where ${OF_PLACE} returning 1`,
    placeOf(place, holder),
  );
  return rows.length > 0;
}

/** Gives every partition back: this process is the only one, so no other has any. */
export const forgetHolders = (database: Queryable) =>
  database.execute(
    "update webhook_positions set holder = null, leased_until = null where holder is not null",
  );

/** Starts a webhook, or a replay of it, at positions; an existing one begins again. */
export async function insertPositions(
  tx: Transaction,
  { workspaceId, webhookId }: WebhookKey,
  positions: readonly { partition: number; position: number; endsAt: number | null }[],
): Promise<void> {
  const isReplay = positions.some(({ endsAt }) => endsAt !== null);
  await tx.query(
    `delete from webhook_positions
     where workspace_id = $1 and webhook_id = $2 and is_replay = $3::boolean`,
    [workspaceId, webhookId, isReplay],
  );
  await tx.query(
    `insert into webhook_positions (workspace_id, webhook_id, is_replay, partition, position, ends_at)
     select $1, $2, $3::boolean, partition, position, ends_at
     from unnest($4::smallint[], $5::bigint[], $6::bigint[]) as new (partition, position, ends_at)`,
    [
      workspaceId,
      webhookId,
      isReplay,
      smallints(positions.map(({ partition }) => partition)),
      ...listsOf(positions, "position", "endsAt"),
    ],
  );
}

/** Lets a webhook that was paused go on at once: what failed is tried again, as if it had not failed. */
export const restartPositions = (tx: Transaction, { workspaceId, webhookId }: WebhookKey) =>
  tx.execute(
    `update webhook_positions set attempts = 0, failing_since = null, due_at = null
     where workspace_id = $1 and webhook_id = $2`,
    [workspaceId, webhookId],
  );

export const selectLive = (database: Queryable, { workspaceId, webhookId }: WebhookKey) =>
  database.query<PartitionPosition>(
    `select ${POSITION} from webhook_positions
     where workspace_id = $1 and webhook_id = $2 and not is_replay order by partition`,
    [workspaceId, webhookId],
  );

/** How far the webhooks that deliver are behind: since when their oldest change waits. */
export interface Behind extends WebhookKey {
  readonly since: Date | null;
  readonly failingSince: Date | null;
}

/**
 * For each webhook since when it is behind and failing, over all partitions.
 *
 * @param workspaceId by default all workspaces.
 */
export const selectBehind = (database: Queryable, workspaceId?: number) =>
  database.query<Behind>(
    `select workspace_id as "workspaceId", webhook_id as "webhookId",
       min(behind_since) as since, min(failing_since) as "failingSince"
     from webhook_positions where not is_replay and ($1::int is null or workspace_id = $1)
     group by workspace_id, webhook_id`,
    [workspaceId ?? null],
  );

/**
 * Moves the live positions of all webhooks of a workspace without delivering earlier changes;
 * replays end.
 */
export async function movePositions(
  tx: Transaction,
  workspaceId: number,
  positions: readonly (readonly [partition: number, position: number])[],
): Promise<void> {
  await tx.query("delete from webhook_positions where workspace_id = $1 and is_replay", [
    workspaceId,
  ]);
  await tx.query(
    `update webhook_positions p set position = new.position, batch_id = null, batch_until = null,
       attempts = 0, failing_since = null, due_at = null, at_most = null, narrowed_until = null,
       behind_since = null, holder = null, leased_until = null
     from unnest($2::smallint[], $3::bigint[]) as new (partition, position)
     where p.workspace_id = $1 and p.partition = new.partition`,
    [
      workspaceId,
      smallints(positions.map(([partition]) => partition)),
      positions.map(([, position]) => position),
    ],
  );
}
