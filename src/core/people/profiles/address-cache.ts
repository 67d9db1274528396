import { fnv1a } from "../../base/values/hashes.ts";
import type { AddressKind } from "./people.ts";

/** The least number of addresses of a kind that a process can cache. */
const CACHED_ADDRESSES = 125_000;

/**
 * Which address a profile has, as this process last read or wrote it. Most senders repeat a user's
 * address in every object. An update that repeats the cached address need not read the profile:
 * it is written on the condition that the profile still has the address (`updateProfiles`), so
 * the cache may be stale without harm, and two processes that update one profile do not abort each
 * other.
 *
 * It holds hashes: a wrong match fails the condition like a stale one.
 */
export type AddressCache = ReturnType<typeof createAddressCache>;

/** Two generations, like the id cache. */
export function createAddressCache(capacity = CACHED_ADDRESSES) {
  const ofKind = { email: createGenerations(capacity), phone: createGenerations(capacity) };
  return {
    /** Whether the profile has the address, letter for letter, as far as this process knows. */
    matches: (profileId: string, kind: AddressKind, address: string) =>
      ofKind[kind].get(profileId) === hashOf(address),
    store(profileId: string, kind: AddressKind, address: string | null) {
      if (address === null) ofKind[kind].remove(profileId);
      else ofKind[kind].set(profileId, hashOf(address));
    },
  };
}

function createGenerations(capacity: number) {
  let young = new Map<string, number>();
  let old = young;

  function set(key: string, value: number): void {
    if (young.size >= capacity && !young.has(key)) {
      old = young;
      young = new Map();
    }
    young.set(key, value);
  }

  return {
    set,
    get(key: string): number | undefined {
      const recent = young.get(key);
      if (recent !== undefined) return recent;
      const earlier = old.get(key);
      if (earlier !== undefined) set(key, earlier);
      return earlier;
    },
    remove(key: string): void {
      young.delete(key);
      old.delete(key);
    },
  };
}

/** Cut to 30 bits, which the engine keeps without a box. */
const hashOf = (text: string): number => fnv1a(text) & 0x3fffffff;
