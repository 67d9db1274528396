import { Unopenable } from "../../admin/secrets/seal.ts";
import type { Sealing } from "../../admin/secrets/sealing.ts";
import type { DeclarationSource } from "../../admin/workspaces/resource.ts";
import type { Workspace } from "../../base/context/workspace.ts";
import { Problem } from "../../base/problem.ts";
import type { Warehouse } from "./sources/kinds.ts";
import { openWarehouse, type StoredIntegration } from "./stored-warehouse.ts";

/** Settings of each kind of warehouse that open it. The URL of a database contains its password. */
const SECRETS: Readonly<Record<string, readonly string[]>> = {
  postgres: ["url"],
  redshift: ["url"],
  s3: ["access_key_id", "secret_access_key"],
};

/**
 * An integration as a manifest declares it, with variables in the place of secrets.
 *
 * @throws Problem CONFLICT if the warehouse was sealed with a key that this server does not have.
 */
export function declarationOf(
  { sealing, secret }: DeclarationSource,
  workspace: Workspace,
  stored: StoredIntegration,
): object {
  const warehouse = open(sealing, workspace, stored);
  const secrets = (SECRETS[warehouse.type] ?? []).map((setting) => [
    setting,
    secret("integration", workspace.name, stored.name, setting),
  ]);
  return {
    id: stored.id,
    name: stored.name,
    type: stored.type,
    status: stored.status,
    contact_emails: stored.contactEmails.join(", "),
    ...(stored.schedule !== null && { schedule: stored.schedule }),
    retry: stored.retry,
    warehouse: { ...warehouse, ...Object.fromEntries(secrets) },
  };
}

function open(sealing: Sealing, { id }: Workspace, stored: StoredIntegration): Warehouse {
  try {
    return openWarehouse(sealing, id, stored);
  } catch (error) {
    if (!(error instanceof Unopenable)) throw error;
    const message = `The warehouse of the integration '${stored.name}' cannot be opened: its key is missing.`;
    throw new Problem("CONFLICT", message, { cause: error });
  }
}
