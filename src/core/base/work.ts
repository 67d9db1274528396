import { Problem } from "./problem.ts";

/*
 * The work that one request may cause. An endpoint declares its budgets; the work is counted while it is done, so
 * that a small request with an expensive effect is stopped on the way and not after it.
 */

/** The budgets of an endpoint. See `DEFAULT_BUDGETS` for what applies to an endpoint that declares none. */
export interface Budgets {
  /** Units of work. One unit is about one value read, compared or copied: well below a microsecond. */
  readonly work: number;
  /** Bytes of the body, unpacked. */
  readonly bytesIn: number;
  /** JSON values in the body, counted before it is parsed. */
  readonly valuesIn: number;
  /** Whether `valuesIn` holds for each entry of the body's lists by itself: they are parsed one by one, in turns. */
  readonly entriesApart: boolean;
  readonly bytesOut: number;
}

const MEBIBYTE = 1_048_576;

/**
 * The work is about 40 ms of one core, and so is parsing that many values where no key repeats. The body
 * limit is the public one: docs/errors.md.
 */
const DEFAULT_BUDGETS: Budgets = {
  work: 200_000,
  bytesIn: 4 * MEBIBYTE,
  valuesIn: 100_000,
  entriesApart: false,
  bytesOut: 16 * MEBIBYTE,
};

interface Budgeted {
  readonly budgets?: Partial<Budgets>;
}

/** The budgets of an endpoint: its own, and the defaults for the rest. */
export const budgetsOf = ({ budgets }: Budgeted): Budgets => ({ ...DEFAULT_BUDGETS, ...budgets });

/** The work of one request, or of one part of it that has a separate limit. */
export interface WorkBudget {
  readonly limit: number;
  /** Units so far. */
  spent: number;
}

/**
 * A new account of work.
 *
 * @param limit in units; by default the limit of a whole request.
 */
export const startWork = (limit = DEFAULT_BUDGETS.work): WorkBudget => ({ limit, spent: 0 });

/** Counts work that is about to be done. @returns whether the limit allows it. */
export function canSpend(work: WorkBudget, units: number): boolean {
  work.spent += units;
  return work.spent <= work.limit;
}

/** Counts work that is about to be done. @throws Problem WORK_LIMIT_EXCEEDED over the limit. */
export function spend(work: WorkBudget, units: number): void {
  if (!canSpend(work, units)) throw workLimitExceeded(work);
}

const workLimitExceeded = ({ limit }: WorkBudget): Problem =>
  new Problem(
    "WORK_LIMIT_EXCEEDED",
    `The request takes more than ${limit} units of work. Split it into smaller requests.`,
    { body: { code: "WORK_LIMIT_EXCEEDED" } },
  );
