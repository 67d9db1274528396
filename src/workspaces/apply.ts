import type { TSchema } from "typebox";
import type { Authenticator } from "../access/authenticate.ts";
import { type Origin, recordChanges } from "../audit/audit.ts";
import type { Clock } from "../clock.ts";
import type { Database, Transaction } from "../database/database.ts";
import { Problem } from "../problem.ts";
import { saveCompany, saveWorkspace } from "./manage-workspaces.ts";
import { findManifestFault, type Manifest, manifestSchema, refuseDuplicates } from "./manifest.ts";
import type { Change, CompanySection, Section, Target } from "./section.ts";
import { lockForApply } from "./store.ts";

export interface ApplyServices {
  readonly database: Database;
  readonly clock: Clock;
  readonly authenticator: Authenticator;
  /** Every part that a workspace may have in a manifest. */
  readonly sections: readonly Section[];
  /** Every part that the company may have. */
  readonly companySections: readonly CompanySection[];
}

export type Sections = Pick<ApplyServices, "sections" | "companySections">;

/** The JSON Schema of a manifest for the facilities that are built in. */
export const schemaOf = ({ sections, companySections }: Sections): TSchema =>
  manifestSchema(sections, companySections);

/**
 * The same as a document that editors read. They see a manifest before its variables are filled in, so a
 * text that has to look a certain way may also be one.
 */
export const publishedSchema = (sections: Sections): Record<string, unknown> => ({
  $schema: "https://json-schema.org/draft/2020-12/schema",
  ...(withVariables(schemaOf(sections)) as object),
});

const A_VARIABLE = { type: "string", pattern: "\\$\\{[A-Z][A-Z0-9_]*\\}" };

function withVariables(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withVariables);
  if (node === null || typeof node !== "object") return node;
  const { type, pattern, format, description } = node as Record<string, unknown>;
  if (type === "string" && (typeof pattern === "string" || typeof format === "string")) {
    return { ...(description !== undefined && { description }), anyOf: [node, A_VARIABLE] };
  }
  return Object.fromEntries(
    Object.entries(node).map(([name, member]) => [name, withVariables(member)]),
  );
}

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
    const company = await saveCompany(tx, services, manifest.company.name);
    const changes = [...company.changes];
    for (const [index, declared] of manifest.workspaces.entries()) {
      const { name } = declared;
      const workspace = await saveWorkspace(tx, services, company.id, name, declared);
      changes.push(...workspace.changes);
      const workspaceTarget = { ...target, workspaceId: workspace.id, workspaceName: name };
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
