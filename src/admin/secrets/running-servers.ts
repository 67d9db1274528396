import { hostname } from "node:os";
import type { Clock } from "../../base/clock.ts";
import { FULL_VERSION } from "../../base/version.ts";
import type { Database, Queryable } from "../../database/database.ts";
import type { Sealing } from "./sealing.ts";
import { deleteServer, selectServers, upsertServer } from "./server-store.ts";

/* The servers on a database announce the keys that they have, so that a rotation seals nothing that one of them cannot open. */

/** A process that has announced itself. */
export interface Announcement {
  /** Call it every few seconds. */
  renew(): Promise<void>;
  withdraw(): Promise<void>;
}

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
}): Promise<Announcement> {
  const { current, previous } = sealing.keys;
  const keyIds = [current, previous].flatMap((key) => (key ? [key.id] : []));
  const name = `${hostname()} (process ${process.pid})`;
  const server = { id: clock.newId(), name, version: FULL_VERSION, keyIds };
  const isShared = database.engine === "postgres";
  const renew = async () => {
    if (isShared) await upsertServer(database, server);
  };
  await renew();
  return {
    renew,
    withdraw: async () => {
      if (isShared) await deleteServer(database, server.id);
    },
  };
}

/** The names of running servers that do not have a key. */
export const serversWithout = async (database: Queryable, keyId: string): Promise<string[]> =>
  (await selectServers(database))
    .filter(({ keyIds }) => !keyIds.includes(keyId))
    .map(({ name }) => name);
