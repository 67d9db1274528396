import type { Round } from "../phase.ts";
import { median } from "../ratios.ts";
import { columns } from "../report/columns.ts";
import { rounded } from "../result.ts";

/** One turn of a server; statements are null if it does not count them. */
export interface Turn extends Pick<Round, "seconds" | "units" | "server" | "database"> {
  readonly statements: number | null;
}

/** The figures of a server: of all its turns together. */
export interface Figures {
  readonly perSecond: number;
  /** Milliseconds of processor time for 1,000 items; null if the database is part of the server, or elsewhere. */
  readonly serverMs: number;
  readonly databaseMs: number | null;
  /** For 1,000 items. */
  readonly statements: number | null;
}

/** This code to the other commit: of each turn, and then the median of the turns. */
export interface GuardRatios {
  readonly rate: number;
  /** Of server and database together. */
  readonly cpu: number;
  /** The lowest and the highest of the turns: how far to trust the median. */
  readonly cpuRange: readonly [number, number];
  readonly server: number;
  readonly database: number | null;
  readonly statements: number | null;
}

export interface GuardResult {
  readonly engine: string;
  readonly workload: string;
  readonly unit: string;
  readonly here: Figures;
  readonly other: Figures;
  readonly ratios: GuardRatios;
}

/** Where the last report lies, below the repository. */
export const GUARD_FILE = "dist/guard.json";

export interface GuardReport {
  readonly commit: string;
  readonly other: string;
  readonly measured_at: string;
  readonly users: number;
  readonly seconds: number;
  readonly rounds: number;
  /** How many cores other work of the machine took. */
  readonly coresTakenByOthers: number;
  readonly results: readonly GuardResult[];
}

type Value = (turn: Turn) => number | null;

const rateOf: Value = ({ units, seconds }) => units / seconds;
const serverOf: Value = ({ server, units }) => server / units;
const databaseOf: Value = ({ database, units }) => (database === null ? null : database / units);
const cpuOf: Value = ({ server, database, units }) => (server + (database ?? 0)) / units;
const statementsOf: Value = ({ statements, units }) =>
  statements === null ? null : statements / units;

/** @param here the turns of this code, each beside the one of `other` at the same place. */
export function compare(
  here: readonly Turn[],
  other: readonly Turn[],
): Pick<GuardResult, "here" | "other" | "ratios"> {
  const ratiosOf = (value: Value): number[] =>
    here.flatMap((turn, place) => {
      const [mine, theirs] = [value(turn), value(other[place] as Turn)];
      return mine === null || !theirs ? [] : [mine / theirs];
    });
  const ratioOf = (value: Value) => rounded(median(ratiosOf(value)));
  const ifAny = (value: Value) => (ratiosOf(value).length > 0 ? ratioOf(value) : null);
  const cpu = ratiosOf(cpuOf);
  return {
    here: figuresOf(here),
    other: figuresOf(other),
    ratios: {
      rate: ratioOf(rateOf),
      cpu: ratioOf(cpuOf),
      cpuRange: [rounded(Math.min(...cpu)), rounded(Math.max(...cpu))],
      server: ratioOf(serverOf),
      database: ifAny(databaseOf),
      statements: ifAny(statementsOf),
    },
  };
}

function figuresOf(turns: readonly Turn[]): Figures {
  const sum = (value: Value): number | null =>
    turns.reduce<number | null>((total, turn) => {
      const one = value(turn);
      return total === null || one === null ? null : total + one;
    }, 0);
  const units = sum((turn) => turn.units) as number;
  const per1000 = (value: Value) => {
    const total = sum(value);
    return total === null ? null : rounded((total / units) * 1_000);
  };
  return {
    perSecond: Math.round(units / (sum(({ seconds }) => seconds) as number)),
    serverMs: per1000(({ server }) => server * 1_000) as number,
    databaseMs: per1000(({ database }) => (database === null ? null : database * 1_000)),
    statements: per1000(({ statements }) => statements),
  };
}

const HEAD = [
  "",
  "a second",
  "ratio",
  "server ms",
  "ratio",
  "database ms",
  "ratio",
  "CPU ratio",
  "of turns",
  "statements",
  "ratio",
];

/** Processor time and statements are for 1,000 items. */
export function tableOf({ results, commit, other, ...report }: GuardReport): string {
  const of = (value: number | null): string =>
    value === null ? "" : value.toLocaleString("en-US");
  const rows = results.map(({ engine, workload, here, ratios }) => [
    `${workload}, ${engine}`,
    of(here.perSecond),
    of(ratios.rate),
    of(here.serverMs),
    of(ratios.server),
    of(here.databaseMs),
    of(ratios.database),
    of(ratios.cpu),
    ratios.cpuRange.join("-"),
    of(here.statements),
    of(ratios.statements),
  ]);
  return [
    `${commit} beside ${other}: ${of(report.users)} users, ${report.seconds} s in ${report.rounds} turns each; ` +
      `${report.coresTakenByOthers} cores taken by others`,
    "",
    ...columns([HEAD, ...rows]),
  ].join("\n");
}
