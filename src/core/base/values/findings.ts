import type { Fault } from "../problem.ts";
import { printable } from "./describe-value.ts";

/**
 * A fault found while walking over a JSON value. `steps` are the path to its place, the innermost
 * first: they are collected on the way back from a fault, so that a walk without faults allocates
 * nothing.
 */
export interface Finding {
  readonly code: string;
  readonly reason: string;
  readonly steps: (string | number)[];
}

/** A longer path is cut in sentences. */
const maxPathLength = 200;

/** A fault of a value itself. The reason ends the sentence "'…' is not valid: …". */
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
): { readonly fault: Fault } => ({ fault: faultAt(path, finding(code, reason)) });
