import type { Dataset } from "../../engines/engine.ts";
import { type Child, startChild } from "../../processes/child.ts";
import type { Setting } from "../contender.ts";
import type { PeerName } from "../packages.ts";
import type { HostSettings } from "./host.ts";

/** Of all processes of a peer together. 10 and 40 made no difference beyond noise. */
const CONNECTIONS = 20;

/** Starts a peer in separate processes; its greeting is the URL. */
export function startHost(
  peer: PeerName,
  dataset: Dataset,
  { packages, processes }: Setting,
): Promise<Child> {
  const url = dataset.environment.DATABASE_URL as string;
  const database = { url, connections: Math.ceil(CONNECTIONS / processes) };
  const settings: HostSettings = { peer, packages, database, processes };
  return startChild("peer", settings, { NODE_ENV: "production" });
}
