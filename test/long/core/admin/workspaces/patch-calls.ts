import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import type { TestServer } from "../../../../harness.ts";

/** Calls of the admin API, for tests of PATCH. */
export function patchCalls(server: TestServer) {
  /** A call that must succeed. */
  async function admin(method: string, path: string, body?: unknown): Promise<any> {
    const answer = await server.admin(method, `/admin/v1${path}`, body);
    assert.ok(answer.status < 300, `${method} ${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  }
  /** Sends a PATCH that must be refused with a message that has this part. */
  async function refuses(path: string, body: unknown, part: string, status = 400): Promise<void> {
    const answer = await server.admin("PATCH", `/admin/v1${path}`, body);
    assert.equal(answer.status, status, `${JSON.stringify(body)}: ${JSON.stringify(answer.body)}`);
    const { message } = answer.body as { message: string };
    assert.ok(message.includes(part), `${part} is not in: ${message}`);
  }
  /** @returns the path of a new workspace below /admin/v1. */
  async function newWorkspace(): Promise<string> {
    const path = `/workspaces/${randomUUID()}`;
    await admin("PUT", path, {});
    return path;
  }
  const lastRow = async (query: string) =>
    (await admin("GET", `/audit?limit=1&${query}`)).entries[0];
  return { admin, refuses, newWorkspace, lastRow };
}
