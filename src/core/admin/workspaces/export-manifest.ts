import type { Context, WorkspaceContext } from "../../base/context/context.ts";
import { type Database, type Queryable, readTogether } from "../../database/database.ts";
import type { Sealing } from "../secrets/sealing.ts";
import type { ManifestResources } from "./apply-manifest.ts";
import { findCompany } from "./find-workspace.ts";
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

/*
 * An exported manifest contains no secrets: most are stored only as hashes, and none leaves the
 * server. Variables (`${API_KEY_DEMO_DEV}`) replace them, which an apply reads from the
 * environment.
 */

/** Around the name of a variable while a manifest is put together. No stored text contains it. */
const MARK = "\0";

/** Its value must be a dollar sign: it keeps `${NAME}` in a text from being replaced. */
const DOLLAR = "DOLLAR";

function collectSecrets() {
  const names = new Set<string>();
  let hasDollar = false;

  function writeText(text: string): string {
    if (text.startsWith(MARK)) return `\${${text.slice(1)}}`;
    return text.replaceAll(/\$\{(?=[A-Z][A-Z0-9_]*\})/g, () => {
      hasDollar = true;
      return `\${${DOLLAR}}{`;
    });
  }

  function writeOut(value: unknown): unknown {
    if (typeof value === "string") return writeText(value);
    if (Array.isArray(value)) return value.map(writeOut);
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, writeOut(each)]));
  }

  return {
    secret(...words: readonly string[]) {
      const wanted = words
        .join("_")
        .normalize("NFKD")
        .toUpperCase()
        .replaceAll(/[^A-Z0-9]+/g, "_");
      let name = wanted;
      for (let number = 2; names.has(name); number++) name = `${wanted}_${number}`;
      names.add(name);
      return MARK + name;
    },
    /** The value with variables written out. Texts that look like one are written so that they stay texts. */
    writeOut,
    variables: () => [...names, ...(hasDollar ? [DOLLAR] : [])],
  };
}
