import type { paths } from "../../../client/src/schema.ts";
import { hooks, type Schemas } from "./client.ts";
import { useHereWith } from "./workspace.ts";

/* What a workspace holds by name: events, attributes and products. */

const CATALOGUE = "/admin/v1/workspaces/{name}/catalogue";

export type CatalogueEntry = Schemas["CatalogueEntry"];
export type CatalogueKind = paths[typeof CATALOGUE]["get"]["parameters"]["query"]["kind"];

export const useCatalogue = (kind: CatalogueKind, search: string) =>
  hooks.useQuery("get", CATALOGUE, useHereWith({ kind, limit: 250, ...(search && { search }) }));
