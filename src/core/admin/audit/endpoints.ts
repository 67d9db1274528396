import Type, { type Static } from "typebox";
import { readQueryTime } from "../../base/values/query-time.ts";
import { NullableText, named, nullable, succeeding } from "../../base/values/schemas.ts";
import { byAdministrator, endpoint, success, type TextStream } from "../../http/endpoint.ts";
import {
  auditFile,
  type LabelledEntry,
  type NamingServices,
  readAuditChain,
  readAuditLog,
} from "./audit.ts";
import type { StoredEntry } from "./chain.ts";
import type { AuditFilter } from "./store.ts";
import { verifyAudit } from "./verify.ts";

const DEFAULT_LIMIT = 100;

const MOST_ENTRIES = 1_000;

const EXAMPLE_HASH = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

const CHAINED = {
  id: Type.String(),
  at: Type.String({ description: "ISO 8601." }),
  workspace: NullableText,
  action: Type.String(),
  kind: Type.String(),
  name: Type.String({ description: "The name or id of the thing.", examples: ["shop"] }),
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
};

const Chained = Type.Object(CHAINED);

const Entry = named("AuditEntry", {
  ...CHAINED,
  label: nullable(Type.String(), {
    description:
      "The name of the thing if `name` is its id, as this or another entry says it, or the user name of a dashboard user.",
    examples: ["German buyers"],
  }),
});

const Text = (description: string) => Type.Optional(Type.String({ maxLength: 255, description }));

const Filter = Type.Object({
  workspace: Type.Optional(Type.String()),
  kind: Type.Optional(Type.String()),
  name: Text("The whole name or id of the thing."),
  query: Text(
    "A part of the name or id of the thing; upper and lower case are the same. Things with ids are found by their names in the " +
      "latest 100,000 entries, fewer if these have more than about 32 MB.",
  ),
  by: Text(
    "Who: the user name of a person, the name of a key or token, or a kind of actor such as administrator.",
  ),
  since: Text("ISO 8601; included."),
  until: Text("ISO 8601; not included."),
  of: Type.Optional(
    Type.Enum(["changes", "reads"], {
      description: "Only changes, or only reads of personal data; both by default.",
    }),
  ),
});

const filterOf = (
  { workspace, kind, name, of, by, query: text, since, until }: Static<typeof Filter>,
  before?: string,
): AuditFilter => ({
  ...{ workspace, kind, name, of, by, text: text || undefined, before },
  since: readQueryTime("since", since),
  until: readQueryTime("until", until),
});

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
    ...Filter.properties,
    cursor: Type.Optional(Type.String({ format: "uuid" })),
    limit: Limit,
  }),
  replies: succeeding({
    entries: Type.Array(Entry),
    next_cursor: Type.Optional(Type.String()),
  }),
}).handledBy(async (services: NamingServices, _context, { query }) => {
  const { cursor, limit = DEFAULT_LIMIT } = query;
  const { rows, next } = await readAuditLog(services, filterOf(query, cursor), limit);
  return success({ entries: rows.map(viewOf), ...next });
});

const fileEndpoint = endpoint({
  name: "downloadAudit",
  method: "GET",
  path: "/admin/v1/audit.csv",
  summary: "Downloads the audit as CSV, newest first: who changed what, when and from where.",
  takesLong: true,
  streams: true,
  produces: "text/csv",
  access: byAdministrator("manage_company_settings"),
  query: Filter,
  replies: {
    200: Type.Unsafe<TextStream>(
      Type.String({
        description: "No cell runs as a formula in a spreadsheet.",
        examples: ["time,by,from,action,kind,name\n2026-01-01T12:00:00.000Z,ada@acme.example,…\n"],
      }),
    ),
  },
}).handledBy(async (services: NamingServices, _context, { query }) => ({
  status: 200,
  body: auditFile(services, filterOf(query)),
  headers: { "content-disposition": 'attachment; filename="audit.csv"' },
}));

const exportEndpoint = endpoint({
  name: "exportAudit",
  method: "GET",
  path: "/admin/v1/audit/export",
  summary: "Exports the audit as one JSON entry per line, oldest first, for log collectors.",
  description: "A response ends before `limit` entries only at the end of the audit.",
  takesLong: true,
  streams: true,
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
    200: Type.Unsafe<TextStream>(
      Type.String({
        examples: [
          '{"id":"01a202fb-66ac-777b-8c59-a515051d0d42","at":"2026-01-01T12:00:00.000Z","action":"created",…}\n',
        ],
      }),
    ),
  },
}).handledBy(async (services: NamingServices, _context, { query }) => {
  const { after = 0, limit = DEFAULT_LIMIT } = query;
  const since = readQueryTime("since", query.since);
  return { status: 200, body: linesOf(readAuditChain(services, after, since, limit)) };
});

async function* linesOf(pieces: AsyncIterable<readonly StoredEntry[]>): TextStream {
  for await (const rows of pieces) {
    for (const row of rows) yield `${JSON.stringify(chainedOf(row))}\n`;
  }
}

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
  replies: succeeding({
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
          entry: nullable(Chained, { description: "The entry there; null if it was removed." }),
        }),
        Type.Null(),
      ],
      { description: "The first break of the chain; null if it is intact." },
    ),
  }),
}).handledBy(async (services: NamingServices, _context, { query }) => {
  const { head, brokenAt } = await verifyAudit(services, query.expect);
  const broken = brokenAt && { ...brokenAt, entry: brokenAt.entry && chainedOf(brokenAt.entry) };
  const body = { intact: !brokenAt, entries: head.entries, head: head.hash } as const;
  return success({ ...body, broken_at: broken ?? null });
});

/** An entry as it is stored: a collector gets nothing that its hash does not cover. */
const chainedOf = ({ actorName, requestId, ...entry }: StoredEntry): Static<typeof Chained> => ({
  ...entry,
  at: entry.at.toISOString(),
  actor_name: actorName,
  request_id: requestId,
});

const viewOf = ({ label, ...entry }: LabelledEntry): Static<typeof Entry> => ({
  ...chainedOf(entry),
  label,
});

export const auditEndpoints = [listEndpoint, fileEndpoint, exportEndpoint, verifyEndpoint];
