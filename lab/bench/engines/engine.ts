/** An engine that the benchmark starts or is given. */
export interface Engine {
  readonly name: "postgres" | "embedded";
  /** Such as `PostgreSQL 15.18`. */
  readonly version: string;
  /** The log file of a PostgreSQL that was started for the benchmark. */
  readonly logFile?: string | undefined;
  /** Makes an empty database. */
  create(): Promise<Dataset>;
  close(): Promise<void>;
}

/** The address for a floor. */
export type FloorTarget =
  | { readonly engine: "postgres"; readonly url: string }
  | { readonly engine: "embedded"; readonly folder: string };

/** One database on an engine. Only one program uses it at a time. */
export interface Dataset {
  /** The settings for a server that uses it. */
  readonly environment: Readonly<Record<string, string>>;
  readonly floorTarget: FloorTarget;
  /**
   * The process below which the engine's work is done; undefined if that is the server itself,
   * or where the engine runs on another machine.
   */
  readonly processId: number | undefined;
  /**
   * Runs statements one after the other, each in a separate transaction; returns the rows of the
   * last.
   */
  run(statements: readonly string[]): Promise<Record<string, unknown>[]>;
  /** Makes another database with the same content. */
  copy(): Promise<Dataset>;
  remove(): Promise<void>;
}
