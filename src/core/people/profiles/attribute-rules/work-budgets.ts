import type { Fault } from "../../../base/problem.ts";
import { refusedAt } from "../../../base/values/findings.ts";
import { canSpend, startWork, type WorkBudget } from "../../../base/work.ts";

/** Limits on the work of operations on stored values. docs/decisions/work-of-updates.md */
export interface WorkBudgets {
  readonly item: WorkBudget;
  /** The work of all objects of a request. */
  readonly request: WorkBudget;
}

const ITEM_WORK = 200_000;
const REQUEST_WORK = 1_000_000;

export const startRequestWork = (): WorkBudget => startWork(REQUEST_WORK);

/** The budgets of one object: its own, and the one it shares with the rest of its request. */
export const budgetsOfItem = (request: WorkBudget): WorkBudgets => ({
  item: startWork(ITEM_WORK),
  request,
});

/** Counts work that is about to be done. @returns whether both budgets allow it. */
export const spend = ({ item, request }: WorkBudgets, units: number): boolean => {
  const [itemAllows, requestAllows] = [canSpend(item, units), canSpend(request, units)];
  return itemAllows && requestAllows;
};

/** The fault of an attribute whose operations exceed a budget; the sentence names the budget. */
export function workLimitExceeded(name: string, { item }: WorkBudgets): Fault {
  const [whose, limit] =
    item.spent > item.limit ? ["one object", ITEM_WORK] : ["one request", REQUEST_WORK];
  const reason = `its operators exceed the work budget of ${whose}, ${limit} units; send fewer`;
  return refusedAt(name, "WORK_LIMIT_EXCEEDED", reason).fault;
}
