import { Problem, type ProblemCode, type ProblemDetails } from "../base/problem.ts";

/** The thing that named the place, for the audit log. */
export interface Reaching {
  /** In the singular, such as `integration`. */
  readonly kind: string;
  readonly name: string;
}

/** A caller names a place that they may not reach; goes into the audit log. */
export class ReachRefused extends Problem {
  readonly reaching: Reaching;

  constructor(reaching: Reaching, code: ProblemCode, message: string, details?: ProblemDetails) {
    super(code, message, details);
    this.reaching = reaching;
  }
}
