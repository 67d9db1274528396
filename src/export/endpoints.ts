import Type from "typebox";
import { endpoint, withPermission } from "../http/endpoint.ts";
import { type ExportServices, exportByIds } from "./export-by-ids.ts";
import { EXPORT_FIELDS } from "./profile-view.ts";

const Id = Type.Union([Type.String(), Type.Number()]);

const Ids = Type.Optional(Type.Union([Type.Array(Id), Id]));

const AliasObject = Type.Object({ alias_name: Type.String(), alias_label: Type.String() });

const exportEndpoint = endpoint({
  method: "POST",
  path: "/users/export/ids",
  summary: "Reads the profiles that the given identifiers name.",
  access: withPermission("users.export.ids"),
  body: Type.Object({
    external_ids: Ids,
    user_aliases: Type.Optional(Type.Array(AliasObject)),
    platform_ids: Ids,
    braze_ids: Ids,
    platform_id: Ids,
    braze_id: Ids,
    email_address: Type.Optional(Type.String()),
    phone: Type.Optional(Type.String()),
    fields_to_export: Type.Optional(Type.Array(Type.Enum([...EXPORT_FIELDS]))),
  }),
  replies: {
    201: Type.Object({
      users: Type.Array(Type.Record(Type.String(), Type.Unknown())),
      invalid_user_ids: Type.Optional(Type.Array(Type.Unknown())),
      message: Type.Literal("success"),
    }),
  },
  idempotency: "ignored",
  isHeavy: true,
  budgets: { bytesOut: 64 * 1_048_576 },
}).handledBy(async (services: ExportServices, { workspace }, { body }) => ({
  status: 201,
  body: { ...(await exportByIds(services, workspace, body)), message: "success" },
}));

export const exportEndpoints = [exportEndpoint];
