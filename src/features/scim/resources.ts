import Type from "typebox";
import {
  type ConfigChange,
  describe,
  difference,
  type Resource,
} from "../../core/admin/workspaces/resource.ts";
import type { CompanyContext } from "../../core/base/context/context.ts";
import { Problem } from "../../core/base/problem.ts";
import type { JsonObject } from "../../core/base/values/plain-json.ts";
import { ClosedObject } from "../../core/base/values/schemas.ts";
import type { Transaction } from "../../core/database/database.ts";
import type { Organisation } from "../dashboard-users/feature.ts";
import { DEPARTMENTS, readOrganisation } from "../dashboard-users/feature.ts";
import { selectDefaults, upsertDefaults } from "./defaults-store.ts";
import { readDefaults } from "./protocol/read-user.ts";

const ScimDefaults = ClosedObject(
  {
    department: Type.Optional(Type.Enum([...DEPARTMENTS], { description: "The department." })),
    permissions: Type.Optional(
      Type.Object({}, { description: "As in a SCIM body: companyPermissions, appGroup." }),
    ),
  },
  { description: "Defaults for new dashboard users, if the identity provider does not send them." },
);

async function applyDefaults(
  tx: Transaction,
  { company }: CompanyContext,
  declared: JsonObject,
): Promise<ConfigChange[]> {
  const organisation = await readOrganisation(tx, company.id);
  const wanted = checkDefaults(declared, organisation);
  const present = (await selectDefaults(tx, company.id)) ?? {};
  const todo = difference([present], [wanted], () => "scim_defaults");
  if (todo.updated.length > 0) await upsertDefaults(tx, company.id, wanted);
  return describe(
    "scim_defaults",
    "",
    todo,
    () => "scim_defaults",
    (defaults) => ({ ...defaults }),
  );
}

/** Applied after the permission sets, which the defaults may name. */
export const scimDefaults: Resource<CompanyContext> = {
  key: "scim_defaults",
  permissions: { read: "manage_company_settings", write: "admin" },
  schema: ScimDefaults,
  apply: (tx, _services, context, declared: JsonObject) => applyDefaults(tx, context, declared),
  async declaration(database, _from, { company }) {
    return (await selectDefaults(database, company.id)) ?? undefined;
  },
  read: async (database, { company }) => [{ ...(await selectDefaults(database, company.id)) }],
  put: (tx, _services, context, declared) => applyDefaults(tx, context, declared as JsonObject),
};

function checkDefaults(declared: JsonObject, organisation: Organisation) {
  try {
    return readDefaults(declared, organisation);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const path = ["scim_defaults"];
    throw new Problem(error.code, `scim_defaults: ${error.message}`, { body: { path } });
  }
}
