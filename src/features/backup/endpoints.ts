import Type from "typebox";
import { OnlySuccess, succeeding, Text } from "../../core/base/values/schemas.ts";
import { byAdministrator, endpoint, success } from "../../core/http/endpoint.ts";
import { type CopyServices, copyEngine, removeCopy } from "./copy-engine.ts";

const copyEndpoint = endpoint({
  name: "createEngineCopy",
  method: "POST",
  path: "/admin/v1/engine-copies",
  takesLong: true,
  summary: "Copies the files of the embedded engine, for rapport backup on the same machine.",
  access: byAdministrator("admin"),
  replies: succeeding({
    id: Text(
      "The copy is the folder copy-ID of the server's data folder.",
      "019a8b54-7c1e-7a5b-9f0e-3d2c1b0a9f8e",
      { format: "uuid" },
    ),
  }),
}).handledBy(async (services: CopyServices, context) =>
  success({ id: await copyEngine(services, context) }),
);

const removeEndpoint = endpoint({
  name: "deleteEngineCopy",
  method: "DELETE",
  path: "/admin/v1/engine-copies/:id",
  summary: "Removes a copy of the embedded engine that rapport backup has read.",
  access: byAdministrator("admin"),
  params: Type.Object({ id: Type.String({ format: "uuid" }) }),
  replies: { 200: OnlySuccess },
}).handledBy(async (services: CopyServices, _context, { params }) => {
  await removeCopy(services, params.id);
  return success();
});

export const backupEndpoints = [copyEndpoint, removeEndpoint];
