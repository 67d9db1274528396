import type { Context, WorkspaceContext } from "../../base/context/context.ts";
import { type Database, type Queryable, readTogether } from "../../database/database.ts";
import type { Sealing } from "../secrets/sealing.ts";
import type { ManifestResources } from "./apply-manifest.ts";
import { findCompany } from "./find-workspace.ts";
import { collectSecrets } from "./manifest-secrets.ts";
import type { DeclarationSource, Resource } from "./resource.ts";

export interface ExportManifestServices extends ManifestResources {
  readonly database: Database;
  readonly sealing: Sealing;
}

export interface ExportedManifest {
  readonly manifest: Record<string, unknown>;
  /** The environment variables that an apply needs; `DOLLAR` has to be a dollar sign. */
  readonly variables: readonly string[];
}

/**
 * Writes the manifest that creates this workspace and its company on an empty server. Empty lists
 * are included, so that no default replaces them.
 *
 * @throws Problem CONFLICT if a stored secret cannot be opened.
 */
export function exportManifest(
  { database, sealing, resources, companyResources }: ExportManifestServices,
  context: WorkspaceContext,
): Promise<ExportedManifest> {
  const secrets = collectSecrets();
  const from = { sealing, secret: secrets.secret };
  return readTogether(database, async (tx) => {
    const { workspace } = context;
    const company = await findCompany(tx);
    const declared = {
      company: {
        name: company.name,
        ...(await declareAll(tx, from, companyResources, { ...context, company })),
      },
      workspaces: [
        {
          name: workspace.name,
          allow_reset: workspace.allowReset,
          settings: workspace.settings,
          ...(await declareAll(tx, from, resources, context)),
        },
      ],
    };
    const manifest = secrets.writeOut(declared) as Record<string, unknown>;
    return { manifest, variables: secrets.variables() };
  });
}

async function declareAll<Where extends Context>(
  tx: Queryable,
  from: DeclarationSource,
  resources: readonly Resource<Where>[],
  context: Where,
): Promise<Record<string, unknown>> {
  const declared: Record<string, unknown> = {};
  for (const { key, declaration } of resources) {
    const value = await declaration(tx, from, context);
    if (value !== undefined) declared[key] = value;
  }
  return declared;
}
