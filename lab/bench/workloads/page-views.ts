import { DEFAULT_PAGE } from "../../../src/features/preference-centers/default-page.ts";
import { linkOf } from "../../../src/features/preference-centers/link.ts";
import { LINK_SECRET, profileIdOf, SEEDED_WORKSPACE } from "../engines/seed.ts";
import { pageViewsFloor } from "../floors/page-views.ts";
import { BENCH_CENTER } from "../processes/server.ts";
import type { Workload } from "./workload.ts";

/** GET /preferences/:link: the ready page of a preference center, of one person each time. */
export const pageViews: Workload = {
  name: "page-views",
  about: "A preference page a request, each of another person.",
  unit: "pages",
  unitsPerRequest: 1,
  distribution: "uniform",
  method: "GET",
  path: "/preferences",
  connections: 32,
  bodies: 20_000,
  body: () => null,
  pathOf(_random, pick) {
    const profileId = Buffer.from(profileIdOf(pick())).toString("hex");
    const target = { workspaceId: SEEDED_WORKSPACE, profileId, centerId: BENCH_CENTER };
    const key = { version: 1, secret: LINK_SECRET };
    return `/preferences/${linkOf(key, target, null, new Date(Date.now() + 86_400_000))}`;
  },
  faults: ["This link does not work"],
  bareAnswer: () => DEFAULT_PAGE,
  floor: pageViewsFloor,
};
