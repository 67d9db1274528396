import Type, { type Static } from "typebox";
import type { Database } from "../database/database.ts";
import { byAdministrator, endpoint } from "../http/endpoint.ts";
import { type AuditEntry, readAuditLog } from "./audit.ts";

const DEFAULT_LIMIT = 100;

const Nullable = Type.Union([Type.String(), Type.Null()]);

const Entry = Type.Object({
  id: Type.String(),
  at: Type.String({ description: "ISO 8601." }),
  workspace: Nullable,
  action: Type.String(),
  kind: Type.String(),
  name: Type.String(),
  details: Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()]),
  actor: Type.String({ description: "administrator, key, server …" }),
  actor_name: Nullable,
  call: Nullable,
  request_id: Nullable,
  address: Nullable,
});

const listEndpoint = endpoint({
  method: "GET",
  path: "/admin/v1/audit",
  summary: "Lists who changed what, when and from where, newest first.",
  access: byAdministrator,
  query: Type.Object({
    workspace: Type.Optional(Type.String()),
    kind: Type.Optional(Type.String()),
    name: Type.Optional(Type.String()),
    cursor: Type.Optional(
      Type.String({ format: "uuid", description: "The next_cursor of the previous page." }),
    ),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, default: DEFAULT_LIMIT })),
  }),
  replies: {
    200: Type.Object({
      entries: Type.Array(Entry),
      next_cursor: Type.Optional(Type.String()),
      message: Type.Literal("success"),
    }),
  },
}).handledBy(async (services: { readonly database: Database }, _context, { query }) => {
  const { cursor: before, limit = DEFAULT_LIMIT, workspace, kind, name } = query;
  const filter = { workspace, kind, name, before };
  const { rows, next } = await readAuditLog(services, filter, limit);
  return { status: 200, body: { entries: rows.map(viewOf), ...next, message: "success" } };
});

const viewOf = ({ actorName, requestId, ...entry }: AuditEntry): Static<typeof Entry> => ({
  ...entry,
  at: entry.at.toISOString(),
  actor_name: actorName,
  request_id: requestId,
});

export const auditEndpoints = [listEndpoint];
