import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";
import type { Permission } from "./permissions.ts";
import type { RateLimitSetting } from "./workspace.ts";

/** What requests are counted by: a permission, or SCIM as a whole. */
export type LimitName = Permission | "scim";

/** Whose requests are counted: a workspace, with limits of its own in its settings, or a company. */
export interface LimitedSubject {
  readonly id: number | string;
  readonly settings?: {
    readonly rate_limits: Readonly<Partial<Record<LimitName, RateLimitSetting>>>;
  };
}

/** Names whose requests are counted together, and how many of them fit into a window. */
interface Bucket {
  readonly names: readonly LimitName[];
  readonly requests: number;
  readonly perSeconds: number;
}

const MINUTE = 60;
const HOUR = 3_600;
const DAY = 86_400;

/** design: Limits; spec: Limits for preference centers and translations. */
const BUCKETS: readonly Bucket[] = [
  { names: ["users.track"], requests: 3_000, perSeconds: 3 },
  {
    names: [
      "users.delete",
      "users.alias.new",
      "users.alias.update",
      "users.identify",
      "users.merge",
    ],
    requests: 20_000,
    perSeconds: MINUTE,
  },
  { names: ["subscription.status.set"], requests: 5_000, perSeconds: MINUTE },
  { names: ["users.export.ids"], requests: 2_500, perSeconds: MINUTE },
  { names: ["preference_center.update"], requests: 10, perSeconds: MINUTE },
  { names: ["preference_center.list"], requests: 1_000, perSeconds: MINUTE },
  { names: ["preference_center.get"], requests: 1_000, perSeconds: MINUTE },
  { names: ["preference_center.user.get"], requests: 1_000, perSeconds: MINUTE },
  { names: ["cdi.integration_list"], requests: 50, perSeconds: MINUTE },
  { names: ["cdi.integration_job_status"], requests: 100, perSeconds: MINUTE },
  { names: ["cdi.integration_sync"], requests: 20, perSeconds: MINUTE },
  {
    names: [
      "campaigns.translations.get",
      "campaigns.translations.update",
      "canvas.translations.get",
      "canvas.translations.update",
    ],
    requests: 250_000,
    perSeconds: HOUR,
  },
  { names: ["scim"], requests: 5_000, perSeconds: DAY },
];

/** For all permissions that have no bucket of their own, counted together. */
const DEFAULT_BUCKET: Bucket = { names: [], requests: 250_000, perSeconds: HOUR };

export interface RateLimitState {
  readonly limit: number;
  readonly remaining: number;
  /** When the window ends, in seconds since the epoch. */
  readonly resetAt: number;
  /** Whole seconds until the next request is taken; 0 for a request that is taken now. */
  readonly retryAfterSeconds: number;
}

export interface RateLimits {
  /** Counts one request. Undefined where the subject has switched the limit off. */
  count(subject: LimitedSubject, name: LimitName): Promise<RateLimitState | undefined>;
}

/** Counts requests per subject and bucket, in this process. */
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
    async count(subject, name) {
      const bucket = BUCKETS.find((each) => each.names.includes(name)) ?? DEFAULT_BUCKET;
      const setting = subject.settings?.rate_limits[name];
      if (setting === "off") return undefined;
      // A limit of a name's own takes it out of the bucket it would share.
      const counter = setting ? name : (bucket.names[0] ?? "default");
      const requests = setting?.requests ?? bucket.requests;
      const limiter = limiterFor(requests, setting?.per_seconds ?? bucket.perSeconds);
      const result = await limiter
        .consume(`${subject.id} ${counter}`)
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
