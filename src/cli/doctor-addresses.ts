import { countUserNames } from "../dashboard/users/punycode-users.ts";
import type { Database } from "../database/database.ts";
import { FolderInUse } from "../database/embedded/folder-lock.ts";
import { hasSchema } from "../database/migrations/migrate.ts";
import { countSpellings } from "../people/subscriptions/count-spellings.ts";
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
    const spellings = await countSpellings(database.for("analysis"));
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
      ...apart.map(
        ({ id, userName }): Finding => ({
          check: "user names",
          status: "warning",
          message: `The dashboard user ${id} (${userName}) has the address of another dashboard user.`,
          remedy: "Both stay. Remove one of them, or change the name in the identity provider.",
        }),
      ),
    ];
  } catch (error) {
    const message =
      error instanceof FolderInUse
        ? "A running server has the data folder. Stop it to look at its addresses."
        : explainError(error);
    return [{ check: "addresses", status: "failed", message, remedy: "Run rapport doctor." }];
  } finally {
    await database?.close();
  }
}

const NO_DATA: Finding = { check: "addresses", status: "ok", message: "The database is empty." };
