import Type from "typebox";
import { type AuditingServices, recordRead } from "../../core/admin/audit/audit.ts";
import {
  byAdministratorOfWorkspace,
  endpoint,
  type TextStream,
  withPermission,
} from "../../core/http/endpoint.ts";
import { type ExportServices, exportByIds } from "./export-by-ids.ts";
import { ExportQuery } from "./export-filter.ts";
import { exportRows, type StreamServices } from "./export-stream.ts";
import { EXPORTED_KINDS } from "./exported-rows.ts";
import { ExportRequest } from "./wanted-users.ts";

const exportStream = endpoint({
  name: "streamExport",
  method: "GET",
  path: "/admin/v1/workspaces/:name/export/:kind",
  takesLong: true,
  streams: true,
  produces: "application/x-ndjson",
  summary: "Streams all users, events, purchases or subscription states, one JSON object per line.",
  access: byAdministratorOfWorkspace("export_user_data"),
  params: Type.Object({ name: Type.String(), kind: Type.Enum([...EXPORTED_KINDS]) }),
  query: ExportQuery,
  replies: {
    200: Type.Unsafe<TextStream>(
      Type.String({
        description:
          'The last line is {"export":{"complete":true,"rows":N}}. Without it the export is incomplete.',
        examples: ['{"external_id":"ada"}\n{"export":{"complete":true,"rows":1}}\n'],
      }),
    ),
  },
}).handledBy(async (services: StreamServices & AuditingServices, context, { params, query }) => {
  const body = exportRows(services, context, params.kind, query);
  await recordRead(services, context, `export_of_${params.kind}`, "all");
  return { status: 200, body };
});

const ExportedUser = Type.Record(Type.String(), Type.Unknown(), {
  title: "ExportedUser",
  description: "The requested fields of a profile.",
  examples: [
    {
      external_id: "ada",
      first_name: "Ada",
      custom_attributes: { plan: "gold", logins: 1 },
      custom_events: [
        {
          name: "signed_up",
          first: "2026-01-01T12:00:00.000Z",
          last: "2026-01-01T12:00:00.000Z",
          count: 1,
        },
      ],
    },
  ],
});

const exportEndpoint = endpoint({
  name: "exportUsers",
  method: "POST",
  path: "/users/export/ids",
  summary: "Reads the profiles with the given identifiers.",
  examples: {
    "Some fields of a user": {
      external_ids: ["ada"],
      fields_to_export: ["external_id", "first_name", "custom_attributes", "custom_events"],
    },
    "By email address": { email_address: "ada@example.com" },
    "By alias": { user_aliases: [{ alias_name: "visitor-4711", alias_label: "web_visitor" }] },
  },
  access: withPermission("users.export.ids"),
  body: ExportRequest,
  replies: {
    201: Type.Object({
      users: Type.Array(ExportedUser),
      invalid_user_ids: Type.Optional(Type.Array(Type.Unknown())),
      message: Type.Literal("success"),
    }),
  },
  idempotency: "ignored",
  writesInPieces: true,
  budgets: { bytesOut: 64 * 1_048_576 },
}).handledBy(async (services: ExportServices, { workspace }, { body }) => ({
  status: 201,
  body: { ...(await exportByIds(services, workspace, body)), message: "success" },
}));

export const exportEndpoints = [exportEndpoint, exportStream];
