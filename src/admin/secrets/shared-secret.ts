import { hostname } from "node:os";
import { join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import type { Database } from "../../database/database.ts";
import { keptSecret, readKeptSecret } from "./kept-secret.ts";
import { hashSecret } from "./secrets.ts";
import { insertSharedSecret, selectSharedSecret } from "./shared-secret-store.ts";

/** A secret that every server on a database accepts. */
export interface SharedSecret {
  readonly hash: string;
  /** Undefined where another server created it and this one's data folder does not hold it. */
  readonly secret: string | undefined;
  /** Whether this start created it: the only one that prints it. */
  readonly isNew: boolean;
  /** Which server created it, and when; undefined where it was configured or the engine is embedded. */
  readonly origin: SecretOrigin | undefined;
}

export interface SecretOrigin {
  /** Such as `server-1 (/var/lib/rapport/admin-token)`. */
  readonly madeOn: string;
  /** ISO 8601, in UTC. */
  readonly at: string;
}

/**
 * Finds a generated secret that all servers on the database share, or creates it. The first server stores its
 * hash in the database and keeps the secret itself in its data folder; the others accept it by the hash. An
 * embedded database has one server, so there the data folder alone decides.
 */
export async function shareSecret(
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  dataDir: string,
  name: string,
  prefix: string,
): Promise<SharedSecret> {
  if (database.engine === "embedded") {
    const secret = await keptSecret(dataDir, name, prefix);
    return { hash: hashSecret(secret), secret, isNew: false, origin: undefined };
  }
  const known = await findSharedSecret(database, dataDir, name);
  if (known) return known;
  const secret = await keptSecret(dataDir, name, prefix);
  const hash = hashSecret(secret);
  const made = { hash, madeOn: placeOf(dataDir, name), createdAt: clock.now() };
  if (await insertSharedSecret(database, name, made)) {
    return { hash, secret, isNew: true, origin: originOf(made) };
  }
  const first = await findSharedSecret(database, dataDir, name);
  if (!first) throw new Error(`The shared secret '${name}' was removed while the server started.`);
  return first;
}

/** The secret that a server on this database created, if one did. */
export async function findSharedSecret(
  database: Database,
  dataDir: string,
  name: string,
): Promise<SharedSecret | undefined> {
  const row = await selectSharedSecret(database, name);
  if (!row) return undefined;
  // The file may be that of another database.
  const kept = await readKeptSecret(dataDir, name);
  const secret = kept !== undefined && hashSecret(kept) === row.hash ? kept : undefined;
  return { hash: row.hash, secret, isNew: false, origin: originOf(row) };
}

/** This server, and the file in which it keeps a secret. */
export const placeOf = (dataDir: string, name: string): string =>
  dataDir === "memory:" ? hostname() : `${hostname()} (${join(dataDir, name)})`;

const originOf = (made: { readonly madeOn: string; readonly createdAt: Date }): SecretOrigin => ({
  madeOn: made.madeOn,
  at: made.createdAt.toISOString(),
});
