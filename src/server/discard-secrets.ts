import { discardSealing } from "../admin/secrets/rotate.ts";
import { createSealing } from "../admin/secrets/sealing.ts";
import { systemClock } from "../base/clock.ts";
import { BY_THE_SERVER } from "../base/context/context.ts";
import { migrate } from "../database/migrations/migrate.ts";
import { SEALED_KINDS } from "./app.ts";
import type { Config } from "./config.ts";
import { openDatabase } from "./open-database.ts";
import { readSecretKeys } from "./secret-keys.ts";

/**
 * Gives up the secrets of a database whose key is lost, so that a server starts with another key.
 *
 * @returns how many were discarded.
 * @throws where the key is given: then nothing is lost.
 */
export async function discardSecrets(config: Config): Promise<number> {
  const database = await openDatabase(config);
  try {
    await migrate(database);
    const sealing = createSealing((await readSecretKeys(config, false)).secrets);
    const services = { database, clock: systemClock, sealing, sealedKinds: SEALED_KINDS };
    return await discardSealing(services, BY_THE_SERVER);
  } finally {
    await database.close();
  }
}
