import type { LoadPackage, PeerName } from "../packages.ts";

/** Serves a peer from the process that calls it, on a free port of this machine. @returns its URL. */
export type Host = (load: LoadPackage, database: HostDatabase) => Promise<string>;

export interface HostDatabase {
  readonly url: string;
  /** How many connections this process may open. */
  readonly connections: number;
}

/** What the process of a peer is started with. */
export interface HostSettings {
  readonly peer: PeerName;
  /** Where the peers are installed. */
  readonly packages: string;
  readonly database: HostDatabase;
  readonly processes: number;
}
