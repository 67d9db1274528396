import type { Dataset } from "../engines/engine.ts";
import type { Prepared } from "../load/generate.ts";
import type { Updates } from "./updates.ts";

/** A server that is measured. It stores users with attributes, and their events one by one. */
export interface Contender {
  /** With its version. */
  readonly title: string;
  readonly dialect: Dialect;
  /** Creates the tables in an empty database, and users and events as `seed.ts` declares them. */
  prepare(dataset: Dataset, setting: Setting): Promise<void>;
  /** Starts it; processes to stop are added to the clean-up. */
  start(dataset: Dataset, setting: Setting): Promise<Started>;
  /** SQL that counts the stored events. */
  readonly countEvents: string;
  /** SQL that counts the users whose attributes differ from their initial ones. */
  readonly countChangedUsers: string;
}

/** How updates are put to a contender. */
export interface Dialect {
  /** The best request for these updates: the contender's batch call if there are several. */
  requestOf(updates: Updates): Prepared;
  /** Texts that a successful response contains only if a part of the request was not done. */
  readonly faults: readonly string[];
}

export interface Setting {
  readonly users: number;
  /** How many server processes. */
  readonly processes: number;
  /** The folder of the installed peers. */
  readonly packages: string;
  /** For uses within the benchmark's lifetime. */
  readonly folder: string;
  atEnd(undo: () => Promise<unknown>): void;
}

export interface Started {
  readonly url: string;
  readonly processId: number;
}
