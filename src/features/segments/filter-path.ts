import { Problem } from "../../core/base/problem.ts";

/** A place in a filter: names of members and indexes of lists. */
export type FilterPath = readonly (string | number)[];

/** `filter.all[1].in_last_days` */
export const pathText = (path: FilterPath): string =>
  path.reduce<string>(
    (text, step) => (typeof step === "number" ? `${text}[${step}]` : `${text}.${step}`),
    "filter",
  );

/** The refusal of a part of a filter, which names its place. */
export const refuse = (path: FilterPath, sentence: string): Problem =>
  new Problem("INVALID_REQUEST", `'${pathText(path)}' ${sentence}.`);
