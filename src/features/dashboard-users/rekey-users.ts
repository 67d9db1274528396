import type { MigrationStep } from "../../core/database/migrations/steps.ts";
import { updateKeys } from "./punycode-store.ts";
import { planUserNames } from "./punycode-users.ts";

/**
 * Gives user names with punycode their key. A user whose key another user has stays as they are: the two stay two,
 * and an administrator decides (docs/decisions/addresses.md).
 */
export const rekeyUsers: MigrationStep = {
  name: "user names",
  async run(tx, { position, report }) {
    const { changed, apart, last } = await planUserNames(
      tx,
      (position as string | null) ?? undefined,
    );
    await updateKeys(tx, changed);
    return {
      position: last ?? null,
      report: {
        changed: (report.changed ?? 0) + changed.length,
        apart: (report.apart ?? 0) + apart.length,
      },
      hasMore: last !== undefined,
    };
  },
};
