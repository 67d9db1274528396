/** Numbers that look random and are the same in every run, so that runs can be compared. */
export interface Random {
  /** From 0 up to and not including `limit`; a whole number. */
  below(limit: number): number;
  /** From 0 up to and not including 1. */
  fraction(): number;
}

/** Mulberry32: fast, and even enough for choosing users. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const fraction = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  return { fraction, below: (limit) => Math.floor(fraction() * limit) };
}
