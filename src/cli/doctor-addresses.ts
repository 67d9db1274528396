import { RAPPORT } from "../core/base/command.ts";
import type { Database } from "../core/database/database.ts";
import { FolderInUse } from "../core/database/embedded/folder-lock.ts";
import { hasSchema } from "../core/database/migrations/migrate.ts";
import { readSteps } from "../core/database/migrations/steps.ts";
import { countSpellings } from "../core/people/subscriptions/count-spellings.ts";
import { countUserNames } from "../features/dashboard-users/feature.ts";
import type { Config } from "../server/config.ts";
import { openDatabase } from "../server/open-database.ts";
import type { Finding } from "./doctor-machine.ts";
import { explainError } from "./explain-error.ts";

/**
 * What the upgrade to one form of each address changes (docs/decisions/addresses.md), found by reading every address
 * beyond ASCII. It changes nothing.
 */
export async function checkAddresses(config: Config): Promise<Finding[]> {
  let database: Database | undefined;
  try {
    database = await openDatabase(config);
    if (!(await hasSchema(database))) return [NO_DATA];
    const spellings = await countSpellings(database.for("maintenance"));
    const { changed, apart } = await countUserNames(database);
    const joined = spellings.identifiers.joined + spellings.email_states.joined;
    return [
      {
        check: "addresses",
        status: "ok",
        message:
          `In another form: identifiers ${spellings.identifiers.rows}, email states ${spellings.email_states.rows}, ` +
          `hard bounces ${spellings.hard_bounces.rows}, history ${spellings.email_state_changes.rows}.`,
      },
      {
        check: "spellings",
        status: joined > 0 ? "warning" : "ok",
        message:
          `One address with another spelling: identifiers ${spellings.identifiers.joined}, ` +
          `email states ${spellings.email_states.joined}, hard bounces ${spellings.hard_bounces.joined}.`,
        ...(joined > 0 && {
          remedy:
            "Their users share the address from then on, and of two states the refusal stays.",
        }),
      },
      {
        check: "user names",
        status: "ok",
        message: `In another form: dashboard users ${changed}.`,
      },
      ...apart.map(isApart),
    ];
  } catch (error) {
    const message =
      error instanceof FolderInUse
        ? "A running server has the data folder. Stop it to look at its addresses."
        : explainError(error);
    return [{ check: "addresses", status: "failed", message, remedy: `Run ${RAPPORT} doctor.` }];
  } finally {
    await database?.close();
  }
}

/**
 * What upgrades did to stored addresses, and what they left to an administrator. Nothing where no upgrade had to.
 *
 * @param database with this version's schema.
 */
export async function reportUpgrades(database: Database): Promise<Finding[]> {
  const steps = await readSteps(database);
  const { apart } = steps.length > 0 ? await countUserNames(database) : { apart: [] };
  return [
    ...steps.map(({ name, finishedAt, report }): Finding => {
      if (finishedAt === null) {
        const message = "The migration of stored rows is not finished.";
        const remedy = `Run ${RAPPORT} migrate, or ${RAPPORT} serve, which finishes it at its start.`;
        return { check: name, status: "warning", message, remedy };
      }
      const counts = Object.entries(report).map(([what, count]) => `${what} ${count}`);
      const what = counts.join(", ") || "nothing to change";
      return { check: name, status: "ok", message: `Migrated ${dayOf(finishedAt)}: ${what}.` };
    }),
    ...apart.map(isApart),
  ];
}

const dayOf = (time: Date): string => time.toISOString().slice(0, 10);

const isApart = ({
  id,
  userName,
}: {
  readonly id: string;
  readonly userName: string;
}): Finding => ({
  check: "user names",
  status: "warning",
  message: `The dashboard user ${id} (${userName}) has the address of another dashboard user.`,
  remedy: "Both stay. Remove one of them, or change the name in the identity provider.",
});

const NO_DATA: Finding = { check: "addresses", status: "ok", message: "The database is empty." };
