import { listCredentials } from "../../core/admin/access/credentials.ts";
import { API_KEYS } from "../../core/admin/access/keys.ts";
import type { AttentionSource, RunRows } from "../../core/admin/attention/attention.ts";
import { selectFaulty } from "../../core/admin/jobs/store.ts";
import { MOST_FAULTS } from "../../core/admin/jobs/worker.ts";
import type { WorkspaceContext } from "../../core/base/context/context.ts";
import type { WorkspacePermission } from "../../core/base/context/dashboard-permissions.ts";
import type { Metrics } from "../../core/base/observe/metrics.ts";
import { countsOfSlots, PERIODS, type Period } from "../../core/base/observe/traffic.ts";
import { selectLockHolders } from "../../core/database/postgres/lock-holders.ts";
import type { StoringServices } from "../../core/database/storing-services.ts";
import { findAttention, LONG_HELD_SECONDS } from "./attention.ts";
import { combineCounts } from "./combine.ts";
import type { TrafficSharing } from "./share-traffic.ts";
import { selectSlots } from "./store.ts";

export interface OverviewServices extends StoringServices {
  readonly metrics: Pick<Metrics, "traffic">;
  readonly trafficSharing: Pick<TrafficSharing, "processId">;
  readonly attentionSources: readonly AttentionSource[];
}

interface Question {
  readonly workspaceId: number;
  readonly period: Period;
  readonly now: number;
}

type Counting = Pick<OverviewServices, "database" | "metrics" | "trafficSharing">;

/** The counts of this process up to now, and the recorded counts of others and from before a restart. */
async function countTraffic(
  { database, metrics: { traffic }, trafficSharing: { processId } }: Counting,
  { workspaceId, period, now }: Question,
) {
  const start = startOf(period, now);
  const rows = await selectSlots(database, workspaceId, period, new Date(start), [processId]);
  const slots = rows.map(({ slotAt, counts }) => ({
    place: Math.round((slotAt.getTime() - start) / PERIODS[period].slotMs),
    counts,
  }));
  const own = traffic.read(workspaceId, period, now);
  return combineCounts([own, countsOfSlots(slots, period)], period);
}

function startOf(period: Period, now: number): number {
  const { slotMs, slots } = PERIODS[period];
  return (Math.floor(now / slotMs) - slots + 1) * slotMs;
}

/** The traffic of a workspace over a period, its syncs, and what needs attention. */
export async function readOverview(
  services: OverviewServices,
  context: WorkspaceContext,
  period: Period,
) {
  const { database, clock, attentionSources } = services;
  const { workspace } = context;
  const now = clock.now();
  const { slotMs, slots } = PERIODS[period];
  const start = startOf(period, now.getTime());
  const ask = (of: Period) =>
    countTraffic(services, { workspaceId: workspace.id, period: of, now: now.getTime() });
  const counts = await ask(period);
  const hour = period === "hour" ? counts : await ask("hour");
  const said = [];
  for (const source of attentionSources) {
    if (!may(context, source.permission)) continue;
    said.push(await source.read(database, workspace, new Date(start)));
  }
  const runs = said.find((each) => each.runs)?.runs;
  const keys = may(context, "dev_console")
    ? await listCredentials(database, API_KEYS, workspace.id, now)
    : undefined;
  const pausedJobs = await selectFaulty(database, workspace.id, MOST_FAULTS);
  const lockHolders = await selectLockHolders(database.for("lookup"), LONG_HELD_SECONDS);
  return {
    start: new Date(start),
    slotMs,
    counts,
    syncs: runs && rowsBySlot(runs, start, slotMs, slots),
    attention: findAttention({
      now,
      hour,
      keys,
      said: said.flatMap(({ findings }) => findings),
      pausedJobs,
      lockHolders,
    }),
  };
}

/** Whether the caller may see data that a permission opens elsewhere. */
const may = ({ person, workspace }: WorkspaceContext, permission: WorkspacePermission): boolean =>
  person === undefined ||
  person.isAdministrator ||
  (person.workspacePermissions.get(workspace.name)?.has(permission) ?? false);

function rowsBySlot(runs: readonly RunRows[], start: number, slotMs: number, slots: number) {
  const synced: number[] = Array.from({ length: slots }, () => 0);
  const failed = [...synced];
  for (const { startedAt, rowsSynced, rowsFailed } of runs) {
    const slot = Math.floor((startedAt.getTime() - start) / slotMs);
    synced[slot] = (synced[slot] ?? 0) + rowsSynced;
    failed[slot] = (failed[slot] ?? 0) + rowsFailed;
  }
  return { synced: synced.slice(0, slots), failed: failed.slice(0, slots) };
}
