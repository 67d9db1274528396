import { mergeInto, patchingOf } from "../../core/admin/workspaces/merge-patch.ts";
import { Problem } from "../../core/base/problem.ts";
import { type Entry, IntegrationBody, integrationOf } from "./declaration.ts";
import type { Integration } from "./integration.ts";
import type { WantedIntegration } from "./manage.ts";
import { keptSecretsOf } from "./sources/kinds.ts";
import { connectedPlace, isConnected } from "./stored-warehouse.ts";

type Members = Readonly<Record<string, unknown>>;

export const INTEGRATION_PATCHING = patchingOf(IntegrationBody, {
  schedule: "0 3 * * *",
  schedule_time_zone: "Europe/Berlin",
  retry: { attempts: 2 },
});

/**
 * The integration with the members of a PATCH. Its warehouse keeps the settings that the patch omits, and its
 * secrets if they are sent to where they were.
 *
 * @throws Problem NOT_FOUND, INVALID_REQUEST
 */
export function patchIntegration(
  present: Integration | undefined,
  patch: Members,
): WantedIntegration {
  if (!present) throw new Problem("NOT_FOUND", "Integration not found");
  if (patch.warehouse === null) {
    throw new Problem("INVALID_REQUEST", "'warehouse' must not be null: a sync has a source");
  }
  const { id, name, type, status, contactEmails, schedule, scheduleTimeZone, retry } = present;
  const declared = {
    name,
    type,
    status,
    contact_emails: contactEmails.join(", "),
    ...(schedule !== null && { schedule }),
    schedule_time_zone: scheduleTimeZone,
    retry,
  };
  const warehouse =
    patch.warehouse === undefined ? {} : { warehouse: warehouseOf(present, patch.warehouse) };
  const wanted = INTEGRATION_PATCHING.apply(declared, { ...patch, ...warehouse });
  return integrationOf({ id, ...wanted } as Entry);
}

/** A new integration that is sent as a patch. @throws Problem INVALID_REQUEST */
export const newIntegration = (id: string, patch: Members): WantedIntegration =>
  integrationOf({ id, ...INTEGRATION_PATCHING.apply({}, patch) } as Entry);

function warehouseOf({ warehouse }: Integration, patch: unknown): Members {
  // If its key is lost, everything must be sent.
  const known = "sealed" in warehouse ? {} : { ...warehouse };
  const settings = isConnected(warehouse) ? connectedPlace(warehouse) : known;
  return mergeInto(settings, patch as Members, keptSecretsOf(settings), "warehouse.");
}
