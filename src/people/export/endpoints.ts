import Type from "typebox";
import { endpoint, withPermission } from "../../http/endpoint.ts";
import { type ExportServices, exportByIds } from "./export-by-ids.ts";
import { exportStream } from "./stream-endpoint.ts";
import { ExportRequest } from "./wanted-users.ts";

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
