import Type from "typebox";
import { type AuditingServices, recordRead } from "../../core/admin/audit/audit.ts";
import { recordingRefusals, recordRefusal } from "../../core/admin/audit/refusals.ts";
import type { WorkspaceContext } from "../../core/base/context/context.ts";
import { isJsonObject, type JsonObject } from "../../core/base/values/plain-json.ts";
import {
  ClosedObject,
  IntegerOrNull,
  NullableText,
  named,
  nullable,
  Success,
  TextOrNull,
} from "../../core/base/values/schemas.ts";
import { byAdministratorOfWorkspace, endpoint, success } from "../../core/http/endpoint.ts";
import { UNGUARDED } from "../../core/outbound/outbound.ts";
import { meaningOf } from "./change-integrations.ts";
import { getIntegration } from "./list.ts";
import { withWarehouse } from "./manage.ts";
import { readId } from "./manage-endpoints.ts";
import { INTEGRATION_PATCHING, newIntegration, patchIntegration } from "./patch-integration.ts";
import { type ResolvedWarehouse, resolveOpenWarehouse, warehouseOf } from "./resolve-warehouse.ts";
import { OpenWarehouseSchema } from "./sources/kinds.ts";
import type { Warehouse } from "./sources/source.ts";
import { selectIntegration } from "./store.ts";
import { isConnected, openIntegration } from "./stored-warehouse.ts";
import { listSource, type Tested, type TestServices, testSource } from "./test-source.ts";

const NullableCount = (description: string) => IntegerOrNull(description, 120);

/** The beginning of a payload that a caller sees. */
const SHOWN_CHARACTERS = 500;

const OF_TEST = {
  method: "POST",
  access: byAdministratorOfWorkspace("manage_external_integrations", "view_pii"),
  params: Type.Object({ name: Type.String(), integration_id: Type.String() }),
  replies: {
    200: named("SourceTest", {
      problem: TextOrNull(
        "Why a sync would fail; null if it would not.",
        "The table has no column UPDATED_AT.",
      ),
      columns: Type.Array(
        named("SourceColumn", {
          name: Type.String({ description: "As spelled in the source." }),
          read_as: TextOrNull("The field that it is read as; null if it is ignored.", "PAYLOAD"),
        }),
        { description: "The columns of the table, 200 at most." },
      ),
      from: TextOrNull(
        "The last processed UPDATED_AT, where the next sync begins; null for the beginning.",
        "2026-01-31T12:00:00.123456Z",
      ),
      rows_to_read: NullableCount("How many rows the next sync reads."),
      rows: Type.Array(
        named("SourceRow", {
          identity: Type.Record(Type.String(), Type.String()),
          updated_at: Type.String(),
          payload_bytes: Type.Integer({ description: "The size of its payload.", examples: [130] }),
          payload: TextOrNull("The first 500 characters of its payload.", '{"first_name":"Ada"}'),
          item: nullable(Type.Record(Type.String(), Type.Unknown()), {
            description:
              "Its payload as an object, without the members after the 30th; a long value is the beginning of its text.",
            examples: [{ first_name: "Ada" }],
          }),
          code: NullableText,
          message: NullableText,
        }),
        { description: "The first five rows, with why each would be rejected." },
      ),
      rows_without_time: NullableCount("Rows without a readable UPDATED_AT, which never sync."),
      rows_in_future: NullableCount("Rows that wait, because their UPDATED_AT is in the future."),
      message: Success,
    }),
  },
} as const;

type Services = TestServices & AuditingServices;

/** How many members of an object, and how much of each value, a caller sees. */
const SHOWN_MEMBERS = 30;
const SHOWN_OF_VALUE = 200;

/** @param levels how deep objects are shown as objects. */
const inShort = (object: JsonObject, levels: number): JsonObject =>
  Object.fromEntries(
    Object.entries(object)
      .slice(0, SHOWN_MEMBERS)
      .map(([name, value]) => {
        if (levels > 0 && isJsonObject(value)) return [name, inShort(value, levels - 1)];
        const text = typeof value === "string" ? value : JSON.stringify(value);
        if (text.length <= SHOWN_OF_VALUE) return [name, value];
        return [name, `${text.slice(0, SHOWN_OF_VALUE).toWellFormed()}…`];
      }),
  );

async function answerTest(
  services: Services,
  context: WorkspaceContext,
  integration: Tested,
  resolve?: () => Promise<ResolvedWarehouse>,
) {
  const found = await testSource(services, context.workspace, integration, resolve);
  await recordRead(services, context, "source_test_rows", found.rows.length);
  if (found.isRefused && found.problem !== null) {
    const reaching = { kind: "integration", name: integration.name };
    await recordRefusal(services, context, reaching, found.problem);
  }
  const rows = found.rows.map(({ row, item, fault }) => ({
    identity: row.identifiers,
    updated_at: row.updatedAt,
    payload_bytes: row.payloadBytes,
    payload: row.payload?.slice(0, SHOWN_CHARACTERS).toWellFormed() ?? null,
    item: item && inShort(item, 1),
    code: fault?.code ?? null,
    message: fault?.message ?? null,
  }));
  return success({
    problem: found.problem,
    columns: found.columns.map(({ name, readAs }) => ({ name, read_as: readAs })),
    from: found.from,
    rows_to_read: found.rowsToRead,
    rows,
    rows_without_time: found.unreadable,
    rows_in_future: found.future,
  });
}

const testStored = endpoint({
  ...OF_TEST,
  name: "testIntegration",
  path: "/admin/v1/workspaces/:name/integrations/:integration_id/test",
  summary: "Opens the source of an integration and reads five rows, without syncing anything.",
  refusals: ["RATE_LIMITED"],
}).handledBy(async (services: Services, context, { params }) =>
  answerTest(
    services,
    context,
    await getIntegration(services, context.workspace, params.integration_id),
  ),
);

const testChanged = endpoint({
  ...OF_TEST,
  name: "testIntegrationChange",
  path: "/admin/v1/workspaces/:name/integrations/:integration_id/test-change",
  summary: "Tests an integration as a PATCH would make it, or a new one, without saving it.",
  description: "A secret of an inline `warehouse` must be sent again if its destination changes.",
  refusals: ["RATE_LIMITED"],
  body: INTEGRATION_PATCHING.body,
}).handledBy(async (services: Services, context, { params, body }) => {
  const { database, sealing } = services;
  const { workspace } = context;
  const id = readId(params.integration_id);
  const stored = await selectIntegration(database, workspace.id, id);
  const before = stored && openIntegration(sealing, workspace.id, stored);
  const patch = body as Readonly<Record<string, unknown>>;
  const wanted = before ? patchIntegration(before, patch) : newIntegration(id, patch);
  const integration = await recordingRefusals(services, context, () =>
    withWarehouse(database, context, wanted, before),
  );
  // Other rows, or rows that mean something else, are read from the beginning.
  const isSame = stored && meaningOf(stored) === meaningOf(integration);
  const processedThrough = isSame ? stored.processedThrough : null;
  const tested = { ...integration, processedThrough };
  if (stored && patch.warehouse === undefined) {
    // As it is stored: if its key is lost, the test says so.
    return answerTest(services, context, { ...tested, warehouse: stored.warehouse });
  }
  if (isConnected(integration.warehouse)) return answerTest(services, context, tested);
  const { warehouse } = integration;
  const inline = { warehouse, outbound: UNGUARDED, connection: undefined };
  return answerTest(services, context, tested, async () => inline);
});

const listTables = endpoint({
  method: "POST",
  path: "/admin/v1/workspaces/:name/integrations/:integration_id/tables",
  name: "listSourceTables",
  summary: "Lists the tables, views or files that an integration may read.",
  description:
    "Through the `warehouse` of the body, or without it through that of the integration. Files are those of the root of the " +
    "connection, or of the folder in `url`.",
  access: OF_TEST.access,
  params: OF_TEST.params,
  refusals: ["RATE_LIMITED"],
  body: ClosedObject(
    { warehouse: Type.Optional(OpenWarehouseSchema) },
    {
      examples: [
        { warehouse: { type: "postgres", url: "postgres://reader@warehouse.acme.example/crm" } },
      ],
    },
  ),
  replies: {
    200: named("SourceTables", {
      tables: Type.Array(Type.String({ examples: ["public.crm_users"] }), {
        description: "Values of `table`, or of `url` for files: by name, 1,000 at most.",
      }),
      more: Type.Boolean({ description: "Whether there are more." }),
      problem: TextOrNull(
        "Why they cannot be listed; null if they are. Any name may be typed.",
        "The storage refuses s3://bucket/: AccessDenied.",
      ),
      message: Success,
    }),
  },
}).handledBy(async (services: Services, context, { params, body }) => {
  const { database, sealing, outbound } = services;
  const { workspace } = context;
  const id = readId(params.integration_id);
  const reaching = { kind: "integration", name: id };
  const given = body.warehouse as Warehouse | undefined;
  const warehouse = given
    ? await recordingRefusals(services, context, () =>
        resolveOpenWarehouse(database, context, reaching, given),
      )
    : (await getIntegration(services, workspace, id)).warehouse;
  const found = await listSource(services, workspace, warehouse, async () =>
    given && !isConnected(given)
      ? { warehouse: given, outbound: UNGUARDED, connection: undefined }
      : warehouseOf({ database, sealing, outbound }, workspace, { id, warehouse }),
  );
  if (found.isRefused && found.problem !== null) {
    await recordRefusal(services, context, reaching, found.problem);
  }
  return success({ tables: [...found.tables], more: found.hasMore, problem: found.problem });
});

export const testEndpoints = [testStored, testChanged, listTables];
