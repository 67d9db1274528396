import Type from "typebox";
import { describedList } from "../http/described.ts";
import { byAdministratorOfWorkspace, endpoint } from "../http/endpoint.ts";
import { ItemNote } from "../http/verdicts.ts";
import { ImportedUser } from "./described.ts";
import { type ImportServices, importUsers } from "./import-users.ts";

const Notes = Type.Optional(Type.Array(ItemNote));

const importEndpoint = endpoint({
  method: "POST",
  path: "/admin/v1/workspaces/:name/import",
  takesLong: true,
  summary: "Imports what no other call writes: apps, devices, interactions, message history.",
  access: byAdministratorOfWorkspace,
  params: Type.Object({ name: Type.String() }),
  body: Type.Object({ users: describedList(ImportedUser, "Users, one object each.") }),
  hasItems: true,
  replies: {
    200: Type.Object({
      imported: Type.Integer({ minimum: 0 }),
      message: Type.Literal("success"),
      errors: Notes,
      skipped: Notes,
    }),
  },
}).handledBy(async (services: ImportServices, context, { body }) => {
  const done = await importUsers(services, context, body.users);
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

export const importEndpoints = [importEndpoint];
