import { RAPPORT } from "../../base/command.ts";
import { type Database, withRetries } from "../../database/database.ts";
import { countSealed, type SealedCounts, type SealedKind } from "./rotate.ts";
import { keyIdOf, type SealingKey, Unopenable } from "./seal.ts";
import {
  checkOf,
  createSealing,
  keyFor,
  SECRET_KEY,
  type Sealing,
  type SealingKeys,
  type SecretKeys,
  saysAllSealed,
} from "./sealing.ts";
import {
  agreeOn,
  replaceSharedSecret,
  type SharedSecretRow,
  selectSharedSecret,
  updateCheck,
} from "./shared-secret-store.ts";

export interface KeySource {
  /** `SECRET_KEY`, or the path of the file of a generated key; empty if there is none. */
  readonly name: string;
  /** This server and its file, for a generated key; null for a configured one. */
  readonly keptOn: string | null;
}

export interface StartedSealing {
  readonly sealing: Sealing;
  /** Whether this start decided which key all servers on the database seal with. */
  readonly isFirst: boolean;
  /** The place of the key that this server will need; only if it started without one. */
  readonly missing?: string;
}

export interface SealedStore {
  readonly database: Database;
  readonly sealedKinds: readonly SealedKind[];
}

/** Whether the key for the servers on this database is settled. */
export const isKeySettled = async (database: Database): Promise<boolean> =>
  (await selectSharedSecret(database, SECRET_KEY)) !== undefined;

/**
 * Starts sealing with the keys of the settings. On PostgreSQL the first server records in the
 * database which key is in use. A server with another key does not start, even if no secret is
 * stored. A configured key replaces a generated one that has sealed nothing yet. A server without a
 * key starts as long as nothing is sealed.
 *
 * @throws an Error with an explanation if the database's secrets are sealed with a key that is not
 * given.
 */
export async function startSealing(
  services: SealedStore,
  secrets: SecretKeys,
  source: KeySource,
): Promise<StartedSealing> {
  const { database } = services;
  const sealing = createSealing(secrets);
  const { current } = sealing.keys;
  const known = await selectSharedSecret(database, SECRET_KEY);
  const left = await countSealed(database, services.sealedKinds, sealing);
  const opened = known && openCheck(sealing.keys, known.check);
  // Without a record of the key nothing is sealed yet, unless the record was removed.
  sealing.acceptsPlain =
    left.plain > 0 && (known === undefined ? isNothingSealed(left) : !opened?.isAllSealed);
  const decided =
    known === undefined && database.engine === "postgres" && current !== undefined
      ? await agreeOn(database, SECRET_KEY, {
          check: checkOf(current, sealing.acceptsPlain),
          keptOn: source.keptOn,
        })
      : undefined;
  const inUse = known ?? decided;
  if (inUse === undefined) return { sealing, isFirst: false };
  const fit = await judgeKey(services, sealing, inUse, source);
  if (fit === "missing") return { sealing, isFirst: false, missing: missingKey(inUse) };
  if (fit === "replaces") {
    const isReplaced =
      current !== undefined && (await replaceUnused(services, sealing, current, inUse.check));
    if (!isReplaced) throw new Error(wrongKey(sealing.keys, inUse, source));
  }
  // Every secret is sealed: a plain one is refused from now on.
  if (known && opened && !opened.isAllSealed && !sealing.acceptsPlain)
    await updateCheck(database, SECRET_KEY, known.check, checkOf(opened.key, false));
  return { sealing, isFirst: decided?.isNew ?? false };
}

/**
 * Checks what `startSealing` would do, and changes nothing.
 *
 * @throws as `startSealing` does.
 */
export async function checkSealing(
  services: SealedStore,
  secrets: SecretKeys,
  source: KeySource,
): Promise<Pick<StartedSealing, "missing">> {
  const inUse = await selectSharedSecret(services.database, SECRET_KEY);
  if (inUse === undefined) return {};
  const fit = await judgeKey(services, createSealing(secrets), inUse, source);
  return fit === "missing" ? { missing: missingKey(inUse) } : {};
}

/**
 * Compares the keys in the settings with the one in use. They contain it, or a key that replaces
 * it, or none, which is harmless on PostgreSQL as long as nothing is sealed.
 *
 * @throws an Error in words where the database's secrets are sealed with a key that is not given.
 */
async function judgeKey(
  { database, sealedKinds }: SealedStore,
  sealing: Sealing,
  inUse: SharedSecretRow,
  source: KeySource,
): Promise<"fits" | "replaces" | "missing"> {
  const { keys } = sealing;
  if (openCheck(keys, inUse.check)) return "fits";
  const isUnused = isNothingSealed(await countSealed(database, sealedKinds, sealing));
  const isGivenForGenerated = inUse.keptOn !== null && source.keptOn === null;
  if (isUnused && keys.current !== undefined && isGivenForGenerated) return "replaces";
  // Without a key nothing can be sealed here; nothing is sealed that this server could not open.
  if (isUnused && source.name === "" && database.engine === "postgres") return "missing";
  throw new Error(wrongKey(keys, inUse, source));
}

const isNothingSealed = ({ current, previous, unreadable }: SealedCounts): boolean =>
  current + previous + unreadable === 0;

/** @returns whether the key in use had sealed nothing and was replaced. */
const replaceUnused = (
  { database, sealedKinds }: SealedStore,
  sealing: Sealing,
  key: SealingKey,
  before: string,
): Promise<boolean> =>
  withRetries(database, async (tx) => {
    // Locks the row, so that no server seals with the earlier key meanwhile.
    const locked = await agreeOn(tx, SECRET_KEY, {
      check: checkOf(key, sealing.acceptsPlain),
      keptOn: null,
    });
    if (locked.check !== before) return false;
    const isUnused = isNothingSealed(await countSealed(tx, sealedKinds, sealing));
    if (isUnused) await replaceSharedSecret(tx, SECRET_KEY, checkOf(key, sealing.acceptsPlain));
    return isUnused;
  });

/** What a check value says, if one of these keys opens it. */
function openCheck(keys: SealingKeys, check: string) {
  const key = keyFor(keys, check);
  if (!key) return undefined;
  try {
    return { key, isAllSealed: saysAllSealed(key, check) };
  } catch (error) {
    if (error instanceof Unopenable) return undefined;
    throw error;
  }
}

const missingKey = ({ check, keptOn }: SharedSecretRow): string =>
  `the key ${keyIdOf(check)}${keptOn === null ? "" : `, which was generated on ${keptOn}`}`;

const wrongKey = (
  { current }: SealingKeys,
  { check, keptOn }: SharedSecretRow,
  { name }: KeySource,
): string =>
  `The secrets in this database are sealed with the key ${keyIdOf(check)}` +
  `${keptOn === null ? "" : `, which was generated on ${keptOn}`}, but ` +
  `${current ? `${name} holds the key ${current.id}` : "SECRET_KEY is not set"}. ` +
  "Set SECRET_KEY (or SECRET_KEY_FILE) to the key that sealed them. To change keys, give the earlier " +
  `one as PREVIOUS_SECRET_KEY too. If the key is lost: ${RAPPORT} secrets discard (docs/secrets.md).`;
