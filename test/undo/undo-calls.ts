/* Merges and their undo in short, and everything that is stored about users, for the tests of undo. */
import assert from "node:assert/strict";
import type { Answer, TestServer, TestWorkspace } from "../harness.ts";

export interface ListedMerge {
  readonly id: string;
  readonly at: string;
  readonly kind: string;
  readonly kept: { readonly platform_id: string; readonly external_id: string | null };
  readonly merged: {
    readonly platform_id: string;
    readonly external_id: string | null;
    readonly user_aliases: readonly unknown[];
  };
  readonly by: string;
  readonly undoable_until: string | null;
  readonly undone_at: string | null;
}

/** Merges, newest first. */
export async function mergesOf(
  server: Pick<TestServer, "admin">,
  { name }: Pick<TestWorkspace, "name">,
  query: Readonly<Record<string, string>> = {},
): Promise<ListedMerge[]> {
  const path = `/admin/v1/workspaces/${name}/merges?${new URLSearchParams(query)}`;
  const { status, body } = await server.admin("GET", path);
  assert.equal(status, 200, JSON.stringify(body));
  return body.merges;
}

export const undo = (
  server: Pick<TestServer, "admin">,
  { name }: Pick<TestWorkspace, "name">,
  id: string,
  body: object = {},
): Promise<Answer<any>> =>
  server.admin("POST", `/admin/v1/workspaces/${name}/merges/${id}/undo`, body);

/** Undoes a merge. @returns the response. */
export async function undone(
  server: Pick<TestServer, "admin">,
  workspace: Pick<TestWorkspace, "name">,
  id: string,
): Promise<any> {
  const { status, body } = await undo(server, workspace, id);
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

/** Asserts a refusal by its code. @returns the response. */
export async function refusesUndo(
  server: Pick<TestServer, "admin">,
  workspace: Pick<TestWorkspace, "name">,
  id: string,
  code: string,
): Promise<any> {
  for (const body of [{ dry_run: true }, {}]) {
    const answer = await undo(server, workspace, id, body);
    assert.equal(answer.status, 409, JSON.stringify(answer.body));
    assert.equal(answer.body.code, code, JSON.stringify(answer.body));
    if (!("dry_run" in body)) return answer.body;
  }
}

type Row = Record<string, any>;

/** What an undo need not restore: versions only grow, and redirects say when they were made last. */
const FREE: Readonly<Record<string, readonly string[]>> = {
  profiles: ["version"],
  merged_profiles: ["merged_at"],
};

/** Tables about users, each with the column that names a user or an address. */
const TABLES: readonly (readonly [table: string, column: string])[] = [
  ["profiles", "profile_id"],
  ["identifiers", "profile_id"],
  ["events", "profile_id"],
  ["event_summaries", "profile_id"],
  ["purchases", "profile_id"],
  ["purchase_summaries", "profile_id"],
  ["app_usages", "profile_id"],
  ["devices", "profile_id"],
  ["interactions", "profile_id"],
  ["message_history", "profile_id"],
  ["group_states", "profile_id"],
  ["group_state_changes", "profile_id"],
  ["merged_profiles", "kept_profile_id"],
  ["email_states", "email"],
  ["email_state_changes", "email"],
];

/**
 * Every row about all users of a workspace. The export, the timelines, the states, their history and the membership in segments
 * are functions of these rows.
 */
export async function rowsOf(
  { database }: Pick<TestServer, "database">,
  { name }: Pick<TestWorkspace, "name">,
): Promise<Record<string, string[]>> {
  const [workspace] = await database.query<{ id: number }>(
    "select workspace_id as id from workspaces where name = $1",
    [name],
  );
  const all: Record<string, string[]> = {};
  for (const [table] of TABLES) {
    const rows = await database.query<{ row: Row }>(
      `select to_jsonb(t) as row from ${table} t where workspace_id = $1`,
      [workspace?.id],
    );
    all[table] = rows
      .map(({ row }) => {
        for (const column of FREE[table] ?? []) delete row[column];
        if (typeof row.revenue === "number") row.revenue = Number(row.revenue);
        return JSON.stringify(row, Object.keys(row).sort().concat(nestedKeys(row)));
      })
      .sort();
  }
  return all;
}

/** The members of nested objects, which a list of names for JSON must have. */
function nestedKeys(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(nestedKeys);
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, each]) => [key, ...nestedKeys(each)]);
}
