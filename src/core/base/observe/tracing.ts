/*
 * How the rest of Rapport describes its work to a trace, and which piece of work belongs to which.
 * `open-telemetry.ts` sends it to a collector; without one, nothing is loaded and every call below
 * runs its work and does nothing else.
 */

/** Kinds, counts and codes; never a user's data. */
export type SpanAttributes = Readonly<Record<string, string | number>>;

/** A span that is recorded, as another piece of work may continue it. */
export interface ActiveSpan {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
}

/** Runs something as part of a span, wherever it is called from. */
export type Resume = <Result>(work: () => Result) => Result;

/** The span of a request, from its head to the last byte of its response. */
export interface RequestSpan extends ActiveSpan {
  readonly resume: Resume;
  /** @param failure what kind, if it failed. */
  end(attributes: SpanAttributes, failure?: string): void;
}

export interface Tracing {
  /**
   * Starts the span of a request, within the trace that its `traceparent` names. Undefined if traces are off.
   *
   * @param route the path as declared; undefined for an unknown one.
   */
  readonly receive?: (
    method: string,
    route: string | undefined,
    traceparent: string | undefined,
  ) => RequestSpan | undefined;
  /** The span that runs, if it is recorded. */
  current(): ActiveSpan | undefined;
  /** Runs work in a span below the current one; without one, it is not recorded. */
  within<Result>(
    name: string,
    attributes: SpanAttributes,
    work: (resume: Resume) => Promise<Result>,
  ): Promise<Result>;
  /** Runs work for several callers: in a span below the first that is recorded, with links to the others. */
  together<Result>(
    name: string,
    callers: readonly { readonly place: ActiveSpan | undefined }[],
    attributes: SpanAttributes,
    work: () => Promise<Result>,
  ): Promise<Result>;
  /** Runs work in its own trace. */
  alone<Result>(
    name: string,
    attributes: SpanAttributes,
    work: () => Promise<Result>,
  ): Promise<Result>;
}

export const NO_TRACING: Tracing = {
  current: () => undefined,
  within: (_name, _attributes, work) => work((resumed) => resumed()),
  together: (_name, _callers, _attributes, work) => work(),
  alone: (_name, _attributes, work) => work(),
};
