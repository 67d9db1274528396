import { Problem } from "../../base/problem.ts";
import type { Transaction } from "../../database/database.ts";
import { keyIdOf, openWith, type SealingKey, sealingKeyOf, sealWith, Unopenable } from "./seal.ts";
import { agreeOn } from "./shared-secret-store.ts";

/** Seals and opens the secrets that Rapport stores because it needs them again. */
export interface Sealing {
  /**
   * Seals a text for a place, in the transaction that stores it, with the key that the database uses: the
   * one of SECRET_KEY, or the previous one until it is rotated.
   *
   * @throws Problem CONFLICT without a key, or where other servers use another one.
   */
  seal(tx: Transaction, text: string, place: string): Promise<string>;
  /**
   * The text of a stored value.
   *
   * @throws Unopenable for a value that is sealed with another key, was changed or copied, or is
   * not sealed. Unsealed values are accepted only while some from before sealing are left:
   * otherwise a writer of the database could replace a secret.
   */
  open(stored: string, place: string): string;
  /** Whether values from before there was sealing may be left, which are their own text. */
  acceptsPlain: boolean;
  readonly keys: SealingKeys;
}

export interface SealingKeys {
  /** Undefined: no secret can be stored. */
  readonly current: SealingKey | undefined;
  readonly previous: SealingKey | undefined;
}

export interface SecretKeys {
  readonly current: string | undefined;
  readonly previous: string | undefined;
}

/** The name of the key that seals: of its row among the shared secrets, and of the file of a generated one. */
export const SECRET_KEY = "secret-key";

/** Stored check values were sealed for this place. */
const CHECK_PLACE = "sealing_keys";

/** The meaning of a check value: plain values may be left, or every stored secret is sealed. */
const SOME_PLAIN = "rapport";
const ALL_SEALED = "rapport, and all secrets are sealed";

/** A value that opens only with its key, and says whether every stored secret is sealed. */
export const checkOf = (key: SealingKey, acceptsPlain: boolean): string =>
  sealWith(key, acceptsPlain ? SOME_PLAIN : ALL_SEALED, CHECK_PLACE);

/** Whether a check value says that every stored secret is sealed. @throws Unopenable */
export const saysAllSealed = (key: SealingKey, check: string): boolean =>
  openWith(key, check, CHECK_PLACE) === ALL_SEALED;

const NO_KEY =
  "No secret can be stored, because SECRET_KEY is not set and DATA_DIR is not persistent. " +
  "Set SECRET_KEY: openssl rand -hex 32";

const OTHER_KEY =
  "This server's SECRET_KEY is not the one that sealed the secrets in the database. " +
  "Restart it with that key.";

export function createSealing({ current, previous }: SecretKeys): Sealing {
  const keys = {
    current: current === undefined ? undefined : sealingKeyOf(current),
    previous: previous === undefined ? undefined : sealingKeyOf(previous),
  };
  const sealing: Sealing = {
    keys,
    acceptsPlain: true,
    async seal(tx, text, place) {
      if (!keys.current) throw new Problem("CONFLICT", NO_KEY);
      // Locks the row, so that no secret is stored while a rotation runs.
      const { check } = await agreeOn(tx, SECRET_KEY, {
        check: checkOf(keys.current, sealing.acceptsPlain),
        keptOn: null,
      });
      const inUse = keyFor(keys, check);
      if (!inUse) throw new Problem("CONFLICT", OTHER_KEY);
      return sealWith(inUse, text, place);
    },
    open(stored, place) {
      if (keyIdOf(stored) === undefined) {
        if (sealing.acceptsPlain) return stored;
        throw new Unopenable("A stored secret is not sealed, and all were: it was replaced.");
      }
      const key = keyFor(keys, stored);
      if (!key)
        throw new Unopenable(
          "A stored secret is sealed with a key that this server does not have.",
        );
      return openWith(key, stored, place);
    },
  };
  return sealing;
}

/** The key that sealed a value, if it is given. */
export const keyFor = (
  { current, previous }: SealingKeys,
  sealed: string,
): SealingKey | undefined => [current, previous].find((key) => key?.id === keyIdOf(sealed));
