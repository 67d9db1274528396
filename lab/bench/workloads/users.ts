import type { Random } from "./random.ts";

/*
 * The people of a benchmark are numbered from 0; which of them a request names is drawn from a
 * distribution.
 */

export type Distribution = "uniform" | "zipf";

/** Draws the number of a user. */
export type UserPicker = () => number;

export const emailOf = (user: number): string => `user-${user}@example.com`;

export const externalIdOf = (user: number): string => `user-${user}`;

/**
 * @param users how many there are.
 */
export function createUserPicker(
  distribution: Distribution,
  users: number,
  random: Random,
): UserPicker {
  return distribution === "zipf" ? zipf(users, random) : () => random.below(users);
}

/** How steep. With 0.99, as in YCSB, one in a hundred of 100,000 users takes 60 % of the load. */
const EXPONENT = 0.99;

/** Distributes neighbours in rank over the whole table; a prime, so that no two ranks collide. */
const SCATTER = 2_654_435_761;

/**
 * A few users take most of the load. Method: Gray et al., "Quickly generating billion-record
 * synthetic databases", SIGMOD 1994.
 */
function zipf(users: number, random: Random): UserPicker {
  let harmonic = 0;
  for (let rank = 1; rank <= users; rank++) harmonic += 1 / rank ** EXPONENT;
  const firstTwo = 1 + 0.5 ** EXPONENT;
  const alpha = 1 / (1 - EXPONENT);
  const eta = (1 - (2 / users) ** (1 - EXPONENT)) / (1 - firstTwo / harmonic);
  const rank = () => {
    const point = random.fraction();
    if (point * harmonic < 1) return 0;
    if (point * harmonic < firstTwo) return 1;
    return Math.min(users - 1, Math.floor(users * (eta * point - eta + 1) ** alpha));
  };
  return () => (rank() * SCATTER) % users;
}
