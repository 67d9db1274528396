import type { Fault } from "../problem.ts";
import { printable } from "./describe-value.ts";

/**
 * What a walk over a JSON value found wrong. `steps` lead to the place, the innermost first: they
 * are only collected on the way back from a finding, so that a walk that finds nothing, which is
 * nearly every one, allocates nothing.
 */
export interface Finding {
  readonly code: string;
  readonly reason: string;
  readonly steps: (string | number)[];
}

/** A path longer than this is cut in a sentence: it is there to be read. */
const maxPathLength = 200;

/** What is wrong with a value itself. The reason ends the sentence "'…' is not valid: …". */
export const finding = (code: string, reason: string): Finding => ({ code, reason, steps: [] });

/** The same finding, seen from one level further out; `step` is the key or the index. */
export function foundAt(step: string | number, found: Finding): Finding {
  found.steps.push(step);
  return found;
}

/** The fault for a finding; `path` names the value the walk began with, or is empty. */
export function faultAt(path: string, found: Finding): Fault {
  let place = path;
  for (const step of found.steps.toReversed()) {
    if (typeof step === "number") place += `[${step}]`;
    else place += place === "" ? printable(step) : `.${printable(step)}`;
  }
  const name = place === "" ? "value" : printable(place, maxPathLength);
  return { code: found.code, message: `'${name}' is not valid: ${found.reason}` };
}

/** Refuses the value that `path` names: `'path' is not valid: reason`. */
export const refusedAt = (
  path: string,
  code: string,
  reason: string,
): { readonly fault: Fault } => ({
  fault: faultAt(path, finding(code, reason)),
});
