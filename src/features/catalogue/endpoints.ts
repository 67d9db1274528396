import Type from "typebox";
import { type AuditingServices, recordRead } from "../../core/admin/audit/audit.ts";
import { MOST_ELEMENTS } from "../../core/base/context/custom-attribute-bounds.ts";
import {
  NullableText,
  named,
  nullable,
  OfWorkspace,
  succeeding,
  Text,
  TextOrNull,
} from "../../core/base/values/schemas.ts";
import {
  byAdministratorOfWorkspace,
  endpoint,
  success,
  withPermission,
} from "../../core/http/endpoint.ts";
import { CATALOGUE_KINDS, DATA_TYPES } from "./kinds.ts";
import {
  type CatalogueServices,
  listNames,
  pageOfEntries,
  readCatalogue,
} from "./list-catalogue.ts";
import { listOccurrences } from "./list-occurrences.ts";

const Page = Type.Object({
  page: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000, description: "From 0." })),
});

const Cursor = Type.Object({
  cursor: Type.Optional(
    Type.String({ maxLength: 4_096, description: "From the `Link` of another page." }),
  ),
});

const listEvents = endpoint({
  name: "listEventNames",
  method: "GET",
  path: "/events/list",
  summary: "Lists the names of events, 250 a page, in alphabetical order.",
  access: withPermission("events.list"),
  query: Page,
  replies: succeeding({
    events: Type.Array(Type.String({ examples: ["signed_up"] }), { description: "The names." }),
  }),
}).handledBy(async (services: CatalogueServices, context, { query }) => {
  const events = await listNames(services, context, "event", query.page ?? 0);
  return success({ events });
});

const listProducts = endpoint({
  name: "listProducts",
  method: "GET",
  path: "/purchases/product_list",
  summary: "Lists the ids of products that were bought, 250 a page, in alphabetical order.",
  access: withPermission("purchases.product_list"),
  query: Page,
  replies: succeeding({
    products: Type.Array(Type.String({ examples: ["shoes"] }), { description: "The ids." }),
  }),
}).handledBy(async (services: CatalogueServices, context, { query }) => {
  const products = await listNames(services, context, "product", query.page ?? 0);
  return success({ products });
});

/**
 * Fixed fields of every entry in the public lists; nothing in Rapport describes, tags or blocks an
 * entry.
 */
const ALWAYS = { description: null, status: "Active", tag_names: [] };

const Always = {
  description: Type.Null({ description: "Always null: nothing describes it." }),
  status: Text("Always Active.", "Active"),
  tag_names: Type.Array(Type.String(), { description: "Always empty.", examples: [[]] }),
};

const getEvents = endpoint({
  name: "getEvents",
  method: "GET",
  path: "/events",
  summary: "Lists the events, 50 a page; `Link` has the next page.",
  access: withPermission("events.get"),
  query: Cursor,
  replies: succeeding({
    events: Type.Array(
      named("CatalogueEvent", {
        name: Type.String({ examples: ["signed_up"] }),
        included_in_analytics_report: Type.Boolean({ description: "Always false." }),
        ...Always,
      }),
      { description: "The events of the page, in alphabetical order." },
    ),
  }),
}).handledBy(async (services: CatalogueServices, context, { query }) => {
  const { rows, headers } = await pageOfEntries(
    services,
    context,
    "event",
    "/events",
    query.cursor,
  );
  const events = rows.map(({ name }) => ({ name, included_in_analytics_report: false, ...ALWAYS }));
  return { status: 200, headers, body: { events, message: "success" } };
});

const getAttributes = endpoint({
  name: "getCustomAttributes",
  method: "GET",
  path: "/custom_attributes",
  summary: "Lists the custom attributes, 50 a page; `Link` has the next page.",
  access: withPermission("custom_attributes.get"),
  query: Cursor,
  replies: succeeding({
    attributes: Type.Array(
      named("CatalogueAttribute", {
        name: Type.String({ examples: ["plan"] }),
        data_type: nullable(Type.Enum([...DATA_TYPES]), {
          description: "The type most often sent; null if none was since types are counted.",
          examples: ["string"],
        }),
        array_length: nullable(Type.Integer(), {
          description: "For a list, how many values it may have; otherwise null.",
          examples: [null],
        }),
        ...Always,
      }),
      { description: "The attributes of the page, in alphabetical order." },
    ),
  }),
}).handledBy(async (services: CatalogueServices, context, { query }) => {
  const { rows, headers } = await pageOfEntries(
    services,
    context,
    "attribute",
    "/custom_attributes",
    query.cursor,
  );
  const attributes = rows.map(({ name, types }) => ({
    name,
    data_type: types[0]?.type ?? null,
    array_length: types[0]?.type === "array" ? MOST_ELEMENTS : null,
    ...ALWAYS,
  }));
  return { status: 200, headers, body: { attributes, message: "success" } };
});

const TIME = "2026-01-31T12:00:00.000Z";

const catalogue = endpoint({
  name: "getCatalogue",
  method: "GET",
  path: "/admin/v1/workspaces/:name/catalogue",
  summary: "Reads the catalogue of a workspace: events, custom attributes or products, by name.",
  access: byAdministratorOfWorkspace("basic_access"),
  params: OfWorkspace,
  query: Type.Object({
    kind: Type.Enum([...CATALOGUE_KINDS], { description: "What to list." }),
    search: Type.Optional(
      Type.String({ minLength: 1, maxLength: 255, description: "A part of the name." }),
    ),
    cursor: Type.Optional(Type.String({ maxLength: 4_096 })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 250, description: "Default: 50." })),
  }),
  replies: succeeding({
    entries: Type.Array(
      named("CatalogueEntry", {
        name: Type.String({ examples: ["plan"] }),
        seen: Type.Integer({ description: "How often it was sent.", examples: [4210] }),
        first_seen: TextOrNull(
          "The time of the first; null if nothing was sent since names are counted.",
          TIME,
        ),
        last_seen: TextOrNull("The time of the last.", TIME),
        types: Type.Array(
          Type.Object({
            type: Type.Enum([...DATA_TYPES], { description: "A type of values." }),
            seen: Type.Integer({ description: "How often it was sent.", examples: [4210] }),
          }),
          { description: "For an attribute, the most frequent type first; otherwise empty." },
        ),
        days: Type.Array(Type.Integer(), {
          description: "How often it was sent on each of the last 30 days in UTC, today last.",
          examples: [[0, 12, 40]],
        }),
      }),
      { description: "In alphabetical order." },
    ),
    next_cursor: Type.Optional(Type.String()),
  }),
}).handledBy(async (services: CatalogueServices, context, { query }) => {
  const { limit = 50, ...wanted } = query;
  const { entries, next } = await readCatalogue(services, context, { ...wanted, limit });
  const views = entries.map(({ kind: _kind, firstSeen, lastSeen, types, days, ...entry }) => ({
    ...entry,
    first_seen: firstSeen?.toISOString() ?? null,
    last_seen: lastSeen?.toISOString() ?? null,
    types: [...types],
    days: [...days],
  }));
  return success({ entries: views, ...next });
});

const occurrences = endpoint({
  name: "listLatestOccurrences",
  method: "GET",
  path: "/admin/v1/workspaces/:name/catalogue/occurrences",
  summary: "Lists the latest occurrences of an event with their users, at most 20.",
  description:
    "The newest is always there, at most ten seconds after it was sent. Each server process writes down at most ten of an event " +
    "every ten seconds, so that of an event that is sent more often some are left out.",
  access: byAdministratorOfWorkspace("view_user_profile", "view_pii"),
  params: OfWorkspace,
  query: Type.Object({
    event: Type.String({ minLength: 1, maxLength: 255, description: "Its name." }),
  }),
  replies: succeeding({
    occurrences: Type.Array(
      named("LatestOccurrence", {
        time: Text("When it happened.", TIME),
        platform_id: Type.String({ description: "Of the user." }),
        external_id: NullableText,
        email: NullableText,
        first_name: TextOrNull("The first name.", "Ada"),
        last_name: TextOrNull("The last name.", "Lovelace"),
        properties: nullable(Type.Unknown(), { description: "As they were sent." }),
      }),
      { description: "The newest first." },
    ),
  }),
}).handledBy(async (services: CatalogueServices & AuditingServices, context, { query }) => {
  const found = await listOccurrences(services, context, query.event);
  await recordRead(services, context, "latest_occurrences", found.length);
  return success({
    occurrences: found.map(({ profile, time, properties }) => ({
      time: time.toISOString(),
      platform_id: profile.id,
      external_id: profile.externalId,
      email: profile.email,
      first_name: textOf(profile.standardAttributes.first_name),
      last_name: textOf(profile.standardAttributes.last_name),
      properties,
    })),
  });
});

const textOf = (value: unknown): string | null => (typeof value === "string" ? value : null);

export const catalogueEndpoints = [
  listEvents,
  getEvents,
  getAttributes,
  listProducts,
  catalogue,
  occurrences,
];
