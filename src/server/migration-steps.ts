import type { Logger } from "pino";
import type { Clock } from "../core/base/clock.ts";
import type { Database } from "../core/database/database.ts";
import { migrate } from "../core/database/migrations/migrate.ts";
import { finishMigrations, type MigrationStep } from "../core/database/migrations/steps.ts";
import { respellAddresses } from "../core/people/subscriptions/respell-addresses.ts";
import { rekeyUsers } from "../features/dashboard-users/rekey-users.ts";
import type { Config } from "./config.ts";

/** The steps of all migrations, in their order: see `core/database/migrations/steps.ts`. */
export const MIGRATION_STEPS: readonly MigrationStep[] = [respellAddresses, rekeyUsers];

/** Brings the schema and the stored rows up to date. The log gets counts, no data. */
export async function migrateAll(
  database: Database,
  { citusShards }: Pick<Config, "citusShards">,
  clock: Clock,
  log: Logger,
): Promise<void> {
  const applied = await migrate(database, citusShards);
  if (applied.length > 0) log.info({ migrations: applied }, "migrated");
  await finishMigrations(database, MIGRATION_STEPS, clock, (step, counts) =>
    log.info({ step, counts }, "migrated"),
  );
}
