import { exportsWorkload } from "./exports.ts";
import { merges } from "./merges.ts";
import { pageViews } from "./page-views.ts";
import { subscriptionSets, subscriptionSingle } from "./subscription-sets.ts";
import { track, trackProfiles, trackSingle, trackSkewed } from "./track.ts";
import { translations } from "./translations.ts";
import type { Workload } from "./workload.ts";

/** Every workload, in the order in which they run when none is named. */
export const WORKLOADS: readonly Workload[] = [
  track,
  trackProfiles,
  trackSkewed,
  trackSingle,
  exportsWorkload,
  merges,
  subscriptionSets,
  subscriptionSingle,
  pageViews,
  translations,
];

/** @throws when there is none. */
export function workloadNamed(name: string): Workload {
  const workload = WORKLOADS.find((each) => each.name === name);
  if (workload) return workload;
  const names = WORKLOADS.map((each) => each.name).join(", ");
  throw new Error(`There is no workload '${name}'; there are ${names}.`);
}

/** How many bodies a workload has, with so many users. */
export const bodiesOf = ({ bodies }: Workload, users: number): number =>
  typeof bodies === "number" ? bodies : bodies(users);
