import Type from "typebox";
import { originOf } from "../audit/audit.ts";
import { byAdministrator, endpoint } from "../http/endpoint.ts";
import { type ImportServices, importUsers } from "./import-users.ts";

const Note = Type.Object({
  message: Type.String(),
  code: Type.String(),
  input_array: Type.Literal("users"),
  index: Type.Integer({ minimum: 0 }),
});

const Notes = Type.Optional(Type.Array(Note));

const importEndpoint = endpoint({
  method: "POST",
  path: "/admin/v1/workspaces/:name/import",
  summary: "Imports what no other call writes: apps, devices, interactions, message history.",
  access: byAdministrator,
  params: Type.Object({ name: Type.String() }),
  body: Type.Object({ users: Type.Array(Type.Unknown(), { description: "User objects." }) }),
  hasItems: true,
  replies: {
    200: Type.Object({
      imported: Type.Integer({ minimum: 0 }),
      message: Type.Literal("success"),
      errors: Notes,
      skipped: Notes,
    }),
  },
}).handledBy(async (services: ImportServices, _nobody, { params, body, call }) => {
  const origin = originOf(call);
  const done = await importUsers(services, params.name, origin, body.users);
  const { imported, errors, skipped } = done;
  return {
    status: 200,
    body: {
      imported,
      message: "success",
      ...(errors.length > 0 && { errors: [...errors] }),
      ...(skipped.length > 0 && { skipped: [...skipped] }),
    },
  };
});

export const engagementEndpoints = [importEndpoint];
