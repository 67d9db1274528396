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
import type { Change, CompanySection, Section, Target } from "./section.ts";
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
  /** Every part that a workspace may have in a manifest. */
  readonly sections: readonly Section[];
  /** Every part that the company may have. */
  readonly companySections: readonly CompanySection[];
}

type Sections = Pick<ApplyServices, "sections" | "companySections">;

/** The JSON Schema of a manifest for the facilities that are built in. */
export const schemaOf = ({ sections, companySections }: Sections): TSchema =>
  manifestSchema(sections, companySections);

/**
 * Makes the workspaces what the manifest says, in one transaction; applying it again changes
 * nothing. Workspaces that it does not name stay as they are. Every change is audited.
 *
 * @returns what changed, in the order in which it was applied.
 * @throws Problem INVALID_REQUEST with the place and the rule, CONFLICT; nothing is applied then.
 */
export async function applyManifest(
  services: ApplyServices,
  unchecked: unknown,
  origin: Origin,
): Promise<readonly Change[]> {
  const manifest = checkManifest(services, unchecked);
  const target = { now: services.clock.now(), newId: services.clock.newId };
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
      const workspaceTarget = {
        ...target,
        workspaceId: workspace.id,
        workspaceName: workspace.name,
      };
      const place = ["workspaces", index];
      changes.push(
        ...(await applySections(tx, services.sections, workspaceTarget, declared, place)),
      );
    }
    const companyTarget = { ...target, companyId: company.id };
    const ofCompany = services.companySections;
    changes.push(
      ...(await applySections(tx, ofCompany, companyTarget, manifest.company, ["company"])),
    );
    await recordChanges(tx, services.clock, origin, changes);
    return changes;
  });
  services.authenticator.forget();
  return changes;
}

function checkManifest(services: Sections, unchecked: unknown): Manifest {
  const fault = findManifestFault(schemaOf(services), unchecked);
  if (fault) throw new Problem("INVALID_REQUEST", fault.rule, { body: { path: fault.path } });
  const manifest = unchecked as Manifest;
  refuseDuplicates(manifest.workspaces, "name", ["workspaces"]);
  refuseDoubleEntries(services.companySections, manifest.company, ["company"]);
  for (const [index, workspace] of manifest.workspaces.entries()) {
    refuseDoubleEntries(services.sections, workspace, ["workspaces", index]);
  }
  return manifest;
}

function refuseDoubleEntries(
  sections: readonly Pick<Section, "key" | "identity">[],
  declared: Readonly<Record<string, unknown>>,
  place: readonly (string | number)[],
): void {
  for (const { key, identity } of sections) {
    if (identity === undefined) continue;
    const entries = (declared[key] ?? []) as Record<string, unknown>[];
    refuseDuplicates(entries, identity, [...place, key]);
  }
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

async function applySections<Where extends Target>(
  tx: Transaction,
  sections: readonly Section<Where>[],
  target: Where,
  owner: Readonly<Record<string, unknown>>,
  place: readonly (string | number)[],
): Promise<Change[]> {
  const changes: Change[] = [];
  for (const section of sections) {
    const declared = owner[section.key];
    if (declared === undefined) continue;
    const applied = section.apply(tx, target, declared as never).catch((error) => {
      throw placedAt(place, section.key, error);
    });
    changes.push(...(await applied));
  }
  return changes;
}

/** A problem that a section found on applying it: at the place that it tells below its owner. */
function placedAt(place: readonly (string | number)[], key: string, error: unknown): unknown {
  if (!(error instanceof Problem)) return error;
  const { code, message, details } = error;
  const below = Array.isArray(details.body?.path) ? details.body.path : [key];
  return new Problem(code, message, {
    ...details,
    body: { ...details.body, path: [...place, ...below] },
  });
}
