import { earlier } from "../../base/clock.ts";
import type { WorkspaceSettings } from "../../base/context/workspace-settings.ts";
import type { Mentions } from "../../base/mentions.ts";
import { idAt } from "../../base/values/uuid.ts";
import type { Database, Transaction } from "../../database/database.ts";
import type { StoringServices } from "../../database/storing-services.ts";
import { recordChanges } from "../audit/audit.ts";
import { contextOf, type Job, type JobKind } from "../jobs/job.ts";
import { readNextTimes, setSchedules } from "../jobs/schedule.ts";
import { loadWorkspace } from "../workspaces/find-workspace.ts";
import { listWorkspaces } from "../workspaces/manage-workspaces.ts";

/*
 * Removes data older than the workspace's limit: a daily job, in steps so small that requests
 * hardly wait. docs/operations/retention.md
 */

export interface Retained {
  /** In the audit. */
  readonly kind: string;
  /** How many days it is kept; 0 keeps it. */
  days(settings: WorkspaceSettings): number;
  /**
   * Removes a part of the older data, in a separate transaction.
   *
   * @param after where the last step ended; undefined at the beginning.
   */
  removeStep(
    tx: Transaction,
    workspaceId: number,
    before: Date,
    after: string | undefined,
  ): Promise<RemovedStep>;
}

export interface RemovedStep {
  readonly removed: number;
  /** Undefined: nothing is left. */
  readonly after: string | undefined;
}

/**
 * Removes a feature's records about an erased person outside the person's rows, in steps, each in a
 * separate transaction.
 *
 * @param after where the last step ended; undefined at the beginning.
 * @returns where the next step continues; undefined if nothing is left.
 */
export type TraceEraser = (
  tx: Transaction,
  workspaceId: number,
  erased: {
    readonly mentions: Mentions;
    /** Only records written from then on, if the feature can tell. */
    readonly since: Date;
  },
  after: string | undefined,
) => Promise<string | undefined>;

/** Erases in one statement, which gets the workspace and the patterns of the person's names. */
export const erasedBy =
  (statement: string): TraceEraser =>
  async (tx, workspaceId, { mentions }) => {
    await tx.query(statement, [workspaceId, mentions.patterns]);
    return undefined;
  };

/**
 * Erases in steps of one statement, by ids that tell the time (UUIDv7). The statement also gets the
 * id after which it continues, and returns the last one that it looked at as `last`; no row at the end.
 */
export const erasedInSteps =
  (statement: string): TraceEraser =>
  async (tx, workspaceId, { mentions, since }, after = idAt(since)) => {
    const parameters = [workspaceId, mentions.patterns, after];
    const [row] = await tx.query<{ readonly last: string }>(statement, parameters);
    return row?.last;
  };

export interface ErasedPerson {
  readonly workspaceId: number;
  readonly names: readonly string[];
}

export const RETENTION_JOB = "retention";

/** One job removes everything of a workspace. */
const SUBJECT = "workspace";

/** At night where most servers are; in UTC. */
const DAILY = "17 3 * * *";

/**
 * A killed job starts from the beginning. Each kind has one audit entry, in the transaction of the first step
 * that removes something.
 */
export function retentionJob(retained: readonly Retained[]): JobKind<StoringServices> {
  return {
    name: RETENTION_JOB,
    async run({ database, clock }, job) {
      const workspace = await loadWorkspace(database, job.workspaceId);
      if (workspace) {
        for (const each of retained) {
          const days = each.days(workspace.settings);
          if (days === 0) continue;
          const before = earlier(clock.now(), { days });
          await removeAll({ database, clock }, job, each, before, workspace.name);
        }
      }
      await database.transaction((tx) => job.finish(tx));
    },
  };
}

async function removeAll(
  { database, clock }: StoringServices,
  job: Job,
  { kind, removeStep }: Retained,
  before: Date,
  workspace: string,
): Promise<void> {
  let after: string | undefined;
  let isAudited = false;
  do {
    job.signal.throwIfAborted();
    const step = await database.transaction(async (tx) => {
      const done = await removeStep(tx, job.workspaceId, before, after);
      // A step that finds nothing is no progress: an earlier kind would hide that a later one fails.
      await (done.removed > 0 ? job.advance(tx) : job.hold(tx));
      if (done.removed > 0 && !isAudited) {
        const details = { before: before.toISOString() };
        const change = { action: "expired", kind, workspace, name: workspace, details };
        await recordChanges(tx, clock, contextOf(job), [change]);
      }
      return done;
    });
    isAudited ||= step.removed > 0;
    ({ after } = step);
  } while (after !== undefined);
}

/** Schedules the daily job in every workspace that lacks it. */
export async function scheduleRetention(database: Database, now: Date): Promise<void> {
  for (const { id } of await listWorkspaces(database)) {
    if ((await readNextTimes(database, RETENTION_JOB, id)).has(SUBJECT)) continue;
    const key = { workspaceId: id, kind: RETENTION_JOB, subject: SUBJECT };
    await database.transaction((tx) =>
      setSchedules(tx, [{ ...key, cron: DAILY, timeZone: "UTC" }], now),
    );
  }
}
