/* What the specification allows in one request passes, in any shape: 50 events with 50 KB of properties each. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startServer } from "../../../harness.ts";

const server = await startServer();

const LARGEST_BYTES = 51_200;

/** Shapes with as many values, or levels, as fit. */
const SHAPES: Readonly<Record<string, (index: number) => string>> = {
  "empty objects": () => "{}",
  numbers: () => "1",
  "objects with different names": (index) => `{"${index.toString(36)}":1}`,
  "lists in lists": () => `${"[".repeat(90)}${"]".repeat(90)}`,
};

/** Properties of nearly 50 KB, as compact JSON. */
function propertiesOf(part: (index: number) => string): string {
  const parts: string[] = [];
  let bytes = '{"a":[]}'.length;
  for (let index = 0; ; index++) {
    const next = part(index);
    bytes += Buffer.byteLength(next) + 1;
    if (bytes > LARGEST_BYTES) return `{"a":[${parts.join()}]}`;
    parts.push(next);
  }
}

const eventOf = (properties: string, name = "full") =>
  `{"external_id":"ada","name":"${name}","time":"2026-01-01T00:00:00Z","properties":${properties}}`;

describe("50 events with 50 KB of properties each are stored and read back unchanged", () => {
  for (const [shape, part] of Object.entries(SHAPES)) {
    test(`50 events with 50 KB each of ${shape}`, async () => {
      const workspace = await server.workspace({ settings: { change_feed: true } });
      const properties = propertiesOf(part);
      const raw = `{"events":[${Array(50).fill(eventOf(properties)).join()}]}`;
      const answer = await workspace.track(undefined, { raw });
      assert.equal(answer.status, 201, JSON.stringify(answer.body));
      assert.deepEqual([answer.body.events_processed, answer.body.errors], [50, undefined]);
      const [ada] = await server.database.query<{ events: number; different: number }>(
        `select count(*)::int as events, count(distinct properties)::int as different from events
         where workspace_id = (select workspace_id from workspaces where name = $1)
           and properties = $2::text::jsonb`,
        [workspace.name, properties],
      );
      assert.deepEqual({ ...ada }, { events: 50, different: 1 });
      const feed = await workspace.call<any>("GET", "/changes?cursor=beginning&limit=3");
      const logged = feed.body.changes.find(({ type }: any) => type === "event.logged");
      assert.deepEqual(logged.properties, JSON.parse(properties));
      assert.deepEqual([logged.name, logged.user.external_id], ["full", "ada"]);
    });
  }
});

test("one event of a full request that is too large, or not JSON, is told apart from its neighbours", async () => {
  const workspace = await server.workspace();
  const full = propertiesOf(() => "{}");
  const larger = `{"a":[${Array(LARGEST_BYTES / 2)
    .fill("1")
    .join()}]}`;
  const events = [eventOf(full), eventOf(larger), ...Array(10).fill(eventOf(full))];
  const raw = `{"events":[${events.join()}]}`;
  const { status, body } = await workspace.track(undefined, { raw });
  assert.deepEqual([status, body.events_processed], [201, 11]);
  assert.deepEqual(
    body.errors?.map(({ code, index }) => [code, index]),
    [["PROPERTIES_TOO_LARGE", 1]],
  );
  const broken = await workspace.track(undefined, { raw: raw.replace('"a":', '"a";') });
  assert.equal(broken.status, 400);
  assert.match(broken.body.message, /not valid JSON in the entry that begins at byte 11\b/);
});

test("a request with more values than the specification can need is refused before it is parsed", async () => {
  const workspace = await server.workspace();
  const many = Array(110_000).fill("1").join();
  for (const raw of [
    `{"events":[${eventOf(`{"a":[${many}]}`)}]}`,
    `{"events":[${many}]}`,
    `{"other":{"a":[${many}]},"events":[]}`,
  ]) {
    const { status, body } = await workspace.track(undefined, { raw });
    assert.deepEqual([status, (body as { code?: string }).code], [400, "TOO_MANY_VALUES"]);
  }
});
