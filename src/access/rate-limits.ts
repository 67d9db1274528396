import type { Clock } from "../clock.ts";
import type { Database } from "../database/database.ts";
import { lendFromWindow } from "./limit-store.ts";
import { createLimitWindows, type LimitState, lendToOneProcess } from "./limit-windows.ts";
import type { Permission } from "./permissions.ts";
import type { Workspace } from "./workspace.ts";

/** Permissions whose requests are counted together, and how many of them fit into a window. */
interface Bucket {
  readonly permissions: readonly Permission[];
  readonly requests: number;
  readonly perSeconds: number;
}

const MINUTE = 60;
const HOUR = 3_600;

/** design: Limits; spec: Limits for preference centers and translations. */
const BUCKETS: readonly Bucket[] = [
  { permissions: ["users.track"], requests: 3_000, perSeconds: 3 },
  {
    permissions: [
      "users.delete",
      "users.alias.new",
      "users.alias.update",
      "users.identify",
      "users.merge",
    ],
    requests: 20_000,
    perSeconds: MINUTE,
  },
  { permissions: ["subscription.status.set"], requests: 5_000, perSeconds: MINUTE },
  { permissions: ["users.export.ids"], requests: 2_500, perSeconds: MINUTE },
  { permissions: ["preference_center.update"], requests: 10, perSeconds: MINUTE },
  { permissions: ["preference_center.list"], requests: 1_000, perSeconds: MINUTE },
  { permissions: ["preference_center.get"], requests: 1_000, perSeconds: MINUTE },
  { permissions: ["preference_center.user.get"], requests: 1_000, perSeconds: MINUTE },
  { permissions: ["cdi.integration_list"], requests: 50, perSeconds: MINUTE },
  { permissions: ["cdi.integration_job_status"], requests: 100, perSeconds: MINUTE },
  { permissions: ["cdi.integration_sync"], requests: 20, perSeconds: MINUTE },
  {
    permissions: [
      "campaigns.translations.get",
      "campaigns.translations.update",
      "canvas.translations.get",
      "canvas.translations.update",
    ],
    requests: 250_000,
    perSeconds: HOUR,
  },
];

/** For all permissions that have no bucket of their own, counted together. */
const DEFAULT_BUCKET: Bucket = { permissions: [], requests: 250_000, perSeconds: HOUR };

export interface RateLimitState {
  readonly limit: number;
  readonly remaining: number;
  /** When the window ends, in seconds since the epoch. */
  readonly resetAt: number;
  /** Whole seconds until the next request is taken; 0 for a request that is taken now. */
  readonly retryAfterSeconds: number;
}

export interface RateLimitServices {
  readonly database: Database;
  readonly clock: Clock;
}

export interface RateLimits {
  /** Counts one request. Undefined where the workspace has switched the limit off. */
  count(workspace: Workspace, permission: Permission): Promise<RateLimitState | undefined>;
}

/**
 * Counts requests per workspace and bucket: in this process on the embedded engine, which has no other;
 * else with all processes that use the same database.
 */
export function createRateLimits({ database, clock }: RateLimitServices): RateLimits {
  const take = createLimitWindows(
    database.engine === "embedded"
      ? lendToOneProcess()
      : (limit, wanted, now) => lendFromWindow(database, limit, wanted, now),
    clock,
  );

  return {
    async count(workspace, permission) {
      const bucket =
        BUCKETS.find((each) => each.permissions.includes(permission)) ?? DEFAULT_BUCKET;
      const setting = workspace.settings.rate_limits[permission];
      if (setting === "off") return undefined;
      // A limit of a permission's own takes it out of the bucket it would share.
      const name = setting ? permission : (bucket.permissions[0] ?? "default");
      const requests = setting?.requests ?? bucket.requests;
      const perSeconds = setting?.per_seconds ?? bucket.perSeconds;
      // Another length is another window; another number of requests is the same one, larger or smaller.
      const limit = { name: `${workspace.id} ${name} ${perSeconds}`, requests, perSeconds };
      return stateOf(await take(limit), requests, clock.now());
    },
  };
}

function stateOf({ isTaken, remaining, endsAt }: LimitState, limit: number, now: Date) {
  const secondsLeft = Math.ceil((endsAt.getTime() - now.getTime()) / 1_000);
  return {
    limit,
    remaining,
    resetAt: Math.ceil(endsAt.getTime() / 1_000),
    retryAfterSeconds: isTaken ? 0 : Math.max(1, secondsLeft),
  };
}
