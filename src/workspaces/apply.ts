import { isDeepStrictEqual } from "node:util";
import type { TSchema } from "typebox";
import type { Authenticator } from "../access/authenticate.ts";
import { type Origin, recordChanges } from "../audit/audit.ts";
import type { Clock } from "../clock.ts";
import type { Database, Transaction } from "../database/database.ts";
import { Problem } from "../problem.ts";
import {
  DEFAULT_SETTINGS,
  type DeclaredWorkspace,
  findManifestFault,
  type Manifest,
  manifestSchema,
  refuseDuplicates,
} from "./manifest.ts";
import type { Change, Section, SectionTarget } from "./section.ts";
import {
  insertCompany,
  insertWorkspace,
  lockForApply,
  renameCompany,
  selectCompany,
  selectWorkspaces,
  updateWorkspace,
  type WorkspaceRow,
} from "./store.ts";

export interface ApplyServices {
  readonly database: Database;
  readonly clock: Clock;
  readonly authenticator: Authenticator;
  /** Every list that a workspace may have in a manifest. */
  readonly sections: readonly Section[];
}

/** The JSON Schema of a manifest for the facilities that are built in. */
export const schemaOf = (sections: readonly Section[]): TSchema =>
  manifestSchema(Object.fromEntries(sections.map((section) => [section.key, section.schema])));

/**
 * Makes the workspaces what the manifest says, in one transaction; applying it again changes
 * nothing. Workspaces that it does not name stay as they are. Every change is audited.
 *
 * @returns what changed, in the order of the manifest.
 * @throws Problem INVALID_REQUEST with the place and the rule, CONFLICT; nothing is applied then.
 */
export async function applyManifest(
  services: ApplyServices,
  unchecked: unknown,
  origin: Origin,
): Promise<readonly Change[]> {
  const manifest = checkManifest(services.sections, unchecked);
  const changes = await services.database.transaction(async (tx) => {
    await lockForApply(tx);
    const company = await applyCompany(tx, services, manifest);
    const present = await selectWorkspaces(tx);
    const changes = [...company.changes];
    for (const [index, declared] of manifest.workspaces.entries()) {
      const nextId = Math.max(0, ...present.map((each) => each.id)) + 1;
      const known = present.find((each) => each.name === declared.name);
      const workspace = rowOf(declared, known?.id ?? nextId);
      if (!known) present.push(workspace);
      changes.push(...(await applyWorkspace(tx, services, company.id, known, workspace)));
      changes.push(...(await applySections(tx, services, workspace, declared, index)));
    }
    await recordChanges(tx, services.clock, origin, changes);
    return changes;
  });
  services.authenticator.forget();
  return changes;
}

function checkManifest(sections: readonly Section[], unchecked: unknown): Manifest {
  const fault = findManifestFault(schemaOf(sections), unchecked);
  if (fault) throw new Problem("INVALID_REQUEST", fault.rule, { body: { path: fault.path } });
  const manifest = unchecked as Manifest;
  refuseDuplicates(manifest.workspaces, "name", ["workspaces"]);
  for (const [index, workspace] of manifest.workspaces.entries()) {
    for (const section of sections) {
      const entries = workspace[section.key] as Record<string, unknown>[] | undefined;
      refuseDuplicates(entries ?? [], section.identity, ["workspaces", index, section.key]);
    }
  }
  return manifest;
}

async function applyCompany(tx: Transaction, services: ApplyServices, manifest: Manifest) {
  const { name } = manifest.company;
  const known = await selectCompany(tx);
  const id = known?.id ?? services.clock.newId();
  const change = (action: Change["action"]): Change[] => [
    { action, kind: "company", workspace: "", name },
  ];
  if (!known) {
    await insertCompany(tx, { id, name }, services.clock.now());
    return { id, changes: change("created") };
  }
  if (known.name === name) return { id, changes: [] };
  await renameCompany(tx, { id, name });
  return { id, changes: change("updated") };
}

const rowOf = (declared: DeclaredWorkspace, id: number): WorkspaceRow => ({
  id,
  name: declared.name,
  allowReset: declared.allow_reset ?? false,
  settings: { ...DEFAULT_SETTINGS, ...declared.settings } as WorkspaceRow["settings"],
});

async function applyWorkspace(
  tx: Transaction,
  services: ApplyServices,
  companyId: string,
  known: WorkspaceRow | undefined,
  wanted: WorkspaceRow,
): Promise<Change[]> {
  const change = (action: Change["action"], details: Change["details"]): Change[] => [
    { action, kind: "workspace", workspace: wanted.name, name: wanted.name, details },
  ];
  const { settings, allowReset: allow_reset } = wanted;
  if (!known) {
    await insertWorkspace(tx, companyId, wanted, services.clock.now());
    return change("created", { allow_reset, settings });
  }
  if (isDeepStrictEqual(known, wanted)) return [];
  await updateWorkspace(tx, wanted);
  return change("updated", { allow_reset, settings });
}

async function applySections(
  tx: Transaction,
  services: ApplyServices,
  workspace: WorkspaceRow,
  declared: DeclaredWorkspace,
  index: number,
): Promise<Change[]> {
  const target: SectionTarget = {
    workspaceId: workspace.id,
    workspaceName: workspace.name,
    now: services.clock.now(),
    newId: services.clock.newId,
  };
  const changes: Change[] = [];
  for (const section of services.sections) {
    const entries = declared[section.key] as readonly never[] | undefined;
    if (!entries) continue;
    const applied = section.apply(tx, target, entries).catch((error) => {
      throw placedAt(["workspaces", index, section.key], error);
    });
    changes.push(...(await applied));
  }
  return changes;
}

/** A problem that a section found on applying it, with the section's place unless it has one. */
function placedAt(path: readonly (string | number)[], error: unknown): unknown {
  if (!(error instanceof Problem)) return error;
  const { code, message, details } = error;
  return new Problem(code, message, { ...details, body: { path, ...details.body } });
}
