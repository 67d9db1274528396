import type { TSchema } from "typebox";
import type { CompanyContext, Context } from "../../base/context/context.ts";
import { Problem } from "../../base/problem.ts";
import { findUnstorablePlace } from "../../base/values/plain-json.ts";
import type { Database, Transaction } from "../../database/database.ts";
import type { Authenticator } from "../../http/callers.ts";
import { recordChanges } from "../audit/audit.ts";
import { findNewer, OlderManifest, recordApplied } from "./applied-manifests.ts";
import { HIDDEN, withFields } from "./field-changes.ts";
import { findWorkspace } from "./find-workspace.ts";
import { beginWorkspace, saveCompany, saveWorkspace } from "./manage-workspaces.ts";
import {
  type DeclaredWorkspace,
  type FindManifestFaults,
  findDuplicates,
  type Manifest,
  type ManifestFault,
  manifestChecks,
  manifestProblem,
  manifestSchema,
} from "./manifest.ts";
import type { ConfigChange, Resource, ResourceServices, SlowChecks } from "./resource.ts";
import { lockForApply } from "./store.ts";

export interface ManifestResources {
  /** The resources of every workspace, in the order they are applied. */
  readonly resources: readonly Resource[];
  /** The resources of the company. They are applied after all workspaces, because they may refer to them, unless `isFirst`. */
  readonly companyResources: readonly Resource<CompanyContext>[];
}

export interface ApplyServices extends ManifestResources, ResourceServices, SlowChecks {
  readonly database: Database;
  readonly authenticator: Pick<Authenticator, "forget">;
}

export const schemaOf = ({ resources, companyResources }: ManifestResources): TSchema =>
  manifestSchema(resources, companyResources);

/**
 * The schema for editors, which see a manifest before its variables are replaced: a text with a pattern
 * or format may also be a variable.
 */
export const publishedSchema = (resources: ManifestResources): Record<string, unknown> => ({
  $schema: "https://json-schema.org/draft/2020-12/schema",
  ...(withVariables(schemaOf(resources)) as object),
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

export interface ApplyOptions {
  readonly dryRun?: boolean | undefined;
  /** Removes declarations of earlier manifests from lists that this one omits. */
  readonly prune?: boolean | undefined;
  /** The source of the manifest, for the record of applied manifests. */
  readonly source?: string | undefined;
  readonly unlessOlder?: boolean | undefined;
  /** Gets a sentence for each thing that differs from the manifest and stays so. */
  readonly note?: (sentence: string) => void;
}

/**
 * Applies a manifest in one transaction; applying it again changes nothing. Workspaces that it does not
 * name stay as they are. Every change is audited.
 *
 * @returns the changes, in the order they were applied.
 * @throws Problem INVALID_REQUEST with the location and the rule of every error, CONFLICT;
 * OlderManifest if it is to be refused. Nothing is applied then.
 */
export async function applyManifest(
  services: ApplyServices,
  unchecked: unknown,
  context: Context,
  options: ApplyOptions = {},
): Promise<readonly ConfigChange[]> {
  const { dryRun = false, prune = false, source = "the admin API", unlessOlder } = options;
  const applying = { ...services, dryRun, ...(options.note && { note: options.note }) };
  const checked = checkManifest(services, unchecked);
  const manifest = prune ? withEmptyLists(services, checked) : checked;
  await runSlowChecks(services, manifest);
  try {
    const changes = await services.database.transaction(async (tx) => {
      await lockForApply(tx);
      const newer = unlessOlder ? await findNewer(tx, checked) : undefined;
      if (newer) throw new OlderManifest(newer);
      const changes = await applyChecked(tx, applying, context, manifest);
      if (dryRun) throw new RolledBack(changes);
      await recordApplied(tx, services.clock, checked, source);
      await recordChanges(tx, services.clock, context, changes);
      return changes;
    });
    services.authenticator.forget();
    return changes;
  } catch (error) {
    if (error instanceof RolledBack) return error.changes;
    throw error;
  }
}

/** Ends the transaction of a dry run, which made its changes to see whether they can be made. */
class RolledBack extends Error {
  readonly changes: readonly ConfigChange[];

  constructor(changes: readonly ConfigChange[]) {
    super("A dry run is rolled back.");
    this.changes = changes;
  }
}

/** In a dry run, changes list the changed fields. */
type Applying = ApplyServices & { readonly dryRun: boolean };

async function applyChecked(
  tx: Transaction,
  services: Applying,
  context: Context,
  manifest: Manifest,
): Promise<ConfigChange[]> {
  const { name } = manifest.company;
  const company = await saveCompany(tx, services, name);
  const inCompany = { ...context, company: { id: company.id, name } };
  const applyThose = (isFirst: boolean) => {
    const those = services.companyResources.filter((each) => (each.isFirst ?? false) === isFirst);
    return applyAll(tx, services, those, inCompany, manifest.company, ["company"]);
  };
  const changes = [...company.changes, ...(await applyThose(true))];
  for (const [index, declared] of manifest.workspaces.entries()) {
    const place = ["workspaces", index];
    changes.push(...(await applyWorkspace(tx, services, context, company.id, declared, place)));
  }
  return [...changes, ...(await applyThose(false))];
}

/** The manifest with an empty list for each that it leaves out. */
function withEmptyLists(
  { resources, companyResources }: ManifestResources,
  { company, workspaces }: Manifest,
): Manifest {
  const emptyOf = (listed: readonly Pick<Resource, "key" | "identity">[]) =>
    Object.fromEntries(
      listed.filter(({ identity }) => identity !== undefined).map(({ key }) => [key, []]),
    );
  return {
    company: { ...emptyOf(companyResources), ...company },
    workspaces: workspaces.map((workspace) => ({ ...emptyOf(resources), ...workspace })),
  };
}

async function applyWorkspace(
  tx: Transaction,
  services: Applying,
  context: Context,
  companyId: string,
  declared: DeclaredWorkspace,
  place: ManifestPath,
): Promise<ConfigChange[]> {
  const { name } = declared;
  const { isNew, changes } = await saveWorkspace(tx, services, companyId, name, declared);
  const inWorkspace = { ...context, workspace: await findWorkspace(tx, name) };
  const { resources } = services;
  const applied = await applyAll(tx, services, resources, inWorkspace, declared, place);
  const begun = isNew ? await beginWorkspace(tx, services, inWorkspace, declared) : [];
  return [...changes, ...applied, ...begun];
}

const compiled = new WeakMap<readonly Resource[], FindManifestFaults>();

/** The checks of a manifest with these resources, compiled when they are first needed. */
function checksOf(services: ManifestResources): FindManifestFaults {
  const checks = compiled.get(services.resources) ?? manifestChecks(schemaOf(services));
  compiled.set(services.resources, checks);
  return checks;
}

/** @throws Problem INVALID_REQUEST with every fault that needs no database to find. */
export function checkManifest(services: ManifestResources, unchecked: unknown): Manifest {
  const faults = checksOf(services)(unchecked);
  if (faults.length > 0) throw manifestProblem(faults);
  const unstorable = findUnstorablePlace(unchecked);
  if (unstorable) {
    throw manifestProblem([{ path: unstorable.place, rule: `${unstorable.fault.message}.` }]);
  }
  const manifest = unchecked as Manifest;
  const duplicates = [
    ...findDuplicates(manifest.workspaces, "name", ["workspaces"]),
    ...ownersIn(services, manifest).flatMap(duplicatesIn),
  ];
  if (duplicates.length > 0) throw manifestProblem(duplicates);
  return manifest;
}

/** The company and each workspace: the name of a workspace, what it declares, and where. */
const ownersIn = (
  { resources, companyResources }: ManifestResources,
  { company, workspaces }: Manifest,
): Owner[] => [
  { resources: companyResources, name: "", declared: company, place: ["company"] },
  ...workspaces.map((declared, index) => {
    const place = ["workspaces", index];
    return { resources, name: declared.name, declared, place };
  }),
];

interface Owner {
  readonly resources: readonly Pick<Resource, "key" | "identity" | "check">[];
  readonly name: string;
  readonly declared: Readonly<Record<string, unknown>>;
  readonly place: ManifestPath;
}

const duplicatesIn = ({ resources, declared, place }: Owner): ManifestFault[] =>
  resources.flatMap(({ key, identity }) => {
    if (identity === undefined) return [];
    const entries = (declared[key] ?? []) as Record<string, unknown>[];
    return findDuplicates(entries, identity, [...place, key]);
  });

async function runSlowChecks(services: ApplyServices, manifest: Manifest): Promise<void> {
  for (const { resources, name, declared, place } of ownersIn(services, manifest)) {
    for (const { key, check } of resources) {
      if (declared[key] === undefined) continue;
      await check?.(services, name, declared[key] as never).catch((error) => {
        throw placedAt(place, key, error);
      });
    }
  }
}

async function applyAll<Where extends Context>(
  tx: Transaction,
  services: Applying,
  resources: readonly Resource<Where>[],
  context: Where,
  owner: Readonly<Record<string, unknown>>,
  place: ManifestPath,
): Promise<ConfigChange[]> {
  const changes: ConfigChange[] = [];
  for (const resource of resources) {
    const declared = owner[resource.key];
    if (declared === undefined) continue;
    const before = await stateOf(tx, services, resource, context);
    const applied = await resource
      .apply(tx, services, context, declared as never)
      .catch((error) => {
        throw placedAt(place, resource.key, error);
      });
    const after = applied.length > 0 && (await stateOf(tx, services, resource, context));
    const compared = { identity: resource.identity, before, after };
    changes.push(...(services.dryRun ? withFields(applied, compared) : applied));
  }
  return changes;
}

/** For a preview: the declaration of the present state, without secrets. */
async function stateOf<Where extends Context>(
  tx: Transaction,
  { sealing, dryRun }: Applying,
  { declaration }: Resource<Where>,
  context: Where,
): Promise<unknown> {
  return dryRun ? declaration(tx, { sealing, secret: () => HIDDEN }, context) : undefined;
}

/** The path of a member in the manifest: keys and indexes. */
type ManifestPath = readonly (string | number)[];

/** Extends the place that a resource reports, below its owner, to the place in the manifest. */
function placedAt(place: ManifestPath, key: string, error: unknown): unknown {
  if (!(error instanceof Problem)) return error;
  const { code, message, details } = error;
  const below = Array.isArray(details.body?.path) ? details.body.path : [key];
  return new Problem(code, message, {
    ...details,
    body: { ...details.body, path: [...place, ...below] },
  });
}
