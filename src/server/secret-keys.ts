import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import { keptSecret, readKeptSecret } from "../admin/secrets/kept-secret.ts";
import type { SealedKind } from "../admin/secrets/rotate.ts";
import type { Sealing, SecretKeys } from "../admin/secrets/sealing.ts";
import { refuseShortSecret } from "../admin/secrets/secrets.ts";
import { placeOf } from "../admin/secrets/shared-secret.ts";
import { isKeySettled, type KeySource, startSealing } from "../admin/secrets/start-sealing.ts";
import type { Database } from "../database/database.ts";
import type { Config } from "./config.ts";

/** Where a key that was not given is kept. */
const KEPT = "secret-key";

/**
 * Starts sealing with the key of the settings, or with a generated one. On PostgreSQL only the first server
 * generates a key: a second one would seal with a key that the others do not have.
 *
 * @throws an Error in words for a file that cannot be read, a secret that could be guessed, and a key that
 *   is not the database's.
 */
export async function startSealingAs(
  config: Config,
  services: { readonly database: Database; readonly sealedKinds: readonly SealedKind[] },
  log: Logger,
): Promise<Sealing> {
  const { database } = services;
  const mayGenerate = database.engine === "embedded" || !(await isKeySettled(database));
  const { secrets, source } = await readSecretKeys(config, mayGenerate);
  const { sealing, isFirst } = await startSealing(services, secrets, source);
  if (isFirst && source.keptOn !== null) log.warn({ secret_key: source.name }, GENERATED);
  if (database.engine === "postgres" && source.name === "") log.warn(NO_KEY);
  return sealing;
}

const GENERATED =
  "SECRET_KEY is not set: this server generated a key and keeps it in its data folder. Other servers on " +
  "this database do not start until SECRET_KEY is set to the same key for all of them (docs/secrets.md)";

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
  // A key that is gone with the process would leave secrets in PostgreSQL that never open again.
  const isLost = databaseUrl !== undefined && dataDir === "memory:";
  const kept = isLost
    ? undefined
    : mayGenerate
      ? await keptSecret(dataDir, KEPT, "secret")
      : await readKeptSecret(dataDir, KEPT);
  return {
    secrets: { current: kept, previous },
    source: {
      name: kept === undefined ? "" : join(dataDir, KEPT),
      keptOn: kept === undefined ? null : placeOf(dataDir, KEPT),
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
