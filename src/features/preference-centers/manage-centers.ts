import { isDeepStrictEqual } from "node:util";
import { recordChanges } from "../../core/admin/audit/audit.ts";
import {
  type AdministerServices,
  asPatched,
  changeDeclared,
} from "../../core/admin/workspaces/administer.ts";
import { refusingGrowth } from "../../core/admin/workspaces/most-entries.ts";
import type { ConfigChange } from "../../core/admin/workspaces/resource.ts";
import type { WorkspaceContext } from "../../core/base/context/context.ts";
import { Problem } from "../../core/base/problem.ts";
import {
  isDuplicate,
  type Queryable,
  type Transaction,
  withRetries,
} from "../../core/database/database.ts";
import type { StoringServices } from "../../core/database/storing-services.ts";
import type { CenterContent, DeclaredCenter, PreferenceCenter } from "./center.ts";
import {
  type CenterSummary,
  countCenters,
  deleteCenters,
  lockCenter,
  selectCenter,
  selectCenters,
  selectHeads,
  upsertCenters,
} from "./store.ts";

/** Its name in responses, changes and the audit. */
export const KIND = "preference_center";

export interface Where {
  readonly id: number;
  readonly name: string;
}

export const listCenters = (
  { database }: Pick<StoringServices, "database">,
  workspace: Where,
): Promise<CenterSummary[]> => selectCenters(database, workspace.id);

/** One of them. @throws Problem NOT_FOUND. */
export async function readCenter(
  { database }: { readonly database: Queryable },
  workspace: Where,
  id: string,
): Promise<PreferenceCenter> {
  return (await selectCenter(database, workspace.id, id)) ?? refuseUnknown(id);
}

/** Reads neither pages nor texts. @throws Problem NOT_FOUND unless there is such a center. */
export async function requireCenter(
  database: Queryable,
  workspace: Where,
  id: string,
): Promise<void> {
  const [head] = await selectHeads(database, workspace.id, [id]);
  if (!head) refuseUnknown(id);
}

/**
 * Creates a center of a checked content, with a new id.
 *
 * @param answer makes the result, in the transaction.
 * @throws Problem CONFLICT if the name is in use.
 */
export function createCenter<Result>(
  services: StoringServices,
  context: WorkspaceContext,
  content: CenterContent,
  answer: (center: PreferenceCenter, tx: Transaction) => Promise<Result>,
): Promise<Result> {
  const created = { id: services.clock.newId(), ...content };
  return withRetries(services.database, async (tx) =>
    answer(await saveCenter(tx, services, context, undefined, created), tx),
  );
}

/** The center may change while the new content is checked; then the check is repeated. */
const MOST_TRIES = 5;

/**
 * Changes a center.
 *
 * @param change works out the new content from the present one, and checks it. It runs outside the
 *   transaction, which must not wait for it.
 * @param answer makes the result, in the transaction.
 * @param isPatch whether the audit row has what changed, before and after, and there is none if
 *   nothing did.
 * @throws Problem NOT_FOUND, CONFLICT if the name is in use, and what `change` throws.
 */
export async function changeCenter<Result>(
  services: StoringServices,
  context: WorkspaceContext,
  id: string,
  change: (present: CenterContent) => Promise<CenterContent>,
  answer: (center: PreferenceCenter, tx: Transaction) => Promise<Result>,
  isPatch = false,
): Promise<Result> {
  const { database, clock } = services;
  const { workspace } = context;
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const present = await readCenter(services, workspace, id);
    const content = { id, ...(await change(present)) };
    const done = await withRetries(database, async (tx) => {
      const locked = await lockCenter(tx, workspace.id, id, clock.newId());
      if (!locked) return refuseUnknown(id);
      if (!isSame(present, locked)) return undefined;
      const isNoChange = isPatch && isSame(locked, content);
      const center = isNoChange
        ? locked
        : await saveCenter(tx, services, context, locked, content, isPatch);
      return { result: await answer(center, tx) };
    });
    if (done) return done.result;
  }
  throw new Problem(
    "CONFLICT",
    "The preference center is being changed by another request. Try again.",
  );
}

/**
 * Creates or changes a center as an administrator does. A declared one stays declared: the next apply overrides
 * changes made through the API. Repeating it changes nothing.
 *
 * @throws Problem CONFLICT if the name is in use.
 */
export function putCenter(
  services: AdministerServices,
  context: WorkspaceContext,
  center: DeclaredCenter,
): Promise<PreferenceCenter> {
  const { workspace } = context;
  return changeDeclared(services, context, async (tx) => {
    const present = await selectCenter(tx, workspace.id, center.id);
    if (present && isSame(present, center)) return { changes: [], result: present };
    const changes = await writeCenter(tx, services, workspace, present, center);
    return { changes, result: await readCenter({ database: tx }, workspace, center.id) };
  });
}

/** Removes a center; links to it stop working. @throws Problem NOT_FOUND. */
export function removeCenter(
  services: AdministerServices,
  context: WorkspaceContext,
  id: string,
): Promise<void> {
  const { workspace } = context;
  return changeDeclared(services, context, async (tx) => {
    const { name } = await readCenter({ database: tx }, workspace, id);
    await deleteCenters(tx, workspace.id, [id]);
    const change = { action: "removed", kind: KIND, workspace: workspace.name, name } as const;
    return { changes: [change], result: undefined };
  });
}

const isSame = (present: PreferenceCenter, wanted: DeclaredCenter): boolean =>
  isDeepStrictEqual({ ...present, ...wanted }, present);

async function saveCenter(
  tx: Transaction,
  { clock }: StoringServices,
  context: WorkspaceContext,
  present: PreferenceCenter | undefined,
  center: DeclaredCenter,
  isPatch = false,
): Promise<PreferenceCenter> {
  const { workspace } = context;
  const changes = await writeCenter(tx, { clock }, workspace, present, center);
  await recordChanges(tx, clock, context, isPatch ? changes.map(asPatched) : changes);
  return readCenter({ database: tx }, workspace, center.id);
}

async function writeCenter(
  tx: Transaction,
  { clock }: Pick<StoringServices, "clock">,
  workspace: Where,
  present: PreferenceCenter | undefined,
  center: DeclaredCenter,
): Promise<ConfigChange[]> {
  const row = { ...center, declared: false, revision: clock.newId() };
  await withinBound(tx, workspace.id, () => writeCenters(tx, workspace.id, [row], clock.now()));
  const { name, title, state } = center;
  const action = present ? "updated" : "created";
  const before = present && { title: present.title, state: present.state };
  return [
    { action, kind: KIND, workspace: workspace.name, name, details: { title, state }, before },
  ];
}

/** Runs a change of the centers of a workspace. @throws Problem INVALID_REQUEST if there would be too many. */
export const withinBound = (
  tx: Transaction,
  workspaceId: number,
  change: () => Promise<void>,
): Promise<void> =>
  refusingGrowth({ noun: "preference centers" }, () => countCenters(tx, workspaceId), change);

/** @throws Problem CONFLICT if a name is in use. */
export async function writeCenters(
  tx: Transaction,
  workspaceId: number,
  rows: Parameters<typeof upsertCenters>[2],
  now: Date,
): Promise<void> {
  await upsertCenters(tx, workspaceId, rows, now).catch((error) => {
    if (!isDuplicate(error)) throw error;
    const names = rows.map((row) => `'${row.name}'`).join(", ");
    throw new Problem(
      "CONFLICT",
      `Another preference center already has one of the names ${names}.`,
    );
  });
}

function refuseUnknown(id: string): never {
  throw new Problem("NOT_FOUND", `There is no preference center '${id}'.`);
}
