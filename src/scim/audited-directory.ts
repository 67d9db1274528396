import { isDeepStrictEqual } from "node:util";
import { type AuditedChange, type Origin, recordChanges } from "../audit/audit.ts";
import type { Clock } from "../clock.ts";
import type { Database, Transaction } from "../database/database.ts";
import type { Directory, UserAttributes } from "./protocol/directory.ts";
import {
  changeUser,
  deleteUser,
  insertUser,
  selectOrganisation,
  selectPage,
  selectUser,
} from "./store.ts";

export interface DirectoryServices {
  readonly database: Database;
  readonly clock: Clock;
}

/**
 * The directory of a company on the database. Every change is audited: whose account, by its id alone,
 * and of an update the names of the attributes that are others now.
 */
export function openDirectory(
  { database, clock }: DirectoryServices,
  companyId: string,
  origin: Origin,
): Directory {
  const record = (tx: Transaction, change: Pick<AuditedChange, "action" | "name" | "details">) =>
    recordChanges(tx, clock, origin, [{ ...change, kind: "dashboard_user" }]);

  return {
    create: (attributes) =>
      database.transaction(async (tx) => {
        const user = await insertUser(tx, companyId, clock, attributes);
        if (user) await record(tx, { action: "created", name: user.id });
        return user;
      }),
    find: (id) => selectUser(database, companyId, id),
    list: (query) => selectPage(database, companyId, query),
    change: (id, work) =>
      database.transaction(async (tx) => {
        let changed: string[] = [];
        const user = await changeUser(tx, companyId, id, clock.now(), (present) => {
          const attributes = work(present);
          changed = namesOfChanged(present.attributes, attributes);
          return attributes;
        });
        if (!user || changed.length === 0) return user;
        await record(tx, { action: "updated", name: user.id, details: { changed } });
        return user;
      }),
    remove: (id) =>
      database.transaction(async (tx) => {
        const isRemoved = await deleteUser(tx, companyId, id);
        if (isRemoved) await record(tx, { action: "removed", name: id.toLowerCase() });
        return isRemoved;
      }),
    organisation: () => selectOrganisation(database, companyId),
  };
}

function namesOfChanged(before: UserAttributes, after: UserAttributes): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter((name) => !isDeepStrictEqual(before[name], after[name])).sort();
}
