/** An engine that the benchmark starts or is given. */
export interface Engine {
  readonly name: "postgres" | "embedded";
  /** Such as `PostgreSQL 15.18`. */
  readonly version: string;
  /** Where a PostgreSQL that was started for the benchmark writes its log. */
  readonly logFile?: string | undefined;
  /** Makes an empty database. */
  create(): Promise<Dataset>;
  close(): Promise<void>;
}

/** Where a floor connects to. */
export type FloorTarget =
  | { readonly engine: "postgres"; readonly url: string }
  | { readonly engine: "embedded"; readonly folder: string };

/** One database on an engine. Only one program uses it at a time. */
export interface Dataset {
  /** What a server needs to know to use it. */
  readonly environment: Readonly<Record<string, string>>;
  readonly floorTarget: FloorTarget;
  /**
   * The process below which the engine's work is done; undefined if that is the server itself,
   * or where the engine runs on another machine.
   */
  readonly processId: number | undefined;
  /** Runs statements one after the other, each in a transaction of its own; rows of the last. */
  run(statements: readonly string[]): Promise<Record<string, unknown>[]>;
  /** Makes another database with the same content. */
  copy(): Promise<Dataset>;
  remove(): Promise<void>;
}
