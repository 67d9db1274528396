/*
 * Reasons why a server does not start, apart from its ports and an engine that does not open.
 * `rapport serve` and `rapport doctor` make the same checks: `serve` stops at the first that fails,
 * `doctor` reports them all and changes nothing.
 */
import { accessSync, constants, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { createSealing } from "../core/admin/secrets/sealing.ts";
import { newSecret, refuseShortSecret } from "../core/admin/secrets/secrets.ts";
import {
  type ApplyServices,
  applyManifest,
  checkManifest,
} from "../core/admin/workspaces/apply-manifest.ts";
import { applyManifestFile } from "../core/admin/workspaces/manifest-file.ts";
import type { ConfigChange } from "../core/admin/workspaces/resource.ts";
import { systemClock } from "../core/base/clock.ts";
import { BY_THE_SERVER } from "../core/base/context/context.ts";
import { createThreadPool } from "../core/base/threads/thread-pool.ts";
import type { Database } from "../core/database/database.ts";
import { refuseReadOnly } from "../core/database/migrations/examine.ts";
import { checkHistory, migrate, refuseUnsafe } from "../core/database/migrations/migrate.ts";
import { hostsOf } from "../core/database/postgres/hosts-of.ts";
import { createOutbound } from "../core/outbound/outbound.ts";
import { assemble } from "./assemble.ts";
import type { Config } from "./config.ts";
import { openDatabase } from "./open-database.ts";
import {
  adminTokenHashesOf,
  checkSealingOf,
  generatesSecrets,
  readSecretKeys,
  refuseSharedToken,
} from "./server-secrets.ts";

/**
 * Makes a check.
 *
 * @returns the result in a sentence; undefined if the settings ask for no check.
 * @throws an error in words.
 */
type Check<Arguments extends readonly unknown[]> = (
  config: Config,
  ...more: Arguments
) => Promise<string | undefined>;

const OF_THE_CORE = {
  "admin token": async ({ adminToken, previousAdminToken, shortestSecret }) => {
    if (previousAdminToken !== undefined) {
      refuseShortSecret(previousAdminToken, shortestSecret, "PREVIOUS_ADMIN_TOKEN");
    }
    if (adminToken === undefined) return undefined;
    refuseShortSecret(adminToken, shortestSecret, "ADMIN_TOKEN");
    return "ADMIN_TOKEN is long enough.";
  },
  "secret key": async (config) => {
    const { source } = await readSecretKeys(config, false);
    return source.name === "" ? undefined : `${source.name} can be used.`;
  },
  "data folder": async ({ databaseUrl, dataDir }) => {
    if (databaseUrl !== undefined || dataDir === "memory:") return undefined;
    refuseUnwritable(dataDir);
    return `${dataDir} can be written.`;
  },
  manifest: async ({ manifest }) => {
    if (manifest === undefined) return undefined;
    await applyManifestFile(manifest, process.env, async (content) =>
      checkManifest(await assemble(), content),
    );
    return `${manifest} can be read, and its form is valid.`;
  },
} satisfies Readonly<Record<string, Check<[]>>>;

/** Checks of the settings and of the files that they name, in the order of their places. */
export async function settingChecks(): Promise<Readonly<Record<string, Check<[]>>>> {
  const { "admin token": token, "secret key": key, ...others } = OF_THE_CORE;
  return {
    "admin token": token,
    "secret key": key,
    ...(await assemble()).settingChecks,
    ...others,
  };
}

/** Checks against a database that has this version's schema. */
export const DATABASE_CHECKS = {
  writes: async (_config, database) => {
    await refuseReadOnly(database);
    return undefined;
  },
  schema: async (_config, database) => {
    await checkHistory(database);
    await refuseUnsafe(database);
    return undefined;
  },
  "admin token": async (config, database) => {
    await refuseSharedToken(config, database);
    return undefined;
  },
  "secret key": async (config, database) => {
    const { sealedKinds } = await assemble();
    const { missing } = await checkSealingOf(config, { database, sealedKinds });
    return missing === undefined ? "The database's secrets can be opened." : undefined;
  },
  "data folder": async (config, database) => {
    if (config.dataDir === "memory:" || !(await generatesSecrets(config, database)))
      return undefined;
    refuseUnwritable(config.dataDir);
    return `${config.dataDir} can be written.`;
  },
  manifest: async (config, database) => {
    if (config.manifest === undefined) return undefined;
    const changes = await tryManifest(config, config.manifest, database);
    return `${config.manifest} can be applied (${changes.length} changes).`;
  },
} satisfies Readonly<Record<string, Check<[Database]>>>;

/** @throws the error of the first check that fails. */
export async function checkSettings(config: Config): Promise<void> {
  for (const check of Object.values(await settingChecks())) await check(config);
}

/**
 * Applies a manifest file without any lasting change.
 *
 * @param database without one, missing data comes from an empty database in memory.
 * @returns the changes that it would make.
 * @throws with the file, the line and the column of every fault.
 */
export async function tryManifest(
  config: Config,
  path: string,
  database?: Database,
): Promise<readonly ConfigChange[]> {
  if (database !== undefined) return tryOn(config, path, database);
  const empty = await openDatabase({ ...config, databaseUrl: undefined, dataDir: "memory:" });
  try {
    await migrate(empty);
    return await tryOn(config, path, empty);
  } finally {
    await empty.close();
  }
}

async function tryOn(config: Config, path: string, database: Database) {
  const threads = createThreadPool();
  const { secrets } = await readSecretKeys(config, false);
  // A server would generate a key now, unless it would be lost.
  const isGenerated = config.databaseUrl === undefined || config.dataDir !== "memory:";
  const current = secrets.current ?? (isGenerated ? newSecret("secret") : undefined);
  const services: ApplyServices = {
    database,
    threads,
    clock: systemClock,
    sealing: createSealing({ ...secrets, current }),
    shortestSecret: config.shortestSecret,
    adminTokenHashes: adminTokenHashesOf(config),
    ...(await assemble()),
    authenticator: { forget: () => {} },
    outbound: createOutbound({
      allow: config.outboundAllow,
      own: config.databaseUrl ? hostsOf(config.databaseUrl) : [],
    }),
  };
  try {
    return await applyManifestFile(path, process.env, (content) =>
      applyManifest(services, content, BY_THE_SERVER, { dryRun: true }),
    );
  } finally {
    await threads.stop();
  }
}

/**
 * @throws if the folder cannot be written to or, if it does not exist, the nearest existing folder
 * above it.
 */
function refuseUnwritable(folder: string): void {
  const path = resolve(folder);
  try {
    if (!statSync(path).isDirectory()) {
      throw Object.assign(new Error(), { code: "ENOTDIR", path });
    }
    accessSync(path, constants.W_OK | constants.X_OK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    refuseUnwritable(dirname(path));
  }
}
