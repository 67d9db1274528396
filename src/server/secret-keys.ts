import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { keptSecret } from "../access/kept-secret.ts";
import { refuseShortSecret } from "../access/secrets.ts";
import type { SecretKeys } from "../sealing/sealing.ts";
import type { Config } from "./config.ts";

/** Where a key that was not given is kept. */
const KEPT = "secret-key";

/**
 * The secrets that stored secrets are sealed with: the given ones, or one that is created and kept in the
 * data folder. docs/decisions/secrets-at-rest.md
 *
 * @throws an Error in words for a file that cannot be read and a secret that could be guessed.
 */
export async function readSecretKeys(config: Config): Promise<SecretKeys> {
  const { secretKey, secretKeyFile, dataDir, databaseUrl } = config;
  const previous =
    config.previousSecretKey ??
    (await readKeyFile("PREVIOUS_SECRET_KEY_FILE", config.previousSecretKeyFile));
  if (previous !== undefined) refuseShort(config, previous, "PREVIOUS_SECRET_KEY");
  const given = secretKey ?? (await readKeyFile("SECRET_KEY_FILE", secretKeyFile));
  if (given !== undefined) {
    refuseShort(config, given, "SECRET_KEY");
    return { current: given, previous, source: "SECRET_KEY" };
  }
  // A key that is gone with the process would leave secrets in PostgreSQL that never open again.
  if (databaseUrl && dataDir === "memory:") return { current: undefined, previous, source: "" };
  const kept = await keptSecret(dataDir, KEPT, "secret");
  return { current: kept, previous, source: join(dataDir, KEPT) };
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
