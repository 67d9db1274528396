import type { LoadPackage, PeerName } from "../packages.ts";

/** Serves a peer from the process that calls it, on a free port of this machine. @returns its URL. */
export type Host = (load: LoadPackage, database: HostDatabase) => Promise<string>;

export interface HostDatabase {
  readonly url: string;
  /** How many connections this process may open. */
  readonly connections: number;
}

/** The settings of a peer's process. */
export interface HostSettings {
  readonly peer: PeerName;
  /** The folder of the installed peers. */
  readonly packages: string;
  readonly database: HostDatabase;
  readonly processes: number;
}
