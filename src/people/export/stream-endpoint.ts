import Type from "typebox";
import { type AuditingServices, recordRead } from "../../admin/audit/audit.ts";
import { byAdministratorOfWorkspace, endpoint, type TextStream } from "../../http/endpoint.ts";
import { exportRows, type StreamServices } from "./export-stream.ts";
import { EXPORTED_KINDS } from "./exported-rows.ts";

export const exportStream = endpoint({
  name: "streamExport",
  method: "GET",
  path: "/admin/v1/workspaces/:name/export/:kind",
  takesLong: true,
  streams: true,
  produces: "application/x-ndjson",
  summary: "Streams all users, events, purchases or subscription states, one JSON object per line.",
  access: byAdministratorOfWorkspace("export_user_data"),
  params: Type.Object({ name: Type.String(), kind: Type.Enum([...EXPORTED_KINDS]) }),
  query: Type.Object({
    since: Type.Optional(Type.String({ maxLength: 64, description: "ISO 8601; included." })),
    until: Type.Optional(Type.String({ maxLength: 64, description: "ISO 8601; not included." })),
    attribute: Type.Optional(
      Type.Array(Type.String({ maxLength: 1_000 }), {
        maxItems: 20,
        description: "name=value of an attribute that users must have.",
      }),
    ),
  }),
  replies: {
    200: Type.Unsafe<TextStream>(
      Type.String({
        description:
          'The last line is {"export":{"complete":true,"rows":N}}. Without it the export broke off.',
        examples: ['{"external_id":"ada"}\n{"export":{"complete":true,"rows":1}}\n'],
      }),
    ),
  },
}).handledBy(async (services: StreamServices & AuditingServices, context, { params, query }) => {
  const body = exportRows(services, context, params.kind, query);
  await recordRead(services, context, `export_of_${params.kind}`, "all");
  return { status: 200, body };
});
