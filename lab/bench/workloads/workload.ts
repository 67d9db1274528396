import type { FloorWork } from "../floors/floor-work.ts";
import type { Random } from "./random.ts";
import type { Distribution, UserPicker } from "./users.ts";

/**
 * A kind of load. To add one, write a file beside this one and add it to `workloads.ts`; the rest
 * (both engines, both floors, the figures, the chart) follows from this description.
 */
export interface Workload {
  /** As given on the command line. */
  readonly name: string;
  /** One sentence for the help and the report. */
  readonly about: string;
  /** Whether the users have email addresses before it begins. */
  readonly addresses?: true;
  /** The counted things, in the plural: updates, profiles. */
  readonly unit: string;
  readonly unitsPerRequest: number;
  readonly distribution: Distribution;
  /** Every request goes to this path, with this method: POST if nothing is said. */
  readonly path: string;
  readonly method?: "GET";
  /** The path of the next request, if paths differ. */
  pathOf?(random: Random, pick: UserPicker): string;
  /** How many requests are under way at saturation. */
  readonly connections: number;
  /**
   * How many bodies are prepared for this many users; they are sent in turn, and again from the
   * first.
   */
  readonly bodies: number | ((users: number) => number);
  /** Whether a body does its work only once: then each measurement gets its share of them. */
  readonly isSentOnce?: true;
  /** The body with this number. */
  body(random: Random, pick: UserPicker, index: number): unknown;
  /** Texts that a response contains only if a part of the request was not done. */
  readonly faults: readonly string[];
  /** The bare HTTP server's response to a parsed body, as large as the real one. */
  bareAnswer(body: never): unknown;
  /** The same volume in plain SQL. */
  readonly floor: FloorWork;
  /** Rows that every acknowledged request leaves, to be counted when all is over. */
  readonly proof?: { readonly table: string; readonly rowsPerRequest: number };
}
