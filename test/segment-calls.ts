import assert from "node:assert/strict";
import type { Answer, TestServer, TestWorkspace } from "./harness.ts";

/** Sends a request about the segments of a workspace, with the admin token. */
export const ask = (
  server: TestServer,
  workspace: TestWorkspace,
  what: string,
  body: unknown,
): Promise<Answer<any>> =>
  server.admin("POST", `/admin/v1/workspaces/${workspace.name}/segments/${what}`, body);

/** The external_ids of all users who meet a filter, sorted. */
export async function membersOf(
  server: TestServer,
  workspace: TestWorkspace,
  filter: unknown,
): Promise<string[]> {
  const names: string[] = [];
  for (let cursor: string | null = null; ; ) {
    const { status, body } = await ask(server, workspace, "users", {
      filter,
      limit: 1_000,
      cursor,
    });
    assert.equal(status, 200, `${JSON.stringify(filter)}: ${JSON.stringify(body)}`);
    names.push(...body.users.map((user: { external_id: string }) => user.external_id));
    if (body.cursor === null) return names.sort();
    cursor = body.cursor;
  }
}

/** Declares a segment. */
export const declare = (
  server: TestServer,
  workspace: TestWorkspace,
  id: string,
  segment: Record<string, unknown>,
): Promise<Answer<any>> =>
  server.admin("PUT", `/admin/v1/workspaces/${workspace.name}/segments/${id}`, segment);

/** Waits for a response that must be a success. @returns its body. */
export async function succeeds<Body>(sent: Promise<Answer<Body>>): Promise<Body> {
  const { status, body } = await sent;
  assert.ok(status < 300, `${status} ${JSON.stringify(body)}`);
  assert.equal(Object(body).errors, undefined, JSON.stringify(body));
  return body;
}
