import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { startServer, type TestWorkspace } from "../../harness.ts";

const server = await startServer();

const names = (count: number) => Array.from({ length: count }, (_, index) => `user-${index}`);

/** Users with this many characters of attributes each. */
async function makeLarge(workspace: TestWorkspace, count: number, characters: number) {
  const notes = Object.fromEntries(
    Array.from({ length: characters / 250 }, (_, index) => [`note_${index}`, "x".repeat(250)]),
  );
  for (let from = 0; from < count; from += 10) {
    const batch = names(count).slice(from, from + 10);
    const attributes = batch.map((external_id) => ({ external_id, ...notes }));
    assert.equal((await workspace.track({ attributes })).body.errors, undefined);
  }
}

/** The response to each request when it is sent by itself, and when all are sent at once. */
async function bothWays(workspace: TestWorkspace, requests: readonly object[]) {
  const send = (request: object) => workspace.call("POST", "/users/export/ids", request);
  const oneByOne: unknown[] = [];
  for (const request of requests) oneByOne.push((await send(request)).body);
  // The first time opens the connections, one after the other.
  await Promise.all(requests.map(send));
  const atOnce = await Promise.all(requests.map(send));
  return { oneByOne, atOnce: atOnce.map(({ body }) => body) };
}

describe("exports that arrive at the same time", () => {
  let workspace: TestWorkspace;
  before(async () => {
    workspace = await server.workspace();
    const attributes = names(50).map((external_id, index) => ({
      external_id,
      first_name: `Ada ${index}`,
      email: `shared-${index % 3}@example.com`,
    }));
    const events = names(50).map((external_id, index) => ({
      external_id,
      name: `seen_${index % 5}`,
      time: new Date(Date.UTC(2026, 0, 1, 0, index)).toISOString(),
    }));
    for (const sent of [{ attributes }, { events }]) {
      assert.equal((await workspace.track(sent)).body.errors, undefined);
    }
  });

  test("each return the same as alone: their users in order, their fields and their unknown ids", async () => {
    const requests = [
      ...Array.from({ length: 20 }, (_, index) => ({
        external_ids: [...names(50).slice(index, index + 30), `nobody-${index}`],
      })),
      { external_ids: ["user-1", "user-1", "user-2"], fields_to_export: ["external_id"] },
      { external_ids: "user-3", fields_to_export: ["email", "email_subscribe", "custom_events"] },
      { external_ids: ["nobody"] },
      { email_address: "shared-1@example.com" },
      { external_ids: ["user-4"], fields_to_export: ["external_id", "recent_activity"] },
    ];
    const { oneByOne, atOnce } = await bothWays(workspace, requests);
    assert.deepEqual(atOnce, oneByOne);
  });

  test("return the same as alone if they are too large to be read together", async () => {
    const large = await server.workspace();
    await makeLarge(large, 50, 20_000);
    const requests = Array.from({ length: 6 }, (_, index) => ({
      external_ids: names(50).slice(index, index + 45),
      fields_to_export: ["external_id", "custom_attributes"],
    }));
    const { oneByOne, atOnce } = await bothWays(large, requests);
    assert.deepEqual(atOnce, oneByOne);
  });

  test("do not fail with the one among them that is over the budget of an export", async () => {
    const large = await server.workspace();
    await makeLarge(large, 50, 90_000);
    const send = (request: object) => large.call("POST", "/users/export/ids", request);
    const answers = await Promise.all([
      send({ external_ids: names(50) }),
      send({ external_ids: ["user-1", "nobody"], fields_to_export: ["external_id"] }),
    ]);
    assert.deepEqual(
      answers.map(({ status }) => status),
      [400, 201],
    );
    const { users, invalid_user_ids } = answers[1].body as Record<string, unknown>;
    assert.deepEqual([users, invalid_user_ids], [[{ external_id: "user-1" }], ["nobody"]]);
  });
});
