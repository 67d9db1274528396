import { exportsWorkload } from "./exports.ts";
import { merges } from "./merges.ts";
import { pageViews } from "./page-views.ts";
import { subscriptionSets, subscriptionSingle } from "./subscription-sets.ts";
import {
  track,
  trackNew,
  trackNewEmails,
  trackProfiles,
  trackSingle,
  trackSkewed,
} from "./track.ts";
import { translations } from "./translations.ts";
import type { Workload } from "./workload.ts";

/** Every workload, in the order of a run without names. */
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

/** Run when they are named, because no floor has their volume of new users, and on Citus. */
const MORE_WORKLOADS: readonly Workload[] = [trackNew, trackNewEmails];

/** The workloads that compare a cluster with a plain PostgreSQL. */
export const CITUS_WORKLOADS: readonly Workload[] = [
  track,
  trackProfiles,
  trackNew,
  trackNewEmails,
  merges,
];

/** @throws when there is none. */
export function workloadNamed(name: string): Workload {
  const all = [...WORKLOADS, ...MORE_WORKLOADS];
  const workload = all.find((each) => each.name === name);
  if (workload) return workload;
  const names = all.map((each) => each.name).join(", ");
  throw new Error(`There is no workload '${name}'; there are ${names}.`);
}

/** How many bodies a workload has for this many users. */
export const bodiesOf = ({ bodies }: Workload, users: number): number =>
  typeof bodies === "number" ? bodies : bodies(users);
