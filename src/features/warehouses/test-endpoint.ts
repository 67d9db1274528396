import Type from "typebox";
import { type AuditingServices, recordRead } from "../../core/admin/audit/audit.ts";
import { NullableText, named, nullable, Success } from "../../core/base/values/schemas.ts";
import { byAdministratorOfWorkspace, endpoint, success } from "../../core/http/endpoint.ts";
import { getIntegration } from "./list.ts";
import { type TestServices, testSource } from "./test-source.ts";

const NullableCount = (description: string) =>
  nullable(Type.Integer(), { description, examples: [120] });

export const testEndpoint = endpoint({
  name: "testIntegration",
  method: "POST",
  path: "/admin/v1/workspaces/:name/integrations/:integration_id/test",
  summary: "Opens the source of an integration and reads three rows, without syncing anything.",
  access: byAdministratorOfWorkspace("manage_external_integrations", "view_pii"),
  params: Type.Object({ name: Type.String(), integration_id: Type.String() }),
  refusals: ["RATE_LIMITED"],
  replies: {
    200: Type.Object({
      problem: nullable(Type.String(), {
        description: "Why a sync would fail; null if it would not.",
        examples: ["The table has no column UPDATED_AT."],
      }),
      columns: Type.Array(
        named("SourceColumn", {
          name: Type.String({ description: "As spelled in the source." }),
          read_as: nullable(Type.String(), {
            description: "The field that it is read as; null if it is ignored.",
            examples: ["PAYLOAD"],
          }),
        }),
        { description: "The columns of the table, 200 at most." },
      ),
      from: nullable(Type.String(), {
        description:
          "The last processed UPDATED_AT, where the next sync begins; null for the beginning.",
        examples: ["2026-01-31T12:00:00.123456Z"],
      }),
      rows_to_read: NullableCount("How many rows the next sync reads."),
      rows: Type.Array(
        named("SourceRow", {
          identity: Type.Record(Type.String(), Type.String()),
          updated_at: Type.String(),
          payload_bytes: Type.Integer({ description: "The size of its payload.", examples: [130] }),
          code: NullableText,
          message: NullableText,
        }),
        { description: "The first three rows, with why each would be rejected." },
      ),
      rows_without_time: NullableCount("Rows without a readable UPDATED_AT, which never sync."),
      rows_in_future: NullableCount("Rows that wait, because their UPDATED_AT is in the future."),
      message: Success,
    }),
  },
}).handledBy(async (services: TestServices & AuditingServices, context, { params }) => {
  const integration = await getIntegration(services, context.workspace, params.integration_id);
  const found = await testSource(services, context.workspace, integration);
  await recordRead(services, context, "source_test_rows", found.rows.length);
  const rows = found.rows.map(({ row, fault }) => ({
    identity: row.identifiers,
    updated_at: row.updatedAt,
    payload_bytes: row.payloadBytes,
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
});
