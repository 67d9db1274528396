import assert from "node:assert/strict";
import { test } from "node:test";
import {
  createFeedModel,
  type FeedChange,
  shownIn,
} from "../../../../core/people/changes/feed-model.ts";
import { randomCall, seededRandom } from "../../../../core/people/changes/random-changes.ts";
import { startServer } from "../../../../harness.ts";
import { sized } from "../../../../sizes.ts";
import { mergesOf, undo } from "../../../../undo/undo-calls.ts";

const server = await startServer();

const CALLS = sized(200, 3_000);

test("the feed, applied to an empty model, gives the users that an export shows, after concurrent writes of all kinds, read meanwhile and afterwards", async () => {
  const workspace = await server.workspace({ settings: { change_feed: true } });
  let left = CALLS;
  const createReader = () => {
    const seen = new Set<string>();
    const model = createFeedModel();
    let cursor = "beginning";
    const read = async () => {
      for (;;) {
        const { status, body } = await workspace.call<any>(
          "GET",
          `/changes?limit=${1 + (Math.abs(left) % 90)}&cursor=${cursor}`,
        );
        assert.equal(status, 200, JSON.stringify(body));
        for (const change of body.changes) {
          assert.ok(!seen.has(change.id), `twice: ${change.id}`);
          seen.add(change.id);
          model.apply(change as FeedChange);
        }
        cursor = body.cursor;
        if (body.caught_up) return;
      }
    };
    return { read, model };
  };
  const { read, model } = createReader();
  const undoOne = async (random: () => number) => {
    const merges = await mergesOf(server, workspace, { limit: "8" });
    const one = merges[Math.floor(random() * merges.length)];
    if (!one) return;
    const { status, body } = await undo(server, workspace, one.id);
    assert.ok([200, 409, 503].includes(status), JSON.stringify(body));
  };
  const client = async (seed: number) => {
    const random = seededRandom(seed);
    while (left-- > 0) {
      if (random() < 0.1) await undoOne(random);
      const { method, path, body } = randomCall(random, 12);
      const { status, body: answer } = await workspace.call(method, path, body);
      // 503: others change the same users.
      assert.ok(status < 500 || status === 503, `${path}: ${status} ${JSON.stringify(answer)}`);
    }
  };
  const clients = Promise.all(Array.from({ length: 8 }, (_, seed) => client(seed + 1)));
  const reading = (async () => {
    while (left > 0) await read();
  })();
  await Promise.all([clients, reading]);
  await read();
  const response = await fetch(`${server.url}/admin/v1/workspaces/${workspace.name}/export/users`, {
    headers: { authorization: `Bearer ${server.adminToken}` },
  });
  const lines = (await response.text()).split("\n").filter((line) => line !== "");
  const exported = shownIn(
    // The last line says that the export is complete.
    lines.map((line) => JSON.parse(line)).filter(({ platform_id }) => platform_id),
  );
  assert.ok(Object.keys(exported).length > 0);
  assert.deepEqual(model.view(), exported);

  // A new reader does not see the activity of deleted users.
  const late = createReader();
  await late.read();
  assert.deepEqual(late.model.view(), exported);
});
