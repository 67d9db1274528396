import type { CredentialView } from "../../core/admin/access/credentials.ts";
import type { KeyGrant } from "../../core/admin/access/keys.ts";
import type { Finding, FoundFinding } from "../../core/admin/attention/attention.ts";
import type { FaultyJob } from "../../core/admin/jobs/store.ts";
import { DAY_MS } from "../../core/base/clock.ts";
import { sum } from "../../core/base/values/sum.ts";
import { describeHolder, type LockHolder } from "../../core/database/postgres/lock-holders.ts";
import { MOST_WAITING_ITEMS } from "../../core/track/write-queue.ts";
import type { CombinedCounts } from "./combine.ts";

/* Findings that need attention, from data that the server has anyway. Each finding is a sentence and a page. */

/** Undefined if the caller may not see it. */
export interface Known {
  readonly now: Date;
  readonly hour: CombinedCounts;
  readonly keys: readonly CredentialView<KeyGrant>[] | undefined;
  /** Findings of other features. */
  readonly said: readonly FoundFinding[];
  /** Daily jobs that have failed too often. */
  readonly pausedJobs: readonly FaultyJob[];
  /** Transactions that have held locks of the database for `LONG_HELD_SECONDS`. */
  readonly lockHolders: readonly LockHolder[];
}

/** A transaction of Rapport seldom takes longer. */
export const LONG_HELD_SECONDS = 5;

/** Fewer items say nothing about a share. */
const ENOUGH_ITEMS = 20;
const REJECTED_SHARE = 0.05;
const REJECTED_SHARE_BAD = 0.25;

/** The queue refuses requests when it is full. */
const FILLING_SHARE = 0.5;

const UNUSED_AFTER_MS = 7 * DAY_MS;

/** The most important first. */
export function findAttention(known: Known): Finding[] {
  const all = [
    ...failedRequests(known),
    ...fillingQueue(known),
    ...heldLocks(known),
    ...known.said,
    ...pausedJobs(known),
    ...rejectedItems(known),
    ...throttledKeys(known),
    ...secrets(known),
  ];
  return all
    .sort((one, other) => RANK[one.severity] - RANK[other.severity])
    .slice(0, MOST_FINDINGS)
    .map(({ at, ...finding }) => ({ ...finding, at: at?.toISOString() ?? null }));
}

const RANK = { bad: 0, warn: 1, info: 2 } as const;

const MOST_FINDINGS = 50;

function failedRequests({ hour }: Known): FoundFinding[] {
  const failed = sum(hour.failed);
  if (failed === 0) return [];
  const message = `${failed} of ${sum(hour.requests)} requests of the last hour failed on the server (5xx). Its log has the reasons.`;
  return [{ kind: "requests_failed", severity: "bad", subject: "5xx", id: null, message }];
}

function fillingQueue({ hour }: Known): FoundFinding[] {
  const most = Math.max(0, ...hour.waiting.slice(-MINUTES_OF_QUEUE));
  if (most < MOST_WAITING_ITEMS * FILLING_SHARE) return [];
  const message = `${most} items waited at once in the last minutes. From ${MOST_WAITING_ITEMS} on requests get 429.`;
  return [{ kind: "queue_filling", severity: "bad", subject: "write queue", id: null, message }];
}

const heldLocks = ({ lockHolders }: Known): FoundFinding[] =>
  lockHolders.map((holder) => {
    const message = `${describeHolder(holder)}. Requests that need them wait, and get 503.`;
    const subject = holder.application || `process ${holder.pid}`;
    return { kind: "lock_held", severity: "warn", subject, id: null, message };
  });

/** Five minutes, in slots of ten seconds. */
const MINUTES_OF_QUEUE = 30;

const pausedJobs = (known: Known): FoundFinding[] =>
  known.pausedJobs.map(({ kind, fault, runAt }) => {
    const message = `It has paused after failing again and again. ${fault}`;
    const subject = `daily job ${kind.replaceAll("_", " ")}`;
    return { kind: "job_paused", severity: "bad", subject, id: null, message, at: runAt };
  });

function rejectedItems({ hour }: Known): FoundFinding[] {
  const [accepted, rejected] = [sum(hour.accepted), sum(hour.rejected)];
  const share = rejected / (accepted + rejected);
  if (accepted + rejected < ENOUGH_ITEMS || share < REJECTED_SHARE) return [];
  const [most] = hour.rejections
    .map(({ code, counts }) => ({ code, count: sum(counts) }))
    .sort((one, other) => other.count - one.count);
  const percent = Math.round(share * 100);
  return [
    {
      kind: "items_rejected",
      severity: share < REJECTED_SHARE_BAD ? "warn" : "bad",
      subject: most?.code ?? "items",
      id: null,
      message: `${percent} % of the items of the last hour were rejected, ${most?.count ?? 0} with this code.`,
    },
  ];
}

const throttledKeys = ({ hour, keys }: Known): FoundFinding[] =>
  keys === undefined
    ? []
    : hour.throttled
        .filter(({ count }) => count > 0)
        .map(({ keyId, count }) => ({
          kind: "key_throttled",
          severity: "warn",
          subject: keys.find(({ id }) => id === keyId)?.name ?? keyId,
          id: null,
          message: `${count} requests of this key got 429 in the last hour.`,
        }));

const secrets = ({ keys = [], now }: Known): FoundFinding[] =>
  keys
    .filter(({ revokedAt }) => revokedAt === null)
    .flatMap(({ name, overlapUntil, lastSeenAt, createdAt }): FoundFinding[] => {
      if (overlapUntil && overlapUntil.getTime() - now.getTime() < DAY_MS) {
        const message = "The previous secret of this key stops working soon.";
        const at = overlapUntil;
        return [{ kind: "secret_expires", severity: "warn", subject: name, id: null, message, at }];
      }
      const age = now.getTime() - createdAt.getTime();
      if (lastSeenAt !== null || age < UNUSED_AFTER_MS) return [];
      const message = `This key was created ${Math.floor(age / DAY_MS)} days ago and never used. Revoke it if it is not needed.`;
      return [{ kind: "key_unused", severity: "info", subject: name, id: null, message }];
    });
