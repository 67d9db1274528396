/* One round: load on a separate workspace, kills in the middle of it, and a check of everything acknowledged. */
import { join } from "node:path";
import { pause, type TortureClient } from "./client.ts";
import { crowd } from "./crowd.ts";
import { startSyncedFile, steadyImport, steadySync } from "./feeds.ts";
import { ownedUsers } from "./owned-users.ts";
import { createScene, type Load } from "./scene.ts";
import type { Place } from "./servers.ts";

export interface Round {
  readonly number: number;
  readonly seed: number;
  /** Sent `SIGKILL` how many times. */
  readonly kills: number;
  readonly items: number;
  /** Checks again, later. */
  check(): Promise<void>;
}

/** @throws an error where something that was acknowledged is lost, doubled or wrong. */
export async function runRound(
  place: Place,
  client: TortureClient,
  number: number,
  seed: number,
): Promise<Round> {
  const syncedFile = join(place.folder, `events-${number}.csv`);
  await startSyncedFile(syncedFile);
  let isOver = false;
  const name = `round-${number}`;
  const scene = await createScene(client, { name, seed, syncedFile }, () => !isOver);
  const loads: Load[] = [
    crowd(scene),
    ownedUsers(scene),
    steadyImport(scene),
    steadySync(scene, syncedFile),
  ];
  const running = Promise.all(loads.map((load) => load.run()));
  running.catch(() => {});
  await pause(100 + Math.random() * 900);
  let kills = 0;
  try {
    kills = await killSome(place, number);
    await pause(200);
  } finally {
    isOver = true;
  }
  await running;
  await place.complete();
  const check = async () => {
    for (const load of loads) await load.check();
  };
  await check();
  const items = loads.reduce((sum, load) => sum + load.items(), 0);
  return { number, seed, kills, items, check };
}

/**
 * Kills: on the embedded engine the server; elsewhere one of the two, the other one, both, or one
 * of the nodes of the database. Sometimes a restarting server is killed again during its start.
 */
async function killSome({ servers, nodes }: Place, number: number): Promise<number> {
  const turn = number % (3 + nodes.length);
  const node = nodes[turn - 3];
  if (node) {
    await node.crash();
    await pause(Math.random() * 300);
    await node.start();
    return 1;
  }
  const targets =
    turn === 2 || servers.length === 1 ? servers : servers.filter((_, index) => index === turn);
  await Promise.all(targets.map((server) => server.kill()));
  let kills = targets.length;
  for (const server of targets) {
    if (Math.random() < 0.15) {
      const starting = server.start();
      await pause(Math.random() * 1_500);
      await server.kill();
      await starting.catch(() => {});
      kills++;
    }
    await server.start();
  }
  return kills;
}
