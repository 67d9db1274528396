import type { Round } from "./phase.ts";
import { type Ratios, rounded } from "./result.ts";

/** One round of the server with the rounds of the floors that went before it. */
export interface Turn {
  readonly server: Round;
  readonly bareHttp: Round;
  readonly plainSql: Round;
}

/**
 * Compares within each turn, because the machine's other work changes from turn to turn, and takes
 * the median, because a turn may be disturbed in its middle.
 */
export function ratiosOf(turns: readonly Turn[]): Ratios {
  const ratio = (value: (round: Round) => number, floor: "bareHttp" | "plainSql") =>
    rounded(median(turns.map((turn) => value(turn.server) / value(turn[floor]))));
  return {
    rateToBareHttp: ratio(rateOf, "bareHttp"),
    rateToPlainSql: ratio(rateOf, "plainSql"),
    cpuToPlainSql: ratio(cpuOf, "plainSql"),
  };
}

const rateOf = ({ units, seconds }: Round): number => units / seconds;

/** Of one unit: the server's processor time, and the database's where that is apart. */
const cpuOf = ({ units, server, database }: Round): number => (server + (database ?? 0)) / units;

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  const [low, high] = [sorted[Math.ceil(sorted.length / 2) - 1], sorted[sorted.length >> 1]];
  return ((low ?? 0) + (high ?? 0)) / 2;
}
