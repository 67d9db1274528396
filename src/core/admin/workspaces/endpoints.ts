import Type from "typebox";
import { named, OfWorkspace, OnlySuccess, succeeding } from "../../base/values/schemas.ts";
import {
  byAdministrator,
  byAdministratorOfWorkspace,
  byAnybody,
  endpoint,
  success,
} from "../../http/endpoint.ts";
import {
  type ApplyServices,
  applyManifest,
  type ManifestResources,
  publishedSchema,
} from "./apply-manifest.ts";
import { type DeleteServices, deleteWorkspace } from "./delete-workspace.ts";
import { type ExportManifestServices, exportManifest } from "./export-manifest.ts";
import { type ResetServices, resetWorkspace } from "./reset.ts";
import type { ConfigChange as ManifestChange } from "./resource.ts";

const Change = named("ManifestChange", {
  action: Type.Enum(["created", "updated", "removed"]),
  kind: Type.String(),
  workspace: Type.String(),
  name: Type.String(),
  fields: Type.Optional(
    Type.Array(
      Type.Object({
        field: Type.String({ description: "Its path.", examples: ["settings.time_zone"] }),
        before: Type.Unknown({ description: "The value now." }),
        after: Type.Unknown({ description: "The value afterwards." }),
      }),
      { description: "In a dry run, the fields that an update changes. Secrets are hidden." },
    ),
  ),
});

const applyEndpoint = endpoint({
  name: "applyManifest",
  method: "POST",
  path: "/admin/v1/apply",
  takesLong: true,
  summary: "Applies a manifest.",
  description: "All of it or nothing. An included list replaces what earlier manifests declared.",
  access: byAdministrator("admin"),
  query: Type.Object({
    dry_run: Type.Optional(
      Type.Boolean({ description: "Changes nothing and returns the changes that would be made." }),
    ),
    prune: Type.Optional(
      Type.Boolean({
        description: "Removes what earlier manifests declared in lists that this one omits.",
      }),
    ),
  }),
  body: Type.Object(
    {},
    {
      additionalProperties: true,
      description:
        "A manifest as JSON: `company` and `workspaces`, as `GET /manifest.schema.json` describes them.",
      examples: [
        {
          company: { name: "Acme" },
          workspaces: [
            {
              name: "demo",
              allow_reset: true,
              api_keys: [{ name: "tests", key: "a-key-for-the-tests", permissions: ["all"] }],
              subscription_groups: [
                {
                  id: "ed06e19a-51bb-4c4e-8a3d-9b4a7d3a1c20",
                  name: "Newsletter",
                  channel: "email",
                },
              ],
            },
          ],
        },
      ],
    },
  ),
  replies: succeeding({
    changes: Type.Array(Change),
    notes: Type.Array(Type.String(), {
      description:
        "Differences from the manifest that stay: a key that was rotated since, for example.",
      examples: [[]],
    }),
  }),
}).handledBy(async (services: ApplyServices, context, { body, query }) => {
  const notes: string[] = [];
  const note = (sentence: string) => void notes.push(sentence);
  const options = { dryRun: query.dry_run, prune: query.prune, note };
  const applied = await applyManifest(services, body, context, options);
  const changes = applied.map((change) => viewOf(change, query.dry_run ?? false));
  return success({ changes, notes });
});

const viewOf = ({ action, kind, workspace, name, fields }: ManifestChange, isPreview: boolean) => ({
  action,
  kind,
  workspace,
  name,
  ...(isPreview && fields && { fields: [...fields] }),
});

const schemaEndpoint = endpoint({
  name: "getManifestSchema",
  method: "GET",
  path: "/manifest.schema.json",
  summary: "The JSON Schema of a manifest, for editors.",
  access: byAnybody,
  replies: { 200: Type.Record(Type.String(), Type.Unknown()) },
}).handledBy(async (services: ManifestResources) => ({
  status: 200,
  body: publishedSchema(services),
}));

const resetEndpoint = endpoint({
  name: "resetWorkspace",
  method: "POST",
  path: "/admin/v1/workspaces/:name/reset",
  takesLong: true,
  refusals: ["FORBIDDEN"],
  summary: "Deletes the user data of a workspace that has allow_reset: true.",
  access: byAdministratorOfWorkspace("admin"),
  params: OfWorkspace,
  replies: { 200: OnlySuccess },
}).handledBy(async (services: ResetServices, context) => {
  await resetWorkspace(services, context);
  return success();
});

const deleteEndpoint = endpoint({
  name: "deleteWorkspace",
  method: "DELETE",
  path: "/admin/v1/workspaces/:name",
  takesLong: true,
  refusals: ["NOT_FOUND", "CONFLICT"],
  summary: "Deletes a workspace with everything in it, if it has no users or allow_reset: true.",
  description:
    "Its API keys stop working, on other servers within a second. A manifest that still declares it creates it again, empty.",
  access: byAdministrator("add_remove_app_groups"),
  params: OfWorkspace,
  replies: { 200: OnlySuccess },
}).handledBy(async (services: DeleteServices, context, { params }) => {
  await deleteWorkspace(services, context, params.name);
  return success();
});

const exportEndpoint = endpoint({
  name: "exportManifest",
  method: "GET",
  path: "/admin/v1/workspaces/:name/manifest",
  summary: "Writes the manifest that creates this workspace, with variables in place of secrets.",
  access: byAdministratorOfWorkspace("admin"),
  params: OfWorkspace,
  replies: succeeding({
    manifest: Type.Record(Type.String(), Type.Unknown(), { description: "A manifest." }),
    variables: Type.Array(Type.String(), {
      description: "The environment variables that it needs; the value of DOLLAR is $.",
      examples: [["API_KEY_DEMO_DEV"]],
    }),
  }),
  isHeavy: true,
  budgets: { bytesOut: 64 * 1_048_576 },
}).handledBy(async (services: ExportManifestServices, context) => {
  const { manifest, variables } = await exportManifest(services, context);
  return success({ manifest, variables: [...variables] });
});

export const workspaceEndpoints = [
  applyEndpoint,
  schemaEndpoint,
  resetEndpoint,
  deleteEndpoint,
  exportEndpoint,
];
