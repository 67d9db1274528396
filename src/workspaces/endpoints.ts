import Type from "typebox";
import { originOf } from "../audit/audit.ts";
import { byAdministrator, byAnybody, endpoint } from "../http/endpoint.ts";
import { type ApplyServices, applyManifest, publishedSchema, type Sections } from "./apply.ts";
import { type ResetServices, resetWorkspace } from "./reset.ts";
import type { Change as ManifestChange } from "./section.ts";

const Change = Type.Object({
  action: Type.Enum(["created", "updated", "removed"]),
  kind: Type.String(),
  workspace: Type.String(),
  name: Type.String(),
});

const applyEndpoint = endpoint({
  method: "POST",
  path: "/admin/v1/apply",
  summary: "Makes the workspaces what a manifest says.",
  access: byAdministrator,
  body: Type.Object({}, { description: "A manifest as JSON." }),
  replies: {
    200: Type.Object({ changes: Type.Array(Change), message: Type.Literal("success") }),
  },
}).handledBy(async (services: ApplyServices, _nobody, { body, call }) => {
  const changes = await applyManifest(services, body, originOf(call));
  return { status: 200, body: { changes: changes.map(withoutDetails), message: "success" } };
});

const withoutDetails = ({ details: _details, ...change }: ManifestChange) => change;

const schemaEndpoint = endpoint({
  method: "GET",
  path: "/manifest.schema.json",
  summary: "The JSON Schema of a manifest, for editors.",
  access: byAnybody,
  replies: { 200: Type.Record(Type.String(), Type.Unknown()) },
}).handledBy(async (services: Sections) => ({ status: 200, body: publishedSchema(services) }));

const resetEndpoint = endpoint({
  method: "POST",
  path: "/admin/v1/workspaces/:name/reset",
  summary: "Empties a workspace of its user data, where its manifest allows it.",
  access: byAdministrator,
  params: Type.Object({ name: Type.String() }),
  replies: { 200: Type.Object({ message: Type.Literal("success") }) },
}).handledBy(async (services: ResetServices, _nobody, { params, call }) => {
  await resetWorkspace(services, params.name, originOf(call));
  return { status: 200, body: { message: "success" } };
});

export const workspaceEndpoints = [applyEndpoint, schemaEndpoint, resetEndpoint];
