import { MOST_DAYS, nameSql, orAny, readName, sinceOf } from "./activity-subjects.ts";
import { refuse } from "./filter-path.ts";
import { itsRows, type Subject } from "./leaf.ts";
import { decided, type Values } from "./sql.ts";
import { countOf, readNumber, readWhole } from "./value-tests.ts";

/* Conditions on the money that a user spent, in exact decimals. Amounts in several currencies are added up as they are. */

const AMOUNT_SQL = { at_least: ">=", more_than: ">", less_than: "<", at_most: "<=" } as const;
const AMOUNT_WORDS = {
  at_least: "at least",
  more_than: "more than",
  less_than: "less than",
  at_most: "at most",
} as const;
type AmountComparator = keyof typeof AMOUNT_SQL;

export const moneySpent: Subject = {
  read(value, { in_last_days, ...rest }, path) {
    const currency = orAny(readName(value, "money_spent", path));
    const days =
      in_last_days === undefined
        ? undefined
        : readWhole(in_last_days, [...path, "in_last_days"], 1, MOST_DAYS);
    const tests = Object.entries(rest).map(([name, operand]) => {
      if (!Object.hasOwn(AMOUNT_SQL, name)) {
        throw refuse(
          [...path, name],
          `is no comparator here: ${Object.keys(AMOUNT_SQL).join(", ")}, in_last_days`,
        );
      }
      const amount = readNumber(operand, [...path, name]);
      return { comparator: name as AmountComparator, amount };
    });
    if (tests.length === 0) {
      throw refuse(path, `needs a comparator: ${Object.keys(AMOUNT_SQL).join(", ")}`);
    }
    return {
      looksUp: true,
      ...(days !== undefined && { readsExpiring: "purchases" as const }),
      words: `spent ${tests.map(({ comparator, amount }) => `${AMOUNT_WORDS[comparator]} ${amount}`).join(" and ")}${currency ? ` ${currency}` : ""}${days ? ` in the last ${countOf(days, "day")}` : ""}`,
      sql(values) {
        const meets = (spent: string) =>
          tests
            .map(
              ({ comparator, amount }) =>
                `${spent} ${AMOUNT_SQL[comparator]} ${values.bind(String(amount), "numeric")}`,
            )
            .join(" and ");
        return decided(spentSql(currency, days, values, meets), days ? 2 : 1);
      },
    };
  },
};

/** @param meets tests an amount. */
function spentSql(
  currency: string | undefined,
  days: number | undefined,
  values: Values,
  meets: (spent: string) => string,
): string {
  const summaries = `from purchase_summaries s where ${itsRows("s")}${nameSql("s.currency", currency, values)}`;
  if (!days) return `(select ${meets("coalesce(sum(s.revenue), 0)")} ${summaries})`;
  const since = values.bind(sinceOf(values.now, days), "timestamptz");
  const now = values.bind(values.now.toISOString(), "timestamptz");
  return `(case when exists (select 1 ${summaries} and s.last_at >= ${since})
    then (select ${meets("coalesce(sum(e.price * e.quantity), 0)")} from purchases e
      where ${itsRows("e")}${nameSql("e.currency", currency, values)}
        and e.occurred_at >= ${since} and e.occurred_at <= ${now})
    else ${meets("0")} end)`;
}
