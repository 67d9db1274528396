import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startServer } from "../../harness.ts";

const server = await startServer();
const workspace = await server.workspace();

describe("POST /users/track", () => {
  test("the data of an acknowledged track request is visible to the next request", async () => {
    const answer = await workspace.track({
      attributes: [{ external_id: "ada", first_name: "Ada", plan: "pro" }],
      events: [{ external_id: "ada", name: "signed_up", time: "2026-01-01T12:00:00Z" }],
    });
    assert.equal(answer.status, 201);
    assert.deepEqual(answer.body, {
      attributes_processed: 1,
      events_processed: 1,
      message: "success",
    });
    const ada = await workspace.profile({ external_ids: ["ada"] });
    assert.equal(ada.first_name, "Ada");
    assert.deepEqual(ada.custom_attributes, { plan: "pro" });
    assert.equal(ada.custom_events[0].count, 1);
  });
});
