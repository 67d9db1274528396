import { link, readFile, rm, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { createPrivateFolder } from "../../base/private-folder.ts";
import type { Database } from "../../database/database.ts";
import { hashSecret, newSecret } from "./secrets.ts";
import {
  agreeOn,
  deleteSharedSecret,
  replaceSharedSecret,
  type SharedSecretRow,
  selectSharedSecret,
} from "./shared-secret-store.ts";

/** A secret that every server on a database accepts. */
export interface SharedSecret {
  readonly hash: string;
  /** Undefined if another server created it and it is not in this one's data folder. */
  readonly secret: string | undefined;
  /** Whether this start created it: only the creator prints it. */
  readonly isNew: boolean;
  /** Which server created it, and when; undefined if it was configured or the engine is embedded. */
  readonly origin: SecretOrigin | undefined;
}

export interface SecretOrigin {
  /** Such as `server-1 (/var/lib/rapport/admin-token)`. */
  readonly madeOn: string;
  /** ISO 8601, in UTC. */
  readonly at: string;
}

/**
 * Finds a generated token that all servers on the database share, or creates it. The first server
 * stores its hash in the database and keeps the token itself in its data folder; the others accept
 * it by the hash. An embedded database has one server, so there only the data folder decides.
 *
 * @param name of its file, and of its row in the database.
 */
export async function shareSecret(
  database: Database,
  dataDir: string,
  name: string,
  prefix: string,
): Promise<SharedSecret> {
  if (database.engine === "embedded") {
    const secret = await keptSecret(dataDir, name, prefix);
    return { hash: hashSecret(secret), secret, isNew: false, origin: undefined };
  }
  const row = await selectSharedSecret(database, name);
  if (row && !isRetired(row.check)) return sharedBy(row, await readKeptSecret(dataDir, name));
  if (row) await forgetRetired(database, dataDir, name, row.check);
  const secret = await keptSecret(dataDir, name, prefix);
  const made = { check: hashSecret(secret), keptOn: placeOf(dataDir, name) };
  const agreed = await agreeOn(database, name, made);
  return { ...sharedBy(agreed, secret), isNew: agreed.isNew };
}

/** Before the hash of a token that was replaced by a configured one. */
const RETIRED = "retired:";

const isRetired = (check: string): boolean => check.startsWith(RETIRED);

export async function retireSharedSecret(
  database: Database,
  dataDir: string,
  name: string,
): Promise<void> {
  if (database.engine === "embedded") {
    if (dataDir !== "memory:") await rm(join(dataDir, name), { force: true });
    return;
  }
  const check = await database.transaction(async (tx) => {
    const row = await selectSharedSecret(tx, name);
    if (!row || isRetired(row.check)) return row?.check;
    const retired = `${RETIRED}${row.check}`;
    await replaceSharedSecret(tx, name, retired);
    return retired;
  });
  if (check !== undefined) await removeRetired(dataDir, name, check);
}

/** Removes the file of a retired token; a file with another token stays. */
async function removeRetired(dataDir: string, name: string, check: string): Promise<void> {
  const kept = await readKeptSecret(dataDir, name);
  if (kept !== undefined && `${RETIRED}${hashSecret(kept)}` === check)
    await rm(join(dataDir, name), { force: true });
}

/**
 * Removes the retired token's file from this data folder, if it has one, before a new token is
 * written.
 */
async function forgetRetired(
  database: Database,
  dataDir: string,
  name: string,
  check: string,
): Promise<void> {
  await removeRetired(dataDir, name, check);
  await database.transaction(async (tx) => {
    const row = await selectSharedSecret(tx, name);
    if (row?.check === check) await deleteSharedSecret(tx, name);
  });
}

/** The token that a server on this database created, if one did. */
export async function findSharedSecret(
  database: Database,
  dataDir: string,
  name: string,
): Promise<SharedSecret | undefined> {
  const row = await selectSharedSecret(database, name);
  return row && sharedBy(row, await readKeptSecret(dataDir, name));
}

/** @param kept the secret in this data folder; the file may belong to another database. */
const sharedBy = (
  { check: hash, keptOn, createdAt }: SharedSecretRow,
  kept: string | undefined,
): SharedSecret => ({
  hash,
  secret: kept !== undefined && hashSecret(kept) === hash ? kept : undefined,
  isNew: false,
  origin: { madeOn: keptOn ?? "", at: createdAt.toISOString() },
});

/**
 * A secret that is generated on the first start and kept in the data folder, readable by its owner only
 * (mode 0600). With `memory:` it is new on every start.
 */
export async function keptSecret(dataDir: string, name: string, prefix: string): Promise<string> {
  if (dataDir === "memory:") return newSecret(prefix);
  const known = await readKeptSecret(dataDir, name);
  if (known !== undefined) return known;
  const path = join(dataDir, name);
  await createPrivateFolder(dataDir);
  // Written to a temporary file and linked, so that two processes that start at once read the same
  // complete secret.
  const aside = `${path}.${process.pid}`;
  await writeFile(aside, `${newSecret(prefix)}\n`, { mode: 0o600 });
  await link(aside, path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
  await rm(aside);
  return (await readFile(path, "utf8")).trim();
}

export async function readKeptSecret(dataDir: string, name: string): Promise<string | undefined> {
  if (dataDir === "memory:") return undefined;
  const text = await readFile(join(dataDir, name), "utf8").catch(() => undefined);
  return text?.trim();
}

/** This server, and the file that keeps a secret. */
export const placeOf = (dataDir: string, name: string): string =>
  dataDir === "memory:" ? hostname() : `${hostname()} (${join(dataDir, name)})`;
