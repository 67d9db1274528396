import { hostname } from "node:os";
import type { Clock } from "../../base/clock.ts";
import { FULL_VERSION } from "../../base/version.ts";
import type { Database, Queryable } from "../../database/database.ts";
import type { Sealing } from "./sealing.ts";
import { countOtherWriters, deleteServer, selectServers, upsertServer } from "./server-store.ts";

/*
 * The servers on a database announce themselves: with the keys that they have, so that a rotation seals nothing that one of
 * them cannot open, and whether they write, so that each knows among how many it shares the people out (`Database.lanes`).
 */

export type Announcement = Awaited<ReturnType<typeof announceServer>>;

/**
 * Announces this process. The embedded engine has a single server: no other server needs to know.
 */
export async function announceServer({
  database,
  clock,
  sealing,
}: {
  readonly database: Database;
  readonly clock: Clock;
  readonly sealing: Sealing;
}) {
  const { current, previous } = sealing.keys;
  const keyIds = [current, previous].flatMap((key) => (key ? [key.id] : []));
  const name = nameOf(process.pid);
  const server = { id: clock.newId(), name, version: FULL_VERSION, keyIds };
  const isShared = database.engine === "postgres";
  let begun = 0;
  const renew = async () => {
    if (!isShared) return 1;
    const before = begun;
    begun = database.intakeCount?.() ?? 0;
    await upsertServer(database, server, begun > before);
    return 1 + (await countOtherWriters(database, server.id));
  };
  await renew();
  return {
    /** Call it every few seconds. @returns how many processes write users, this one included. */
    renew,
    withdraw: async () => {
      if (isShared) await deleteServer(database, server.id);
    },
  };
}

const nameOf = (pid: number): string => `${hostname()} (process ${pid})`;

/** The names of running servers that do not have a key. One that was killed on this machine has ended. */
export const serversWithout = async (database: Queryable, keyId: string): Promise<string[]> =>
  (await selectServers(database))
    .filter(({ name, keyIds }) => !keyIds.includes(keyId) && !hasEndedHere(name))
    .map(({ name, seenSeconds }) => `${name}, seen ${seenSeconds} s ago`);

function hasEndedHere(name: string): boolean {
  const pid = Number(/\(process (\d+)\)$/.exec(name)?.[1] ?? 0);
  if (pid === 0 || name !== nameOf(pid)) return false;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}
