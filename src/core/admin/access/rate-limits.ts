import type { Permission } from "../../base/context/permissions.ts";
import { isRefusedWrite } from "../../database/database.ts";
import type { StoringServices } from "../../database/storing-services.ts";
import type { RateLimits } from "../../http/callers.ts";
import type { Access } from "../../http/endpoint.ts";
import { lendFromWindow } from "./limit-store.ts";
import { createLimitWindows, type LimitState, lendToOneProcess } from "./limit-windows.ts";

/** A permission, or SCIM as a whole. */
type LimitName = Permission | "scim";

/** Names whose requests are counted together, and how many requests fit into a window. */
interface Bucket {
  readonly names: readonly LimitName[];
  readonly requests: number;
  readonly perSeconds: number;
}

const MINUTE = 60;
const HOUR = 3_600;
const DAY = 86_400;

/** docs/conformance.md#rate-limits; spec: Limits, preference centers and translations. */
const BUCKETS: readonly Bucket[] = [
  { names: ["users.track"], requests: 3_000, perSeconds: 3 },
  { names: ["users.track.bulk"], requests: 50, perSeconds: 1 },
  { names: ["users.track.sync"], requests: 500, perSeconds: MINUTE },
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
  { names: ["users.external_ids.rename"], requests: 1_000, perSeconds: MINUTE },
  { names: ["users.external_ids.remove"], requests: 1_000, perSeconds: MINUTE },
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

/** For all other permissions, counted together. */
const DEFAULT_BUCKET: Bucket = { names: [], requests: 250_000, perSeconds: HOUR };

/**
 * Counts requests by owner and bucket: on the embedded engine in this process, which is the only
 * one; otherwise together with all processes of the database.
 */
export function createRateLimits({ database, clock }: StoringServices): RateLimits {
  const alone = lendToOneProcess(clock);
  const together: typeof alone = async (limit, wanted) => {
    try {
      return await lendFromWindow(database, limit, wanted, clock.now());
    } catch (error) {
      // While nothing can be written reads continue, and each process counts separately.
      if (isRefusedWrite(error)) return alone(limit, wanted);
      throw error;
    }
  };
  const take = createLimitWindows(database.engine === "embedded" ? alone : together, clock);

  return {
    async count(access, { workspace, company }) {
      const name = limitOf(access);
      const owner = workspace ?? company;
      if (name === undefined || owner === undefined) return undefined;
      const bucket = BUCKETS.find((each) => each.names.includes(name)) ?? DEFAULT_BUCKET;
      const setting = name === "scim" ? undefined : workspace?.settings.rate_limits[name];
      if (setting === "off") return undefined;
      // A separate limit takes a permission out of its shared bucket.
      const counter = setting ? name : (bucket.names[0] ?? "default");
      const requests = setting?.requests ?? bucket.requests;
      const perSeconds = setting?.per_seconds ?? bucket.perSeconds;
      // A new length starts a new window; a new number of requests resizes the present one.
      const limit = { name: `${owner.id} ${counter} ${perSeconds}`, requests, perSeconds };
      return stateOf(await take(limit), requests, clock.now());
    },
  };
}

/** Administrators and anonymous callers have no limit. */
function limitOf(access: Access): LimitName | undefined {
  if (access.by === "key") return access.permission;
  return access.by === "scim" ? "scim" : undefined;
}

function stateOf({ isTaken, remaining, endsInMs }: LimitState, limit: number, now: Date) {
  return {
    limit,
    remaining,
    resetAt: Math.ceil((now.getTime() + endsInMs) / 1_000),
    retryAfterSeconds: isTaken ? 0 : Math.max(1, Math.ceil(endsInMs / 1_000)),
  };
}
