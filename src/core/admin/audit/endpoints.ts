import Type, { type Static } from "typebox";
import { Problem } from "../../base/problem.ts";
import { NullableText, named, nullable, Success } from "../../base/values/schemas.ts";
import { parseTime } from "../../base/values/times.ts";
import type { Database } from "../../database/database.ts";
import { byAdministrator, endpoint, success } from "../../http/endpoint.ts";
import { readAuditChain, readAuditLog } from "./audit.ts";
import type { StoredEntry } from "./chain.ts";
import { verifyAudit } from "./verify.ts";

const DEFAULT_LIMIT = 100;

const MOST_ENTRIES = 1_000;

const EXAMPLE_HASH = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

const Entry = named("AuditEntry", {
  id: Type.String(),
  at: Type.String({ description: "ISO 8601." }),
  workspace: NullableText,
  action: Type.String(),
  kind: Type.String(),
  name: Type.String(),
  details: nullable(Type.Record(Type.String(), Type.Unknown())),
  actor: Type.String({ description: "administrator, key, server …" }),
  actor_name: NullableText,
  call: NullableText,
  request_id: NullableText,
  address: NullableText,
  position: nullable(Type.Integer(), {
    description:
      "The position in the chain, from 1; null for entries written before the chain existed.",
  }),
  hash: nullable(Type.String(), {
    description: "Covers the entry and the hash before it.",
    examples: [EXAMPLE_HASH],
  }),
});

type Services = { readonly database: Database };

const Limit = Type.Optional(
  Type.Integer({ minimum: 1, maximum: MOST_ENTRIES, default: DEFAULT_LIMIT }),
);

const listEndpoint = endpoint({
  name: "listAudit",
  method: "GET",
  path: "/admin/v1/audit",
  summary: "Lists the audit: who changed what, when and from where, newest first.",
  access: byAdministrator("manage_company_settings"),
  query: Type.Object({
    workspace: Type.Optional(Type.String()),
    kind: Type.Optional(Type.String()),
    name: Type.Optional(Type.String()),
    of: Type.Optional(
      Type.Enum(["changes", "reads"], {
        description: "Only changes, or only reads of personal data; both by default.",
      }),
    ),
    cursor: Type.Optional(Type.String({ format: "uuid" })),
    limit: Limit,
  }),
  replies: {
    200: Type.Object({
      entries: Type.Array(Entry),
      next_cursor: Type.Optional(Type.String()),
      message: Success,
    }),
  },
}).handledBy(async (services: Services, _context, { query }) => {
  const { cursor: before, limit = DEFAULT_LIMIT, workspace, kind, name, of } = query;
  const filter = { workspace, kind, name, of, before };
  const { rows, next } = await readAuditLog(services, filter, limit);
  return success({ entries: rows.map(viewOf), ...next });
});

const exportEndpoint = endpoint({
  name: "exportAudit",
  method: "GET",
  path: "/admin/v1/audit/export",
  summary: "Exports the audit as one JSON entry per line, oldest first, for log collectors.",
  access: byAdministrator("manage_company_settings"),
  query: Type.Object({
    after: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description: "The position of the last entry already read; only later ones are returned.",
      }),
    ),
    since: Type.Optional(Type.String()),
    limit: Limit,
  }),
  produces: "application/x-ndjson",
  replies: {
    200: Type.String({
      examples: [
        '{"id":"01a202fb-66ac-777b-8c59-a515051d0d42","at":"2026-01-01T12:00:00.000Z","action":"created",…}\n',
      ],
    }),
  },
}).handledBy(async (services: Services, _context, { query }) => {
  const { after = 0, limit = DEFAULT_LIMIT } = query;
  const since = query.since === undefined ? undefined : parseTime(query.since);
  if (query.since !== undefined && !since) {
    throw new Problem("INVALID_REQUEST", "'since' must be a time in ISO 8601.");
  }
  const rows = await readAuditChain(services, after, since, limit);
  return { status: 200, body: rows.map((row) => `${JSON.stringify(viewOf(row))}\n`).join("") };
});

const verifyEndpoint = endpoint({
  name: "verifyAudit",
  method: "GET",
  path: "/admin/v1/audit/verify",
  summary: "Checks that no entry of the audit was changed, removed or inserted.",
  access: byAdministrator("manage_company_settings"),
  query: Type.Object({
    expect: Type.Optional(
      Type.String({
        pattern: "^[0-9a-f]{64}$",
        examples: [EXAMPLE_HASH],
        description: "A head that was printed earlier; the chain must still contain it.",
      }),
    ),
  }),
  takesLong: true,
  replies: {
    200: Type.Object({
      intact: Type.Boolean({ description: "Whether every entry is unchanged." }),
      entries: Type.Integer({ description: "How many entries the chain has." }),
      head: Type.String({
        description: "The hash of the last entry; keep it elsewhere.",
        examples: [EXAMPLE_HASH],
      }),
      broken_at: Type.Union(
        [
          Type.Object({
            position: Type.Integer({ description: "The position of the first break." }),
            message: Type.String(),
            entry: nullable(Entry, { description: "The entry there; null if it was removed." }),
          }),
          Type.Null(),
        ],
        { description: "The first break of the chain; null if it is intact." },
      ),
      message: Success,
    }),
  },
}).handledBy(async (services: Services, _context, { query }) => {
  const { head, brokenAt } = await verifyAudit(services, query.expect);
  const broken = brokenAt && { ...brokenAt, entry: brokenAt.entry && viewOf(brokenAt.entry) };
  const body = { intact: !brokenAt, entries: head.entries, head: head.hash } as const;
  return success({ ...body, broken_at: broken ?? null });
});

const viewOf = ({ actorName, requestId, ...entry }: StoredEntry): Static<typeof Entry> => ({
  ...entry,
  at: entry.at.toISOString(),
  actor_name: actorName,
  request_id: requestId,
});

export const auditEndpoints = [listEndpoint, exportEndpoint, verifyEndpoint];
