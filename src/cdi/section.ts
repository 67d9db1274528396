import Type, { type Static } from "typebox";
import { isDuplicate, type Transaction } from "../database/database.ts";
import { withdraw } from "../jobs/queue.ts";
import { isCron, removeSchedules, setSchedules } from "../jobs/schedule.ts";
import { Problem } from "../problem.ts";
import { checkEmail } from "../profiles/standard-attributes.ts";
import { describe, difference, type Section, type SectionTarget } from "../workspaces/section.ts";
import { forgetProgress, forgetRuns } from "./forget.ts";
import {
  DEFAULT_RETRY,
  INTEGRATION_STATUSES,
  INTEGRATION_TYPES,
  type Integration,
  isUuid,
  SYNC_JOB,
} from "./integration.ts";
import { placeOf, type Warehouse, WarehouseSchema } from "./sources/kinds.ts";
import {
  abandonRuns,
  deleteIntegrations,
  selectDeclaredIntegrations,
  upsertIntegrations,
} from "./store.ts";

const areAddresses = (text: string): boolean =>
  addressesIn(text).every((address) => !("fault" in checkEmail(address)));

const addressesIn = (text: string): string[] =>
  text
    .split(",")
    .map((address) => address.trim())
    .filter(Boolean);

/** In one form only, so that the same id cannot stand twice in a list. */
const isLowerCaseUuid = (text: string): boolean => isUuid(text) && text === text.toLowerCase();

const IntegrationEntry = Type.Object(
  {
    id: Type.Refine(Type.String(), isLowerCaseUuid, () => "must be a UUID in lower case"),
    name: Type.String({ minLength: 1, maxLength: 255 }),
    type: Type.Enum([...INTEGRATION_TYPES]),
    status: Type.Optional(Type.Enum([...INTEGRATION_STATUSES])),
    contact_emails: Type.Optional(
      Type.Refine(
        Type.String(),
        areAddresses,
        () => "must hold email addresses, separated by commas",
      ),
    ),
    schedule: Type.Optional(
      Type.Refine(
        Type.String(),
        isCron,
        () => "must be a cron expression of five fields, such as */15 * * * *",
      ),
    ),
    retry: Type.Optional(
      Type.Object(
        {
          attempts: Type.Optional(Type.Integer({ minimum: 1, maximum: 20 })),
          delay_seconds: Type.Optional(Type.Integer({ minimum: 0, maximum: 3_600 })),
        },
        { additionalProperties: false },
      ),
    ),
    warehouse: WarehouseSchema,
  },
  { additionalProperties: false },
);

type Entry = Static<typeof IntegrationEntry>;

/** What a workspace syncs from warehouses. Removing an integration removes its history too. */
export const integrations: Section = {
  key: "integrations",
  schema: IntegrationEntry,
  identity: "id",
  async apply(tx, target, entries: readonly Entry[]) {
    const { workspaceId } = target;
    const present = await selectDeclaredIntegrations(tx, workspaceId);
    const todo = difference(present, entries.map(integrationOf), ({ id }) => id);
    const kept = [...todo.created, ...todo.updated];
    // Schedules before jobs, in the order in which the worker locks them.
    await removeSchedules(tx, workspaceId, SYNC_JOB, [...todo.removed, ...kept].map(idOf));
    await remove(tx, target, todo.removed.map(idOf));
    await startAfresh(tx, target, movedAmong(todo.updated, present));
    await keep(tx, target, kept);
    return describe("integration", target.workspaceName, todo, ({ name }) => name);
  },
};

const idOf = ({ id }: Integration): string => id;

const integrationOf = ({
  contact_emails = "",
  status,
  schedule,
  retry,
  ...entry
}: Entry): Integration => ({
  ...entry,
  warehouse: entry.warehouse as Warehouse,
  status: status ?? "active",
  schedule: schedule ?? null,
  contactEmails: addressesIn(contact_emails),
  retry: { ...DEFAULT_RETRY, ...retry },
});

async function remove(
  tx: Transaction,
  { workspaceId }: SectionTarget,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  await withdraw(tx, workspaceId, SYNC_JOB, ids);
  await forgetProgress(tx, workspaceId, ids);
  await forgetRuns(tx, workspaceId, ids);
  await deleteIntegrations(tx, workspaceId, ids);
}

/** Those whose rows lie elsewhere from now on, or mean something else. */
function movedAmong(updated: readonly Integration[], present: readonly Integration[]): string[] {
  const meaningOf = ({ type, warehouse }: Integration) => `${type} ${placeOf(warehouse)}`;
  const before = new Map(present.map((each) => [each.id, meaningOf(each)]));
  return updated.filter((each) => before.get(each.id) !== meaningOf(each)).map(idOf);
}

/** Other rows have another progress: what was read of the old ones says nothing about them. */
async function startAfresh(
  tx: Transaction,
  { workspaceId, now }: SectionTarget,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  await withdraw(tx, workspaceId, SYNC_JOB, ids);
  await abandonRuns(tx, workspaceId, ids, "The integration was changed while it ran.", now);
  await forgetProgress(tx, workspaceId, ids);
}

async function keep(
  tx: Transaction,
  { workspaceId, now }: SectionTarget,
  integrations: readonly Integration[],
): Promise<void> {
  await upsertIntegrations(tx, workspaceId, integrations, now).catch((error) => {
    if (!isDuplicate(error)) throw error;
    throw new Problem("CONFLICT", "Two integrations of a workspace have the same name.", {
      body: { path: ["integrations"] },
    });
  });
  const scheduled = integrations.flatMap(({ id, schedule, status }) =>
    schedule !== null && status === "active"
      ? [{ workspaceId, kind: SYNC_JOB, subject: id, cron: schedule }]
      : [],
  );
  await setSchedules(tx, scheduled, now);
}
