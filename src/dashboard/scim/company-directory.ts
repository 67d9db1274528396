import type { CompanyContext } from "../../base/context/context.ts";
import {
  changeUser,
  createUser,
  findUser,
  listUsers,
  readOrganisation,
  removeUser,
  type UserServices,
} from "../users/manage-users.ts";
import { selectDefaults } from "./defaults-store.ts";
import type { Directory } from "./protocol/directory.ts";
import { searchableUser } from "./protocol/user-view.ts";

/** The directory of a company: its dashboard users, stored in searchable form. */
export function openDirectory(services: UserServices, context: CompanyContext): Directory {
  const { database } = services;
  const companyId = context.company.id;
  return {
    create: (attributes) => createUser(services, context, attributes, searchableUser),
    find: (id) => findUser(services, context, id),
    list: (query) => listUsers(services, context, query),
    change: (id, work) => changeUser(services, context, id, work, searchableUser),
    remove: (id) => removeUser(services, context, id),
    organisation: () => readOrganisation(database, companyId),
    defaults: async () => (await selectDefaults(database, companyId)) ?? {},
  };
}
