import type { CompanyContext } from "../../core/base/context/context.ts";
import { Problem } from "../../core/base/problem.ts";
import type { User, UserAttributes } from "../dashboard-users/feature.ts";
import {
  changeUser,
  createUser,
  findUser,
  listUsers,
  readOrganisation,
  removeUser,
  type UserServices,
} from "../dashboard-users/feature.ts";
import { selectDefaults } from "./defaults-store.ts";
import type { Defaults, Directory } from "./protocol/directory.ts";
import { searchableUser } from "./protocol/user-view.ts";

/** The directory of a company: its dashboard users, stored in searchable form. */
export function openDirectory(services: UserServices, context: CompanyContext): Directory {
  const { database } = services;
  const companyId = context.company.id;
  const declared = async () => (await selectDefaults(database, companyId)) ?? {};
  const grantableNow = async () =>
    context.actor === "scim" ? grantableBy(context, await declared()) : undefined;
  return {
    async create(attributes) {
      refuseUngranted(await grantableNow(), undefined, attributes);
      return createUser(services, context, attributes, searchableUser);
    },
    find: (id) => findUser(services, context, id),
    list: (query) => listUsers(services, context, query),
    async change(id, work) {
      const grantable = await grantableNow();
      const granted = (present: User): UserAttributes => {
        const after = work(present);
        refuseUngranted(grantable, present.attributes, after);
        return after;
      };
      return changeUser(services, context, id, granted, searchableUser);
    },
    remove: (id) => removeUser(services, context, id),
    organisation: () => readOrganisation(database, companyId),
    defaults: declared,
  };
}

/**
 * The permissions that a token may grant: its own list, and those that the company declares for
 * every new user.
 */
const grantableBy = ({ grantable = [] }: CompanyContext, { permissions }: Defaults) =>
  new Set([...grantable, ...(permissions?.companyPermissions ?? [])]);

/**
 * Refuses permissions in the company that the token may not grant, also to a user who had them and was inactive. What a user
 * has already may stay.
 *
 * @param grantable undefined if everything is.
 * @throws Problem FORBIDDEN.
 */
function refuseUngranted(
  grantable: ReadonlySet<string> | undefined,
  before: UserAttributes | undefined,
  after: UserAttributes,
): void {
  if (!grantable) return;
  const had = before?.active === false && after.active ? [] : companyPermissionsOf(before);
  const refused = companyPermissionsOf(after).find(
    (name) => !grantable.has(name) && !had.includes(name),
  );
  if (refused === undefined) return;
  throw new Problem(
    "FORBIDDEN",
    `This SCIM token may not grant the company permission '${refused}': its company_permissions lack it.`,
  );
}

const companyPermissionsOf = (attributes: UserAttributes | undefined): readonly string[] =>
  attributes?.permissions.companyPermissions ?? [];
