import { addDecimals, multiplyDecimal } from "../../core/base/values/decimals.ts";
import { entryOf } from "../../core/base/values/group-by.ts";

/**
 * What is counted by day (occurrences of an event, purchases of a product and in a currency, new users, changes of
 * subscriptions), and what stands at present (users, users with an address, states of subscriptions).
 */
export type CountKind =
  | "event"
  | "product"
  | "revenue"
  | "new"
  | "opt_in"
  | "opt_out"
  | "users"
  | "address"
  | "state";

/** The day under which is kept what stands at present. */
export const AT_PRESENT = 0;

export interface CountKey {
  readonly kind: CountKind;
  readonly day: number;
  readonly name: string;
}

export interface Count extends CountKey {
  readonly seen: number;
  /** An exact decimal, in the currency's base unit. */
  readonly amount: string;
}

interface Sum {
  readonly day: number;
  readonly kind: CountKind;
  readonly name: string;
  seen: number;
  /** In ten-thousandths, which is exact for prices of at most four decimals. */
  units: number;
  /** What other prices come to. */
  others: string;
}

const UNITS = 10_000;
const DECIMALS = 4;

export type Tally = ReturnType<typeof createTally>;

/** Adds counts up in memory, exactly. */
export function createTally() {
  const sums = new Map<CountKind, Map<number, Map<string, Sum>>>();
  let size = 0;

  function sumOf(kind: CountKind, day: number, name: string): Sum {
    const names = entryOf(entryOf(sums, kind, newMap), day, newMap);
    return entryOf(names, name, () => {
      size += 1;
      return { day, kind, name, seen: 0, units: 0, others: "0" };
    });
  }

  return {
    add(kind: CountKind, day: number, name: string, seen: number) {
      sumOf(kind, day, name).seen += seen;
    },
    /** Adds `seen` purchases at this price. */
    addPrice(day: number, currency: string, seen: number, price: number) {
      const sum = sumOf("revenue", day, currency);
      sum.seen += seen;
      const each = Math.round(price * UNITS);
      const units = sum.units + each * seen;
      if (each / UNITS === price && Number.isSafeInteger(units)) sum.units = units;
      else sum.others = addDecimals(sum.others, multiplyDecimal(decimalOf(price), seen));
    },
    addAmount(day: number, currency: string, seen: number, amount: string) {
      const sum = sumOf("revenue", day, currency);
      sum.seen += seen;
      sum.others = addDecimals(sum.others, amount);
    },
    size: () => size,
    counts: (): Count[] =>
      [...sums.values()]
        .flatMap((days) => [...days.values()].flatMap((names) => [...names.values()]))
        .map(({ units, others, ...count }) => ({
          ...count,
          amount: addDecimals((units / UNITS).toFixed(DECIMALS), others),
        })),
  };
}

const newMap = () => new Map();

/** A price without an exponent, such as 1e-7. */
function decimalOf(price: number): string {
  const text = String(price);
  return /e/.test(text) ? price.toFixed(20) : text;
}
