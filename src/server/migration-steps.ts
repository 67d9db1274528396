import type { Logger } from "pino";
import type { Clock } from "../core/base/clock.ts";
import type { Database } from "../core/database/database.ts";
import { migrate } from "../core/database/migrations/migrate.ts";
import { finishMigrations } from "../core/database/migrations/steps.ts";
import { assemble } from "./assemble.ts";
import type { Config } from "./config.ts";

/** Brings the schema and the stored rows up to date. The log gets counts, no data. */
export async function migrateAll(
  database: Database,
  { citusShards }: Pick<Config, "citusShards">,
  clock: Clock,
  log: Logger,
): Promise<void> {
  const applied = await migrate(database, citusShards);
  if (applied.length > 0) log.info({ migrations: applied }, "migrated");
  const { migrationSteps } = await assemble();
  await finishMigrations(database, migrationSteps, clock, (step, counts) =>
    log.info({ step, counts }, "migrated"),
  );
}
