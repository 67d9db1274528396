import { withdraw } from "../../core/admin/jobs/queue.ts";
import { removeSchedules, setSchedules } from "../../core/admin/jobs/schedule.ts";
import type { Sealing } from "../../core/admin/secrets/sealing.ts";
import { refuseGrowth } from "../../core/admin/workspaces/most-entries.ts";
import { Problem } from "../../core/base/problem.ts";
import { isDuplicate, type Transaction } from "../../core/database/database.ts";
import { type Integration, SYNC_JOB } from "./integration.ts";
import { placeOf } from "./sources/kinds.ts";
import {
  abandonRuns,
  countIntegrations,
  deleteIntegrations,
  forget,
  selectIntegrationsById,
  upsertIntegrations,
} from "./store.ts";
import { type StoredIntegration, sealIntegration, storedPlaceOf } from "./stored-warehouse.ts";

/** The workspace, the time, and the seal for credentials of warehouses. */
export interface Where {
  readonly sealing: Sealing;
  readonly workspaceId: number;
  readonly now: Date;
}

/**
 * Creates, changes and removes integrations. Changing the source restarts the sync; removing an
 * integration also removes its history.
 *
 * @param isDeclared whether a manifest makes the change.
 * @throws Problem CONFLICT if another integration has the name; INVALID_REQUEST if there would be too many.
 */
export async function changeIntegrations(
  tx: Transaction,
  where: Where,
  { saved, removed }: { saved: readonly Integration[]; removed: readonly string[] },
  isDeclared: boolean,
): Promise<void> {
  const { workspaceId } = where;
  const savedIds = saved.map(idOf);
  // Schedules before jobs: the worker locks them in this order.
  await removeSchedules(tx, workspaceId, SYNC_JOB, [...removed, ...savedIds]);
  await remove(tx, where, removed);
  const present = await selectIntegrationsById(tx, workspaceId, savedIds);
  const kept = await countIntegrations(tx, workspaceId);
  const created = saved.length - present.length;
  refuseGrowth({ noun: "integrations" }, kept + removed.length, kept + created);
  await startAfresh(tx, where, movedAmong(saved, present));
  await save(tx, where, saved, isDeclared);
}

/** The audited form of an integration: without anything that opens its warehouse. */
export const detailsOf = ({
  type,
  status,
  schedule,
  scheduleTimeZone,
  warehouse,
}: Integration) => ({
  type,
  status,
  schedule,
  ...(scheduleTimeZone !== "UTC" && { schedule_time_zone: scheduleTimeZone }),
  warehouse: placeOf(warehouse),
});

const idOf = ({ id }: { readonly id: string }): string => id;

async function remove(
  tx: Transaction,
  { workspaceId }: Where,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  await withdraw(tx, workspaceId, SYNC_JOB, ids);
  await forget(tx, "progress", workspaceId, ids);
  await forget(tx, "runs", workspaceId, ids);
  await deleteIntegrations(tx, workspaceId, ids);
}

/** Identifies the rows and what they mean: progress stays valid while this stays the same. */
export const meaningOf = (integration: Pick<StoredIntegration, "type" | "warehouse">): string =>
  `${integration.type} ${storedPlaceOf(integration.warehouse)}`;

/** Integrations whose rows are now in another place, or mean something else. */
function movedAmong(
  wanted: readonly Integration[],
  present: readonly StoredIntegration[],
): string[] {
  const after = new Map(wanted.map((each) => [each.id, meaningOf(each)]));
  return present.filter((each) => after.get(each.id) !== meaningOf(each)).map(idOf);
}

/** Different rows have different progress: the old rows' progress says nothing about them. */
async function startAfresh(
  tx: Transaction,
  { workspaceId, now }: Where,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  await withdraw(tx, workspaceId, SYNC_JOB, ids);
  await abandonRuns(tx, workspaceId, ids, "The integration was changed while it ran.", now);
  await forget(tx, "progress", workspaceId, ids);
}

async function save(
  tx: Transaction,
  { workspaceId, now, sealing }: Where,
  integrations: readonly Integration[],
  isDeclared: boolean,
): Promise<void> {
  const stored: StoredIntegration[] = [];
  for (const each of integrations) {
    stored.push(await sealIntegration(tx, sealing, workspaceId, each));
  }
  await upsertIntegrations(tx, workspaceId, stored, isDeclared, now).catch((error) => {
    if (!isDuplicate(error)) throw error;
    throw new Problem("CONFLICT", "Two integrations of a workspace have the same name.");
  });
  const scheduled = integrations.flatMap(({ id, schedule, scheduleTimeZone: timeZone, status }) =>
    schedule !== null && status === "active"
      ? [{ workspaceId, kind: SYNC_JOB, subject: id, cron: schedule, timeZone }]
      : [],
  );
  await setSchedules(tx, scheduled, now);
}
