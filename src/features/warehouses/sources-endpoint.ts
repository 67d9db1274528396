import Type, { type TProperties } from "typebox";
import { actsForCompany } from "../../core/base/context/context.ts";
import { named, OfWorkspace, succeeding, Text } from "../../core/base/values/schemas.ts";
import type { Database } from "../../core/database/database.ts";
import {
  byAdministrator,
  byAdministratorOfWorkspace,
  endpoint,
  success,
} from "../../core/http/endpoint.ts";
import { selectConnectionsOf } from "./connection-store.ts";
import { connectionSettingsOf, KINDS } from "./sources/kinds.ts";

/* Describes the form of an integration: the connections of the workspace, and the settings of every kind. */

const Setting = named("SourceSetting", {
  name: Type.String({ description: "The name of the setting." }),
  description: Text("What it holds.", "A table or view, such as public.crm_users."),
  required: Type.Boolean({ description: "Whether it must be given." }),
  secret: Type.Boolean({ description: "Whether it is sealed, and never shown." }),
  options: Type.Array(Type.String({ examples: ["parquet"] }), {
    description: "Its values, if there are only some.",
  }),
  listed: Type.Boolean({ description: "Whether listSourceTables lists its values." }),
});

const Settings = (description: string) => Type.Array(Setting, { description });

const settingsOf = (properties: TProperties, secrets: readonly string[], listed?: string) =>
  Object.entries(properties).map(([name, schema]) => {
    const { description = "", enum: options = [] } = schema as {
      description?: string;
      enum?: string[];
    };
    return {
      name,
      description,
      required: !Type.IsOptional(schema),
      secret: secrets.includes(name),
      options,
      listed: name === listed,
    };
  });

const Kinds = Type.Array(
  named("SourceKind", {
    type: Type.String({ description: "The value of `type`." }),
    label: Text("The name of the product.", "PostgreSQL"),
    connection: Settings("How the warehouse is reached."),
    place: Settings("What a place means there."),
  }),
  { description: "The kinds of warehouses with their settings." },
);

const allKinds = () =>
  KINDS.map((kind) => ({
    type: kind.type,
    label: kind.label,
    connection: settingsOf(connectionSettingsOf(kind), kind.secrets),
    place: settingsOf(kind.place, [], Object.keys(kind.place)[0]),
  }));

const kindsEndpoint = endpoint({
  method: "GET",
  path: "/admin/v1/source-kinds",
  summary: "Lists the kinds of warehouses that a connection may have, with their settings.",
  name: "listSourceKinds",
  access: byAdministrator("manage_company_settings"),
  replies: succeeding({ kinds: Kinds }),
}).handledBy(async () => success({ kinds: allKinds() }));

const sourcesEndpoint = endpoint({
  method: "GET",
  path: "/admin/v1/workspaces/:name/sources",
  summary:
    "Lists what integrations of a workspace may read: its connections, and the kinds of warehouses.",
  name: "listSources",
  access: byAdministratorOfWorkspace("manage_external_integrations"),
  params: OfWorkspace,
  replies: succeeding({
    connections: Type.Array(
      named("UsableConnection", {
        name: Type.String({ description: "The name of the connection." }),
        type: Type.String({ description: "The kind of warehouse." }),
      }),
      { description: "The connections that list the workspace." },
    ),
    kinds: Kinds,
    inline: Type.Boolean({
      description: "Whether the caller may declare a warehouse inline, without a connection.",
    }),
  }),
}).handledBy(async ({ database }: { readonly database: Database }, context) => {
  const usable = await selectConnectionsOf(database, context.workspace.id);
  const connections = usable.map(({ name, type }) => ({ name, type }));
  const inline = actsForCompany(context);
  return success({ connections, kinds: allKinds(), inline });
});

export const sourceEndpoints = [sourcesEndpoint, kindsEndpoint];
