import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";
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

export interface RateLimits {
  /** Counts one request. Undefined where the workspace has switched the limit off. */
  count(workspace: Workspace, permission: Permission): Promise<RateLimitState | undefined>;
}

/** Counts requests per workspace and bucket, in this process. */
export function createRateLimits(): RateLimits {
  const limiters = new Map<string, RateLimiterMemory>();

  function limiterFor(requests: number, perSeconds: number): RateLimiterMemory {
    const key = `${requests}/${perSeconds}`;
    const known = limiters.get(key);
    if (known) return known;
    const limiter = new RateLimiterMemory({ points: requests, duration: perSeconds });
    limiters.set(key, limiter);
    return limiter;
  }

  return {
    async count(workspace, permission) {
      const bucket =
        BUCKETS.find((each) => each.permissions.includes(permission)) ?? DEFAULT_BUCKET;
      const setting = workspace.settings.rate_limits[permission];
      if (setting === "off") return undefined;
      // A limit of a permission's own takes it out of the bucket it would share.
      const name = setting ? permission : (bucket.permissions[0] ?? "default");
      const requests = setting?.requests ?? bucket.requests;
      const limiter = limiterFor(requests, setting?.per_seconds ?? bucket.perSeconds);
      const result = await limiter
        .consume(`${workspace.id} ${name}`)
        .catch((refusal: unknown) => refusal);
      if (!(result instanceof RateLimiterRes)) throw result;
      return stateOf(result, requests);
    },
  };
}

function stateOf(result: RateLimiterRes, limit: number): RateLimitState {
  const taken = result.consumedPoints <= limit;
  return {
    limit,
    remaining: Math.max(0, result.remainingPoints),
    resetAt: Math.ceil((Date.now() + result.msBeforeNext) / 1_000),
    retryAfterSeconds: taken ? 0 : Math.max(1, Math.ceil(result.msBeforeNext / 1_000)),
  };
}
