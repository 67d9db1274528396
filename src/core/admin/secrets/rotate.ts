import Type, { type Static } from "typebox";
import type { Context } from "../../base/context/context.ts";
import { Problem } from "../../base/problem.ts";
import { type Queryable, type Transaction, withRetries } from "../../database/database.ts";
import type { StoringServices } from "../../database/storing-services.ts";
import { recordChanges } from "../audit/audit.ts";
import { serversWithout } from "./running-servers.ts";
import { keyIdOf, sealWith, Unopenable } from "./seal.ts";
import { checkOf, keyFor, SECRET_KEY, type Sealing, saysAllSealed } from "./sealing.ts";
import {
  agreeOn,
  deleteSharedSecret,
  replaceSharedSecret,
  selectSharedSecret,
} from "./shared-secret-store.ts";

/**
 * Looks at a stored value and its place.
 *
 * @returns what to store instead; undefined: nothing.
 */
export type Reseal = (stored: string, place: string) => string | undefined;

/** All values of one kind that are stored sealed. A feature that seals something lists its kind. */
export interface SealedKind {
  /** Shows every stored value to `reseal`, and stores what it returns. */
  reseal(tx: Queryable, reseal: Reseal): Promise<void>;
  /** Gives up the values that cannot be opened, after the key was lost. */
  discard(tx: Transaction, isLost: (stored: string, place: string) => boolean): Promise<void>;
}

/**
 * A column that holds sealed values.
 *
 * @param select reads the rows that have a value, and `valueIn` their value with its place.
 * @param update stores other values in some of the rows.
 * @param remove deletes rows whose value is lost; without it such a row stays unchanged.
 */
export const sealedColumn = <Row>({
  select,
  valueIn,
  update,
  remove,
}: {
  select(tx: Queryable): Promise<readonly Row[]>;
  valueIn(row: Row): { readonly stored: string; readonly place: string };
  update(tx: Queryable, rows: readonly { row: Row; sealed: string }[]): Promise<unknown>;
  remove?(tx: Transaction, rows: readonly Row[]): Promise<unknown>;
}): SealedKind => ({
  async reseal(tx, reseal) {
    const changed = (await select(tx)).flatMap((row) => {
      const { stored, place } = valueIn(row);
      const sealed = reseal(stored, place);
      return sealed === undefined ? [] : [{ row, sealed }];
    });
    if (changed.length > 0) await update(tx, changed);
  },
  async discard(tx, isLost) {
    if (!remove) return;
    const lost = (await select(tx)).filter((row) => {
      const { stored, place } = valueIn(row);
      return isLost(stored, place);
    });
    if (lost.length > 0) await remove(tx, lost);
  },
});

const Count = (description: string) => Type.Integer({ description });

/** How many stored secrets there are, by the key that sealed them. */
export const SealedCounts = Type.Object({
  current: Count("Sealed with SECRET_KEY."),
  previous: Count("Sealed with PREVIOUS_SECRET_KEY."),
  plain: Count("Stored before sealing existed."),
  unreadable: Count("Sealed with another key, or damaged."),
});

export type SealedCounts = Static<typeof SealedCounts>;

export interface SealingServices extends StoringServices {
  readonly sealing: Sealing;
  readonly sealedKinds: readonly SealedKind[];
}

const NOTHING: SealedCounts = { current: 0, previous: 0, plain: 0, unreadable: 0 };

/** Counts stored secrets by their key; `keyId` is the key in use, null before the first secret. */
export async function readSealing(
  services: Pick<SealingServices, "database" | "sealing" | "sealedKinds">,
): Promise<{ readonly keyId: string | null; readonly counts: SealedCounts }> {
  const { database, sealing, sealedKinds } = services;
  const check = await selectSharedSecret(database, SECRET_KEY);
  const counts = await countSealed(database, sealedKinds, sealing);
  return { keyId: (check && keyIdOf(check.check)) ?? null, counts };
}

/** Counts the stored secrets by their key, without changing one. */
export async function countSealed(
  queryable: Queryable,
  sealedKinds: readonly SealedKind[],
  sealing: Sealing,
): Promise<SealedCounts> {
  const counts = { ...NOTHING };
  for (const each of sealedKinds) {
    await each.reseal(queryable, (stored, place) => {
      counts[stateOf(sealing, stored, place)] += 1;
      return undefined;
    });
  }
  return counts;
}

/**
 * Seals every stored secret with SECRET_KEY, in one transaction: if the process is killed, nothing
 * changes. Repeating it changes nothing.
 *
 * @returns how many secrets were sealed with each earlier key.
 * @throws Problem CONFLICT without a key, or while a server runs that could not open secrets sealed
 * with it.
 */
export async function rotateSealing(
  { database, clock, sealing, sealedKinds }: SealingServices,
  context: Context,
): Promise<SealedCounts> {
  const { current } = sealing.keys;
  if (!current)
    throw new Problem("CONFLICT", "SECRET_KEY is not set: there is no key to seal with.");
  const counts = await withRetries(database, async (tx) => {
    const counts = { ...NOTHING };
    const check = checkOf(current, false);
    const before = await agreeOn(tx, SECRET_KEY, { check, keptOn: null });
    const lacking = await serversWithout(tx, current.id);
    if (lacking.length > 0) throw new Problem("CONFLICT", keyIsMissing(current.id, lacking));
    for (const each of sealedKinds) {
      await each.reseal(tx, (stored, place) => {
        const state = stateOf(sealing, stored, place);
        counts[state] += 1;
        if (state === "current" || state === "unreadable") return undefined;
        return sealWith(current, sealing.open(stored, place), place);
      });
    }
    const isNoted = keyIdOf(before.check) === current.id && saysAllSealed(current, before.check);
    if (!isNoted) await replaceSharedSecret(tx, SECRET_KEY, check);
    const details = { key_id: current.id, resealed: counts.previous + counts.plain };
    const change = { action: "rotated", kind: "secret_key" };
    await recordChanges(tx, clock, context, [{ ...change, details }]);
    return counts;
  });
  sealing.acceptsPlain = false;
  return counts;
}

const keyIsMissing = (keyId: string, servers: readonly string[]): string =>
  `The key ${keyId} is missing on ${servers.join("; ")}: secrets sealed with it could not be opened there. Restart ` +
  "these servers with SECRET_KEY and PREVIOUS_SECRET_KEY first; a server that has ended is forgotten after a minute.";

/**
 * Gives up the secrets that cannot be opened any more, because their key is lost. The next secret is
 * sealed with the key that is given then.
 *
 * @returns how many were discarded.
 */
export async function discardSealing(
  { database, clock, sealing, sealedKinds }: SealingServices,
  context: Context,
): Promise<number> {
  return withRetries(database, async (tx) => {
    const check = await selectSharedSecret(tx, SECRET_KEY);
    if (check !== undefined && keyFor(sealing.keys, check.check)) {
      throw new Problem("CONFLICT", "The key is not lost: this server has it.");
    }
    let lost = 0;
    const isLost = (stored: string, place: string): boolean => {
      const isUnreadable = stateOf(sealing, stored, place) === "unreadable";
      if (isUnreadable) lost += 1;
      return isUnreadable;
    };
    for (const each of sealedKinds) await each.discard(tx, isLost);
    await deleteSharedSecret(tx, SECRET_KEY);
    const change = { action: "discarded", kind: "secret_key" };
    await recordChanges(tx, clock, context, [{ ...change, details: { lost } }]);
    return lost;
  });
}

function stateOf(sealing: Sealing, stored: string, place: string): keyof SealedCounts {
  const keyId = keyIdOf(stored);
  if (keyId === undefined) return sealing.acceptsPlain ? "plain" : "unreadable";
  try {
    sealing.open(stored, place);
  } catch (error) {
    if (error instanceof Unopenable) return "unreadable";
    throw error;
  }
  return keyId === sealing.keys.current?.id ? "current" : "previous";
}
