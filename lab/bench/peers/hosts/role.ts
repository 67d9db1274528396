import cluster from "node:cluster";
import type { RoleMain } from "../../processes/child.ts";
import { loaderOf, type PeerName } from "../packages.ts";
import type { Host, HostSettings } from "./host.ts";

const HOSTS: Readonly<Record<PeerName, () => Promise<Host>>> = {
  "parse-server": async () => (await import("./parse-server.ts")).serveParse,
  postgraphile: async () => (await import("./postgraphile.ts")).servePostGraphile,
};

/** Serves a peer in one process or, as Rapport does, in several that share a port; greets with its URL. */
export const playPeer: RoleMain<HostSettings, never> = async (settings) => ({
  greeting: settings.processes > 1 ? await serveByWorkers(settings) : await serve(settings),
});

const serve = async ({ peer, packages, database }: HostSettings): Promise<string> =>
  (await HOSTS[peer]())(loaderOf(packages, peer), database);

/** In the environment, because a worker loses messages that come before it listens to them. */
const SETTINGS = "PEER_SETTINGS";

async function serveByWorkers(settings: HostSettings): Promise<string> {
  cluster.setupPrimary({ args: ["peer-worker"] });
  const urls = Array.from({ length: settings.processes }, () => {
    const worker = cluster.fork({ [SETTINGS]: JSON.stringify(settings) });
    return new Promise<string>((resolve, reject) => {
      worker.once("message", resolve);
      worker.once("exit", (code) => reject(new Error(`A process of the peer ended: ${code}`)));
    });
  });
  return (await Promise.all(urls))[0] as string;
}

/** One of several processes. */
export async function playPeerWorker(): Promise<void> {
  process.on("disconnect", () => process.exit());
  process.send?.(await serve(JSON.parse(process.env[SETTINGS] as string)));
}
