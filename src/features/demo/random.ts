export type Random = ReturnType<typeof randomFrom>;

/** Choices that look random and are the same for the same seed. @param seed any whole number. */
export function randomFrom(seed: number) {
  let state = seed >>> 0;
  // A counter through the mixing function of MurmurHash3: good enough for samples, not for secrets.
  function next(): number {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
    return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32;
  }
  const between = (least: number, most: number) => least + Math.floor(next() * (most - least + 1));
  return {
    /** From 0 to less than 1. */
    next,
    /** A whole number, both ends included. */
    between,
    chance: (probability: number) => next() < probability,
    pick: <Each>(from: readonly Each[]) => from[between(0, from.length - 1)] as Each,
    /** Picks entries in proportion to their weights. */
    weighted<Each extends { readonly weight: number }>(from: readonly Each[]) {
      let left = next() * from.reduce((sum, { weight }) => sum + weight, 0);
      for (const each of from) {
        left -= each.weight;
        if (left < 0) return each;
      }
      return from.at(-1) as Each;
    },
  };
}
