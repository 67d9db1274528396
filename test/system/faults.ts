/* The common parts of every fault of docs/operations/faults.md: how requests fail, and the recovery afterwards. */
import assert from "node:assert/strict";
import type { TestServer, TestWorkspace } from "../harness.ts";
import { until } from "../until.ts";

export interface Fault {
  begin(): Promise<void>;
  end(): Promise<void>;
  /** The expected message of /health/ready meanwhile. */
  readonly says: RegExp;
  /** The body of a request meanwhile; by default a user with an event. */
  readonly body?: object;
}

const eventOf = (external_id: string) => ({
  events: [{ external_id, name: "came", time: "2026-01-01T00:00:00Z" }],
});

/**
 * Writes before, during and after a fault. During it requests get 503 with Retry-After (how soon: test/limits),
 * and health names the failing part; afterwards the server recovers by itself, and every
 * acknowledged write is there.
 */
export async function assertSurvives(server: TestServer, fault: Fault): Promise<void> {
  const workspace = await server.workspace();
  const acknowledged: string[] = [];
  const write = async (id: string, body: object = eventOf(id)) => {
    const answer = await workspace.track(body);
    if (answer.status === 201) acknowledged.push(id);
    return answer;
  };
  for (let user = 0; user < 5; user++) assert.equal((await write(`before-${user}`)).status, 201);

  await fault.begin();
  const during = await Promise.all([1, 2, 3].map((user) => write(`during-${user}`, fault.body)));
  for (const { status, headers, body } of during) {
    assert.equal(status, 503, JSON.stringify(body));
    assert.match(headers.get("retry-after") ?? "", /^[1-9]\d*$/);
  }
  const ready = await server.send("GET", "/health/ready");
  assert.equal(ready.status, 503);
  assert.match(ready.body.message, fault.says);
  assert.equal((await server.send("GET", "/health/live")).status, 200);

  await fault.end();
  await untilReady(server);
  // Ready means ready, on every connection.
  const after = await Promise.all([1, 2, 3, 4, 5, 6].map((user) => write(`after-${user}`)));
  for (const { status, body } of after) assert.equal(status, 201, JSON.stringify(body));
  await assertKept(workspace, acknowledged);
}

/** Waits until a server, left alone, accepts requests again. */
export async function untilReady(server: TestServer): Promise<void> {
  await until(async () => (await server.send("GET", "/health/ready")).status === 200);
}

/** Every user that was acknowledged is there, with one event. */
export async function assertKept(workspace: TestWorkspace, ids: readonly string[]): Promise<void> {
  const found = await workspace.profiles({ external_ids: ids });
  const counts = new Map(found.map((user) => [user.external_id, user.custom_events[0]?.count]));
  assert.deepEqual([...counts].sort(), ids.map((id) => [id, 1]).sort());
}
