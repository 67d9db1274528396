import type { Warehouse } from "./sources/source.ts";

export const INTEGRATION_TYPES = ["attributes", "events", "purchases", "delete"] as const;

export type IntegrationType = (typeof INTEGRATION_TYPES)[number];

/** `paused`: its schedule rests; it can still be triggered. */
export const INTEGRATION_STATUSES = ["active", "paused"] as const;

/** How often a run tries a source that fails, and how long it waits before the second try. */
export interface Retry {
  readonly attempts: number;
  /** Doubled before every further try. */
  readonly delay_seconds: number;
}

export const DEFAULT_RETRY: Retry = { attempts: 5, delay_seconds: 10 };

/** A table of a warehouse whose rows become attributes, events, purchases or deletions. */
export interface Integration {
  readonly id: string;
  readonly name: string;
  readonly type: IntegrationType;
  readonly status: (typeof INTEGRATION_STATUSES)[number];
  readonly contactEmails: readonly string[];
  /** A cron expression; null if it runs only when it is triggered. */
  readonly schedule: string | null;
  /** The IANA name of its zone. */
  readonly scheduleTimeZone: string;
  readonly retry: Retry;
  readonly warehouse: Warehouse;
}

/** The kind of the jobs that sync; their subject is the id of the integration. */
export const SYNC_JOB = "cdi.sync";

/** The states of a run. spec: Sync job, with the publicly known values. */
export const JOB_STATUSES = ["running", "success", "partial", "error", "config_error"] as const;

export type JobStatus = (typeof JOB_STATUSES)[number];
