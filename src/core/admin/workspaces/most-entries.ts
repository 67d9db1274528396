import { Problem } from "../../base/problem.ts";

/*
 * How long a list may be that a workspace, or the company, declares. Such lists are read whole: to compare them with a
 * manifest, to show them, some of them for every request.
 */

/** The limit of every list that needs no other one. docs/manifest.md */
export const MOST_ENTRIES = 500;

export interface BoundedList {
  /** Whose list it is; a workspace by default. */
  readonly owner?: "workspace" | "company";
  /** What it holds, as a sentence says it: the words of its key. */
  readonly noun: string;
  readonly most?: number;
}

/** The words of a key: `subscription groups`. */
export const nounOf = (key: string): string => key.replaceAll("_", " ");

/**
 * Refuses a change that makes a list longer than its limit. A list that was longer before there was a limit can be
 * read, changed and shortened.
 *
 * @throws Problem INVALID_REQUEST
 */
export function refuseGrowth(
  { owner = "workspace", noun, most = MOST_ENTRIES }: BoundedList,
  before: number,
  after: number,
): void {
  if (after <= most || after <= before) return;
  const count = most.toLocaleString("en-US");
  throw new Problem("INVALID_REQUEST", `A ${owner} has at most ${count} ${noun}.`);
}

/**
 * Runs a change of a list, and refuses it as `refuseGrowth` does. Where changes are not serialized, requests that come at
 * once may each add one beyond the limit.
 *
 * @param count the length of the list, in the transaction of the change.
 */
export async function refusingGrowth<Result>(
  list: BoundedList,
  count: () => Promise<number>,
  change: () => Promise<Result>,
): Promise<Result> {
  const before = await count();
  const result = await change();
  refuseGrowth(list, before, await count());
  return result;
}
