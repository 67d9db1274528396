import type { Context } from "../context/context.ts";
import type { Queryable, Transaction } from "../database/database.ts";
import type { AuditedChange } from "./change.ts";

export async function insertEntries(
  tx: Transaction,
  context: Context,
  entries: readonly (AuditedChange & { readonly id: string })[],
  now: Date,
): Promise<void> {
  await tx.query(
    `insert into audit_entries (entry_id, at, workspace, action, kind, name, details,
       actor, actor_name, call, request_id, address)
     select id, $1, workspace, action, kind, name, details::jsonb, $2, $3, $4, $5, $6
     from unnest($7::uuid[], $8::text[], $9::text[], $10::text[], $11::text[], $12::text[])
       as new (id, workspace, action, kind, name, details)`,
    [
      now,
      context.actor,
      context.actorName,
      context.call || null,
      context.requestId || null,
      context.address,
      entries.map((entry) => entry.id),
      entries.map((entry) => entry.workspace || null),
      entries.map((entry) => entry.action),
      entries.map((entry) => entry.kind),
      entries.map((entry) => entry.name),
      entries.map((entry) => entry.details && JSON.stringify(entry.details)),
    ],
  );
}

export interface AuditEntry extends Omit<AuditedChange, "workspace" | "details"> {
  readonly id: string;
  readonly at: Date;
  readonly workspace: string | null;
  readonly details: Readonly<Record<string, unknown>> | null;
  readonly actor: Context["actor"];
  readonly actorName: string | null;
  readonly call: string | null;
  readonly requestId: string | null;
  readonly address: string | null;
}

export interface AuditFilter {
  readonly workspace: string | undefined;
  readonly kind: string | undefined;
  readonly name: string | undefined;
  /** Only entries that are older than this one. */
  readonly before: string | undefined;
}

/** The newest entries that match a filter, newest first. */
export async function selectEntries(
  database: Queryable,
  filter: AuditFilter,
  limit: number,
): Promise<AuditEntry[]> {
  return database.query<AuditEntry>(
    `select entry_id as id, at, workspace, action, kind, name, details, actor,
       actor_name as "actorName", call, request_id as "requestId", address
     from audit_entries
     where ($1::text is null or workspace = $1) and ($2::text is null or kind = $2)
       and ($3::text is null or name = $3) and ($4::uuid is null or entry_id < $4)
     order by entry_id desc limit $5`,
    [
      filter.workspace ?? null,
      filter.kind ?? null,
      filter.name ?? null,
      filter.before ?? null,
      limit,
    ],
  );
}
