import { type Database, withRetries } from "../../database/database.ts";
import { countSealed, type SealedKind } from "./rotate.ts";
import { keyIdOf, openWith, type SealingKey, Unopenable } from "./seal.ts";
import {
  CHECK_PLACE,
  checkOf,
  createSealing,
  keyFor,
  SECRET_KEY,
  type Sealing,
  type SealingKeys,
  type SecretKeys,
} from "./sealing.ts";
import {
  agreeOn,
  replaceSharedSecret,
  type SharedSecretRow,
  selectSharedSecret,
} from "./shared-secret-store.ts";

/** Where the current key comes from. */
export interface KeySource {
  /** `SECRET_KEY`, or the path of the file of a generated key; empty if there is none. */
  readonly name: string;
  /** This server and its file, for a generated key; null for a configured one. */
  readonly keptOn: string | null;
}

export interface StartedSealing {
  readonly sealing: Sealing;
  /** Whether this start decided with which key all servers on the database seal. */
  readonly isFirst: boolean;
}

/** Whether it is settled with which key the servers on this database seal. */
export const isKeySettled = async (database: Database): Promise<boolean> =>
  (await selectSharedSecret(database, SECRET_KEY)) !== undefined;

/**
 * Starts sealing with the keys of the settings. On PostgreSQL the first server says in the database which
 * key is in use, so that a server with another key does not start, whether a secret is stored or not. A
 * configured key replaces a generated one that has sealed nothing yet.
 *
 * @throws an Error in words where the database's secrets are sealed with a key that is not given.
 */
export async function startSealing(
  services: { readonly database: Database; readonly sealedKinds: readonly SealedKind[] },
  secrets: SecretKeys,
  source: KeySource,
): Promise<StartedSealing> {
  const { database } = services;
  const sealing = createSealing(secrets);
  const { current } = sealing.keys;
  const known = await selectSharedSecret(database, SECRET_KEY);
  const decided =
    known === undefined && database.engine === "postgres" && current !== undefined
      ? await agreeOn(database, SECRET_KEY, { check: checkOf(current), keptOn: source.keptOn })
      : undefined;
  const inUse = known ?? decided;
  if (inUse !== undefined && !opens(sealing.keys, inUse.check)) {
    const isReplaced =
      current !== undefined &&
      inUse.keptOn !== null &&
      source.keptOn === null &&
      (await replaceUnused(services, sealing, current, inUse.check));
    if (!isReplaced) throw new Error(wrongKey(sealing.keys, inUse, source));
  }
  return { sealing, isFirst: decided?.isNew ?? false };
}

/** @returns whether the key in use had sealed nothing and was replaced. */
const replaceUnused = (
  { database, sealedKinds }: { database: Database; sealedKinds: readonly SealedKind[] },
  sealing: Sealing,
  key: SealingKey,
  before: string,
): Promise<boolean> =>
  withRetries(database, async (tx) => {
    // Locks the row, so that no server seals with the earlier key meanwhile.
    const locked = await agreeOn(tx, SECRET_KEY, { check: checkOf(key), keptOn: null });
    if (locked.check !== before) return false;
    const counts = await countSealed(tx, sealedKinds, sealing);
    const isUnused = counts.current + counts.previous + counts.unreadable === 0;
    if (isUnused) await replaceSharedSecret(tx, SECRET_KEY, checkOf(key));
    return isUnused;
  });

function opens(keys: SealingKeys, check: string): boolean {
  const key = keyFor(keys, check);
  if (!key) return false;
  try {
    openWith(key, check, CHECK_PLACE);
    return true;
  } catch (error) {
    if (error instanceof Unopenable) return false;
    throw error;
  }
}

const wrongKey = (
  { current }: SealingKeys,
  { check, keptOn }: SharedSecretRow,
  { name }: KeySource,
): string =>
  `The secrets in this database are sealed with the key ${keyIdOf(check)}` +
  `${keptOn === null ? "" : `, which was generated on ${keptOn}`}, but ` +
  `${current ? `${name} holds the key ${current.id}` : "SECRET_KEY is not set"}. ` +
  "Set SECRET_KEY (or SECRET_KEY_FILE) to the key that sealed them. To change keys, give the earlier " +
  "one as PREVIOUS_SECRET_KEY too. If the key is lost: rapport secrets discard (docs/secrets.md).";
