import Type from "typebox";
import { Success } from "../../base/values/schemas.ts";
import { byAdministrator, endpoint } from "../../http/endpoint.ts";
import { type CopyServices, copyEngine } from "./copy-engine.ts";

const copyEndpoint = endpoint({
  name: "createEngineCopy",
  method: "POST",
  path: "/admin/v1/engine-copies",
  takesLong: true,
  summary: "Copies the files of the embedded engine, for rapport backup on the same machine.",
  access: byAdministrator("admin"),
  replies: {
    200: Type.Object({
      folder: Type.String({
        description: "The folder of the copy, on the server's machine.",
        examples: ["/srv/rapport/data/copy-019a8b54-7c1e-7a5b-9f0e-3d2c1b0a9f8e"],
      }),
      message: Success,
    }),
  },
}).handledBy(async (services: CopyServices, context) => ({
  status: 200,
  body: { folder: await copyEngine(services, context), message: "success" },
}));

export const backupEndpoints = [copyEndpoint];
