import { Unopenable } from "../../admin/secrets/seal.ts";
import type { Sealing } from "../../admin/secrets/sealing.ts";
import type { DeclarationSource } from "../../admin/workspaces/resource.ts";
import type { Workspace } from "../../base/context/workspace.ts";
import { Problem } from "../../base/problem.ts";
import { kindOf } from "./sources/kinds.ts";
import type { Warehouse } from "./sources/source.ts";
import {
  connectedPlace,
  isConnected,
  openWarehouse,
  type StoredIntegration,
} from "./stored-warehouse.ts";

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
  const secrets = kindOf(warehouse)
    .secrets.filter((setting) => setting in warehouse)
    .map((setting) => [setting, secret("integration", workspace.name, stored.name, setting)]);
  return {
    id: stored.id,
    name: stored.name,
    type: stored.type,
    status: stored.status,
    contact_emails: stored.contactEmails.join(", "),
    ...(stored.schedule !== null && { schedule: stored.schedule }),
    retry: stored.retry,
    warehouse: isConnected(warehouse)
      ? connectedPlace(warehouse)
      : { ...warehouse, ...Object.fromEntries(secrets) },
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
