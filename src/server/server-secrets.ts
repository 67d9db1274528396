import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import { hasSecret } from "../core/admin/access/manage-credentials.ts";
import { discardSealing, type SealedKind } from "../core/admin/secrets/rotate.ts";
import {
  createSealing,
  SECRET_KEY,
  type Sealing,
  type SecretKeys,
} from "../core/admin/secrets/sealing.ts";
import { hashSecret, refuseShortSecret } from "../core/admin/secrets/secrets.ts";
import {
  findSharedSecret,
  keptSecret,
  placeOf,
  readKeptSecret,
  retireSharedSecret,
  type SharedSecret,
  shareSecret,
} from "../core/admin/secrets/shared-secret.ts";
import {
  checkSealing,
  isKeySettled,
  type KeySource,
  type SealedStore,
  startSealing,
} from "../core/admin/secrets/start-sealing.ts";
import { systemClock } from "../core/base/clock.ts";
import { BY_THE_SERVER } from "../core/base/context/context.ts";
import type { Database } from "../core/database/database.ts";
import { migrate } from "../core/database/migrations/migrate.ts";
import type { Config } from "./config.ts";
import { openDatabase } from "./open-database.ts";
import { ADMIN_TOKEN_FILE } from "./welcome.ts";

/**
 * Starts sealing with the key of the settings, or with a generated one. On PostgreSQL only the
 * first server generates a key: another server's key would seal secrets that the others cannot
 * open.
 *
 * @throws an Error in words for a file that cannot be read, a secret that could be guessed, and a key that
 *   is not the database's.
 */
export async function startSealingAs(
  config: Config,
  services: SealedStore,
  log: Logger,
): Promise<Sealing> {
  const { database } = services;
  const mayGenerate = database.engine === "embedded" || !(await isKeySettled(database));
  const { secrets, source } = await readSecretKeys(config, mayGenerate);
  const { sealing, isFirst, missing } = await startSealing(services, secrets, source);
  if (isFirst && source.keptOn !== null) log.warn({ secret_key: source.name }, GENERATED);
  if (missing !== undefined) log.warn(needsKey(missing));
  else if (database.engine === "postgres" && source.name === "") log.warn(NO_KEY);
  return sealing;
}

/** Checks the key of the settings against the database's, and changes nothing. @throws as `startSealingAs` does. */
export async function checkSealingOf(
  config: Config,
  services: SealedStore,
): ReturnType<typeof checkSealing> {
  const { secrets, source } = await readSecretKeys(config, false);
  return checkSealing(services, secrets, source);
}

/** Whether a server with these settings would write a secret into its data folder. */
export async function generatesSecrets(config: Config, database: Database): Promise<boolean> {
  const { adminToken, dataDir, secretKey, secretKeyFile } = config;
  const isTokenKnown = adminToken ?? (await findSharedSecret(database, dataDir, ADMIN_TOKEN_FILE));
  const isKeyKnown = secretKey ?? secretKeyFile ?? (await isKeySettled(database));
  return !isTokenKnown || !isKeyKnown;
}

const GENERATED =
  "SECRET_KEY is not set: this server generated a key and keeps it in its data folder. Other servers on " +
  "this database can store and open no secrets until SECRET_KEY is set to the same key for all of them, and do not " +
  "start once one is stored (docs/secrets.md)";

const needsKey = (key: string): string =>
  `SECRET_KEY is not set, and this database seals secrets with ${key}. Nothing is sealed yet, so this server starts, ` +
  "but it can store no secret, and does not start again once another server has. Set SECRET_KEY to that key (docs/secrets.md)";

const NO_KEY = "SECRET_KEY is not set and DATA_DIR is not persistent: no secret can be stored";

/**
 * The secrets that stored secrets are sealed with: the given ones, or one that is created and kept in the
 * data folder. docs/decisions/secrets-at-rest.md
 *
 * @param mayGenerate whether a key is created where the data folder has none.
 * @throws an Error in words for a file that cannot be read and a secret that could be guessed.
 */
export async function readSecretKeys(
  config: Config,
  mayGenerate: boolean,
): Promise<{ readonly secrets: SecretKeys; readonly source: KeySource }> {
  const { secretKey, secretKeyFile, dataDir, databaseUrl } = config;
  const previous =
    config.previousSecretKey ??
    (await readKeyFile("PREVIOUS_SECRET_KEY_FILE", config.previousSecretKeyFile));
  if (previous !== undefined) refuseShort(config, previous, "PREVIOUS_SECRET_KEY");
  const given = secretKey ?? (await readKeyFile("SECRET_KEY_FILE", secretKeyFile));
  if (given !== undefined) {
    refuseShort(config, given, "SECRET_KEY");
    return { secrets: { current: given, previous }, source: { name: "SECRET_KEY", keptOn: null } };
  }
  // A key lost with the process would leave secrets in PostgreSQL that can never be opened.
  const isLost = databaseUrl !== undefined && dataDir === "memory:";
  const kept = isLost
    ? undefined
    : mayGenerate
      ? await keptSecret(dataDir, SECRET_KEY, "secret")
      : await readKeptSecret(dataDir, SECRET_KEY);
  return {
    secrets: { current: kept, previous },
    source: {
      name: kept === undefined ? "" : join(dataDir, SECRET_KEY),
      keptOn: kept === undefined ? null : placeOf(dataDir, SECRET_KEY),
    },
  };
}

const refuseShort = ({ shortestSecret }: Config, secret: string, name: string): void =>
  refuseShortSecret(secret, shortestSecret, name);

async function readKeyFile(setting: string, path: string | undefined): Promise<string | undefined> {
  if (path === undefined) return undefined;
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new Error(`${setting}=${path}: it cannot be read (${error.code}).`);
  });
  const secret = text.trim();
  if (secret === "") throw new Error(`${setting}=${path}: it is empty.`);
  return secret;
}

/**
 * The token that opens `/admin/v1` on this server: `ADMIN_TOKEN` if it is set, otherwise the
 * generated one of the database. One that is replaced by `ADMIN_TOKEN` never works again.
 *
 * @throws Problem INVALID_REQUEST for a token that could be guessed; an Error with an explanation
 * for a token that is also a key.
 */
export async function findAdminToken(database: Database, config: Config): Promise<SharedSecret> {
  const { adminToken, dataDir, shortestSecret } = config;
  await refuseSharedToken(config, database);
  if (adminToken === undefined) return shareSecret(database, dataDir, ADMIN_TOKEN_FILE, "admin");
  refuseShortSecret(adminToken, shortestSecret, "ADMIN_TOKEN");
  await retireSharedSecret(database, dataDir, ADMIN_TOKEN_FILE);
  return { hash: hashSecret(adminToken), secret: adminToken, isNew: false, origin: undefined };
}

/** The admin tokens of the settings, hashed. */
export const adminTokenHashesOf = ({ adminToken, previousAdminToken }: Config): string[] =>
  [adminToken, previousAdminToken].filter((token) => token !== undefined).map(hashSecret);

/** Callers with the key would be administrators. @throws an Error in words. */
export async function refuseSharedToken(config: Config, database: Database): Promise<void> {
  const hashes = adminTokenHashesOf(config);
  if (hashes.length === 0 || !(await hasSecret(database, hashes))) return;
  throw new Error(
    "ADMIN_TOKEN or PREVIOUS_ADMIN_TOKEN is also an API key or a SCIM token of this database. " +
      "Set another admin token, for example from: openssl rand -hex 24",
  );
}

/**
 * Deletes the secrets of a database whose key is lost, so that a server starts with another key.
 *
 * @returns how many were discarded.
 * @throws if the key is given: then nothing is lost.
 */
export async function discardSecrets(
  config: Config,
  sealedKinds: readonly SealedKind[],
): Promise<number> {
  const database = await openDatabase(config);
  try {
    await migrate(database);
    const sealing = createSealing((await readSecretKeys(config, false)).secrets);
    const services = { database, clock: systemClock, sealing, sealedKinds };
    return await discardSealing(services, BY_THE_SERVER);
  } finally {
    await database.close();
  }
}
