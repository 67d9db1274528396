import Type, { type Static } from "typebox";
import { isCron } from "../../core/admin/jobs/schedule.ts";
import { zoneOf } from "../../core/base/context/workspace-settings.ts";
import { ClosedObject, PLAIN_NAME } from "../../core/base/values/schemas.ts";
import { isUuid } from "../../core/base/values/uuid.ts";
import {
  addressesIn,
  addressesRule,
  areAddresses,
} from "../../core/people/profiles/address-list.ts";
import {
  DEFAULT_RETRY,
  INTEGRATION_STATUSES,
  INTEGRATION_TYPES,
  type Integration,
} from "./integration.ts";
import { WarehouseSchema } from "./sources/kinds.ts";
import type { Warehouse } from "./sources/source.ts";

/* How an integration is declared: in a manifest, or one by one through the admin API. */

/** Only one spelling, so that the same id cannot occur twice in a list. */
const isLowerCaseUuid = (text: string): boolean => isUuid(text) && text === text.toLowerCase();

const members = {
  name: Type.String(PLAIN_NAME),
  type: Type.Enum([...INTEGRATION_TYPES], { description: "The kind of each row." }),
  status: Type.Optional(
    Type.Enum([...INTEGRATION_STATUSES], {
      description: "A paused integration ignores its schedule. active by default.",
    }),
  ),
  contact_emails: Type.Optional(
    Type.Refine(
      Type.String({ description: "Addresses to notify when a sync fails, separated by commas." }),
      areAddresses,
      addressesRule,
    ),
  ),
  schedule: Type.Optional(
    Type.Refine(
      Type.String({
        description: "When it is synced: five fields of cron, in `schedule_time_zone`.",
      }),
      isCron,
      () => "must be a cron expression of five fields, such as */15 * * * *",
    ),
  ),
  schedule_time_zone: Type.Optional(
    zoneOf("The zone of the schedule, such as Europe/Berlin. UTC by default."),
  ),
  retry: Type.Optional(
    ClosedObject(
      {
        attempts: Type.Optional(
          Type.Integer({ minimum: 1, maximum: 20, description: "The total number of attempts." }),
        ),
        delay_seconds: Type.Optional(
          Type.Integer({ minimum: 0, maximum: 3_600, description: "The delay between attempts." }),
        ),
      },
      { description: "How often a failed sync is retried." },
    ),
  ),
  warehouse: WarehouseSchema,
};

export const IntegrationEntry = ClosedObject({
  id: Type.Refine(
    Type.String({ description: "A UUID, as requests name it." }),
    isLowerCaseUuid,
    () => "must be a UUID in lower case",
  ),
  ...members,
});

/** The body of a PUT; its path has the id. Without a warehouse the present one stays. */
export const IntegrationBody = ClosedObject({
  ...members,
  warehouse: Type.Optional(WarehouseSchema),
});

export type Entry = Static<typeof IntegrationEntry>;

export const integrationOf = ({
  contact_emails = "",
  status,
  schedule,
  schedule_time_zone,
  retry,
  ...entry
}: Entry): Integration => ({
  ...entry,
  warehouse: withoutTypeOfConnection(entry.warehouse as Warehouse),
  status: status ?? "active",
  schedule: schedule ?? null,
  scheduleTimeZone: schedule_time_zone ?? "UTC",
  contactEmails: addressesIn(contact_emails),
  retry: { ...DEFAULT_RETRY, ...retry },
});

/** The connection's declaration determines its type. */
function withoutTypeOfConnection(warehouse: Warehouse): Warehouse {
  if (!warehouse || !("connection" in warehouse)) return warehouse;
  const { type: _type, ...place } = warehouse;
  return place as Warehouse;
}
