/** An amount of something (requests, bytes) that callers share. */
export type Pool = ReturnType<typeof createPool>;

/**
 * A pool that no caller can exhaust: shares shrink with the free rest.
 *
 * @param timesFree how many times the free rest a caller may hold: 3 gives a single caller three
 *   quarters of the pool; 1 gives it half, and leaves a rest beside any two callers.
 */
export function createPool(total: number, timesFree = 3) {
  const held = new Map<string, number>();
  let used = 0;
  const fits = (caller: string, amount: number): boolean => {
    const free = total - used;
    return amount <= free && (held.get(caller) ?? 0) + amount <= timesFree * free;
  };
  function force(caller: string, amount: number): void {
    used += amount;
    held.set(caller, (held.get(caller) ?? 0) + amount);
  }
  return {
    /** @returns false, and takes nothing, if the pool or the caller's share of it is used up. */
    take(caller: string, amount: number) {
      if (!fits(caller, amount)) return false;
      force(caller, amount);
      return true;
    },
    /** Takes an amount that is already in use, even if it does not fit. */
    force,
    /** Whether the caller could take anything. */
    hasRoom: (caller: string) => fits(caller, 1),
    give(caller: string, amount: number) {
      used -= amount;
      const mine = (held.get(caller) ?? 0) - amount;
      if (mine > 0) held.set(caller, mine);
      else held.delete(caller);
    },
    isFull: () => used >= total,
  };
}

/** Work that a process does little of at a time, each piece on behalf of an owner. */
export type Slots = ReturnType<typeof createSlots>;

/**
 * @param ofOne how many an owner may have.
 * @param ofAll how many all owners together may have.
 */
export function createSlots(ofOne: number, ofAll = Number.POSITIVE_INFINITY) {
  const taken = new Map<string, number>();
  let all = 0;

  function change(owner: string, by: number): void {
    const mine = (taken.get(owner) ?? 0) + by;
    all += by;
    if (mine > 0) taken.set(owner, mine);
    else taken.delete(owner);
  }

  return {
    /**
     * @returns a function that gives the slot back; undefined if the owner, or all owners together,
     * have as many as allowed.
     */
    take(owner: string) {
      if (all >= ofAll || (taken.get(owner) ?? 0) >= ofOne) return undefined;
      change(owner, 1);
      return () => change(owner, -1);
    },
  };
}
