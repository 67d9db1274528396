import { columns } from "../report/columns.ts";
import { rounded } from "../result.ts";
import type { Activity } from "./activity.ts";
import type { Spending } from "./cpu-profile.ts";
import type { StatementTimes } from "./statement-log.ts";

const MOST_PLACES = 25;
const MOST_FUNCTIONS = 30;

/** The server's processor time by function, for 1,000 units. */
export function spendingReport(spending: Spending, units: number, seconds: number): string {
  const { busyMs, byThread } = spending;
  const per1000 = (ms: number) => String(rounded((ms / units) * 1_000));
  const table = (title: string, sums: ReadonlyMap<string, number>, most: number) => {
    const dearest = [...sums].sort(([, one], [, other]) => other - one).slice(0, most);
    const rows = dearest.map(([name, ms]) => [name, per1000(ms), percent(ms / busyMs)]);
    return [title, ...columns([["", "ms/1,000", "share"], ...rows]), ""].join("\n");
  };
  return [
    `Server: ${per1000(busyMs)} ms for 1,000; ` +
      `its threads were busy for ${byThread.map((ms) => percent(ms / seconds / 1_000)).join(", ")}.`,
    "",
    table("Own time by place", spending.byPlace, MOST_PLACES),
    table("Own time by function", spending.ownByFunction, MOST_FUNCTIONS),
    table("Time of our functions including called ones", spending.totalByFunction, MOST_FUNCTIONS),
  ].join("\n");
}

/** PostgreSQL's work: for one call in milliseconds, and for 1,000 units. */
export function statementsReport(statements: readonly StatementTimes[], units: number): string {
  const rows = statements.map(({ statement, calls, parseMs, bindMs, executeMs }) => [
    statement,
    String(calls),
    ...[parseMs, bindMs, executeMs].map((ms) => String(rounded(ms / Math.max(1, calls)))),
    String(rounded(((parseMs + bindMs + executeMs) / units) * 1_000)),
  ]);
  const head = ["Statements", "calls", "parse ms", "bind ms", "execute ms", "ms/1,000"];
  return [...columns([head, ...rows]), ""].join("\n");
}

/** The activity of the connections. */
export function activityReport(activity: Activity): string {
  const rows = [...activity].map(([doing, share]) => [doing, percent(share)]);
  return [...columns([["Connections", "share"], ...rows]), ""].join("\n");
}

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
