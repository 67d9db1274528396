import { groupBy } from "../../core/base/values/group-by.ts";
import type { Queryable } from "../../core/database/database.ts";
import type { MigrationStep } from "../../core/database/migrations/steps.ts";
import { userNameKey } from "./dashboard-user.ts";
import {
  type PunycodeUser,
  selectPresentKeys,
  selectPunycodeUsers,
  updateKeys,
} from "./punycode-store.ts";

/* User names with a domain in punycode, whose key has it in Unicode. docs/decisions/addresses.md */

const PAGE = 1_000;

export interface Rekeyed extends PunycodeUser {
  readonly form: string;
}

/**
 * A page of the users whose key has punycode that stands for letters: those that get their new key, and those that
 * stay apart from another user, who has it.
 *
 * @param after the last user of the page before.
 */
export async function planUserNames(
  database: Queryable,
  after: string | undefined,
): Promise<{ changed: Rekeyed[]; apart: Rekeyed[]; last: string | undefined }> {
  const page = await selectPunycodeUsers(database, after, PAGE);
  const wanted = page
    .map((user) => ({ ...user, form: userNameKey(user.userName) }))
    .filter(({ key, form }) => key !== form);
  const changed: Rekeyed[] = [];
  const apart: Rekeyed[] = [];
  for (const [companyId, users] of groupBy(wanted, (user) => user.companyId)) {
    const taken = new Set(
      await selectPresentKeys(
        database,
        companyId,
        users.map(({ form }) => form),
      ),
    );
    for (const user of users) {
      (taken.has(user.form) ? apart : changed).push(user);
      taken.add(user.form);
    }
  }
  return { changed, apart, last: page.at(-1)?.id };
}

/** All users that would get another key, and all that stay apart, without changing any. */
export async function countUserNames(
  database: Queryable,
): Promise<{ changed: number; apart: Rekeyed[] }> {
  let changed = 0;
  const apart: Rekeyed[] = [];
  let after: string | undefined;
  do {
    const page = await planUserNames(database, after);
    changed += page.changed.length;
    apart.push(...page.apart);
    after = page.last;
  } while (after !== undefined);
  return { changed, apart };
}

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
