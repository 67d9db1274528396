import type { Random } from "../workloads/random.ts";
import type { UserPicker } from "../workloads/users.ts";
import type { Messages } from "./messages.ts";

/** The volume of a workload as plain SQL: a few prepared statements, and how a batch fills them. */
export interface FloorWork {
  readonly postgres: FloorShape;
  readonly embedded: FloorShape;
  /**
   * Writes the messages of one batch of this many units.
   *
   * @param pick draws users that no other connection writes to.
   */
  write(messages: Messages, units: number, random: Random, pick: UserPicker): void;
}

/** The fastest way found on an engine (lab/NOTEBOOK.md). */
export interface FloorShape {
  readonly connections: number;
  readonly unitsPerBatch: number;
  /** The prepared statements by name. */
  readonly statements: Readonly<Record<string, string>>;
}
