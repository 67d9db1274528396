import { systemClock } from "../../../src/core/base/clock.ts";
import { createFairLine } from "../../../src/core/base/fair-line.ts";
import { NO_TRACING } from "../../../src/core/base/observe/tracing.ts";
import type { Database } from "../../../src/core/database/database.ts";
import { tooMuchLoad } from "../../../src/core/http/respond.ts";
import { createMergeQueue } from "../../../src/core/people/identity/merge-users.ts";
import { createIdCache } from "../../../src/core/people/profiles/id-cache.ts";
import { createPeopleOrder } from "../../../src/core/people/profiles/people-order.ts";
import { createRemovedProfiles } from "../../../src/core/people/profiles/removed-profiles.ts";
import type { PeopleServices } from "../../../src/core/people/profiles/write-people.ts";

/** What writes about people run on, in one process that has just started. */
export function peopleServices(database: Database, idCache = createIdCache()) {
  return {
    database,
    clock: systemClock,
    idCache,
    peopleOrder: createPeopleOrder(),
    removedProfiles: createRemovedProfiles(database, idCache, () => false),
  };
}

/** What writes about identities run on. @param own replaces services. */
export function identityServices(database: Database, own: Partial<PeopleServices> = {}) {
  const largePreviews = createFairLine({ places: 2, mostWaiting: 50, refusal: tooMuchLoad });
  const services = { ...peopleServices(database), ...own, largePreviews };
  return { ...services, mergeQueue: createMergeQueue({ ...services, tracing: NO_TRACING }) };
}
