import Type, { type Static } from "typebox";
import { MERGED } from "../../core/admin/workspaces/merge-patch.ts";
import { Problem } from "../../core/base/problem.ts";
import { refuseUnstorable } from "../../core/base/values/plain-json.ts";
import {
  NullableText,
  named,
  OfWorkspace,
  OnlySuccess,
  succeeding,
  successOf,
  Text,
} from "../../core/base/values/schemas.ts";
import { isUuid } from "../../core/base/values/uuid.ts";
import { byAdministratorOfWorkspace, endpoint, success } from "../../core/http/endpoint.ts";
import { type Entry, IntegrationBody, integrationOf } from "./declaration.ts";
import {
  type Integration as Declared,
  INTEGRATION_STATUSES,
  INTEGRATION_TYPES,
} from "./integration.ts";
import { getIntegration } from "./list.ts";
import {
  type ManageServices,
  readIntegrations,
  removeIntegration,
  saveIntegration,
} from "./manage.ts";
import { INTEGRATION_PATCHING, patchIntegration } from "./patch-integration.ts";
import type { IntegrationRow } from "./store.ts";
import { storedPlaceIn } from "./stored-warehouse.ts";

const Integration = named("DeclaredIntegration", {
  integration_id: Type.String(),
  name: Type.String(),
  type: Type.Enum([...INTEGRATION_TYPES]),
  status: Type.Enum([...INTEGRATION_STATUSES]),
  contact_emails: Type.String(),
  schedule: NullableText,
  schedule_time_zone: Text("The zone of the schedule.", "UTC"),
  retry: Type.Object({ attempts: Type.Integer(), delay_seconds: Type.Integer() }),
  warehouse: Type.Object(
    { type: Type.String(), place: Type.String() },
    { description: "Its kind and its table or files; credentials are never shown." },
  ),
  declared: Type.Boolean({ description: "Whether a manifest declared it." }),
});

const viewOf = (integration: IntegrationRow): Static<typeof Integration> => ({
  integration_id: integration.id,
  name: integration.name,
  type: integration.type,
  status: integration.status,
  contact_emails: integration.contactEmails.join(", "),
  schedule: integration.schedule,
  schedule_time_zone: integration.scheduleTimeZone,
  retry: integration.retry,
  warehouse: { type: integration.warehouse.type, place: storedPlaceIn(integration.warehouse) },
  declared: integration.declared,
});

const LIST = "/admin/v1/workspaces/:name/integrations";

const ONE = `${LIST}/:integration_id` as const;

const OfIntegration = Type.Object({ name: Type.String(), integration_id: Type.String() });

const listEndpoint = endpoint({
  name: "listDeclaredIntegrations",
  method: "GET",
  path: LIST,
  summary: "Lists the warehouse integrations of a workspace as they are declared.",
  access: byAdministratorOfWorkspace("basic_access"),
  params: OfWorkspace,
  replies: succeeding({ integrations: Type.Array(Integration) }),
}).handledBy(async (services: ManageServices, context) => {
  const integrations = await readIntegrations(services, context);
  return success({ integrations: integrations.map(viewOf) });
});

const readEndpoint = endpoint({
  name: "getIntegration",
  method: "GET",
  path: ONE,
  summary: "Reads a warehouse integration as declared.",
  access: byAdministratorOfWorkspace("basic_access"),
  params: OfIntegration,
  replies: { 200: successOf(Integration) },
}).handledBy(async (services: ManageServices, context, { params }) => {
  const found = await getIntegration(services, context.workspace, params.integration_id);
  return success(viewOf(found));
});

const putEndpoint = endpoint({
  name: "putIntegration",
  method: "PUT",
  path: ONE,
  summary: "Creates or changes a warehouse integration.",
  access: byAdministratorOfWorkspace("manage_external_integrations"),
  params: OfIntegration,
  body: IntegrationBody,
  replies: { 200: successOf(Integration) },
}).handledBy(async (services: ManageServices, context, { params, body }) => {
  refuseUnstorable(body);
  const id = readId(params.integration_id);
  const wanted = integrationOf({ id, ...body, warehouse: body.warehouse as Entry["warehouse"] });
  return success(viewOf(await saveIntegration(services, context, { id, wanted: () => wanted })));
});

const patchEndpoint = endpoint({
  name: "patchIntegration",
  method: "PATCH",
  path: ONE,
  summary: `Changes the given fields of a warehouse integration; ${MERGED}`,
  description: "A secret of an inline `warehouse` must be sent again if its destination changes.",
  access: byAdministratorOfWorkspace("manage_external_integrations"),
  params: OfIntegration,
  body: INTEGRATION_PATCHING.body,
  replies: { 200: successOf(Integration) },
}).handledBy(async (services: ManageServices, context, { params, body }) => {
  refuseUnstorable(body);
  const id = readId(params.integration_id);
  const wanted = (present: Declared | undefined) =>
    patchIntegration(present, body as Readonly<Record<string, unknown>>);
  return success(viewOf(await saveIntegration(services, context, { id, wanted, isPatch: true })));
});

export function readId(text: string): string {
  const id = text.toLowerCase();
  if (isUuid(id)) return id;
  throw new Problem("INVALID_REQUEST", "Invalid integration ID");
}

const removeEndpoint = endpoint({
  name: "deleteIntegration",
  method: "DELETE",
  path: ONE,
  summary: "Removes a warehouse integration with its runs; synced data stays.",
  access: byAdministratorOfWorkspace("manage_external_integrations"),
  params: OfIntegration,
  replies: { 200: OnlySuccess },
}).handledBy(async (services: ManageServices, context, { params }) => {
  await removeIntegration(services, context, params.integration_id);
  return success();
});

export const warehouseManageEndpoints = [
  listEndpoint,
  readEndpoint,
  putEndpoint,
  patchEndpoint,
  removeEndpoint,
];
