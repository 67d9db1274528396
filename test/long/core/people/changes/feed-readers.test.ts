/* Many readers of one feed share its reads (docs/decisions/change-feed.md). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { startServer, type TestWorkspace } from "../../../../harness.ts";

const server = await startServer();

const withFeed = () => server.workspace({ settings: { change_feed: true } });

const read = async (workspace: TestWorkspace, query: string): Promise<any> => {
  const { status, body } = await workspace.call<any>("GET", `/changes?${query}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body;
};

const TYPES = ["user.created", "event.logged", "purchase.logged", "user.deleted"];

/** Some of everything, about two users, in several commits. */
async function write(workspace: TestWorkspace, turn: number): Promise<void> {
  const time = "2026-01-01T00:00:00Z";
  await workspace.track({
    attributes: [{ external_id: `new${turn}`, n: turn }],
    events: [{ external_id: "ada", name: `e${turn}`, time }],
  });
  const price = { currency: "EUR", price: 1, time };
  await workspace.track({ purchases: [{ external_id: "bob", product_id: "p", ...price }] });
}

/** Reads on, page by page, until nothing more comes once all is written. */
async function readAll(
  workspace: TestWorkspace,
  cursor: string,
  query: string,
  isWritten: () => boolean,
): Promise<any[]> {
  const changes: any[] = [];
  let page = await read(workspace, `${query}&cursor=${cursor}`);
  for (let isLast = isWritten(); ; ) {
    changes.push(...page.changes);
    if (isLast && page.caught_up && page.changes.length === 0) return changes;
    isLast = isWritten();
    page = await read(workspace, `${query}&cursor=${page.cursor}`);
  }
}

/** Changes have an order for each user. */
const byUser = (changes: readonly any[]) =>
  [...new Set(changes.map(({ user }) => user?.platform_id))]
    .sort()
    .map((id) => changes.filter(({ user }) => user?.platform_id === id));

test("readers that wait together with different types, users and limits each get all of what they asked for, once and in order", async () => {
  const workspace = await withFeed();
  await write(workspace, 0);
  const { cursor } = await read(workspace, "");
  const whole = await read(workspace, "cursor=beginning");
  const idOf = (name: string) =>
    whole.changes.find(({ user }: any) => user?.external_id === name).user.platform_id;
  const [ada, bob] = [idOf("ada"), idOf("bob")];
  const filters = [
    ...["", `user=${ada.toUpperCase()}`, `user=${bob}`, `user=${bob}&types=event.logged`],
    ...TYPES.map((type) => `types=${type}`),
    `types=${TYPES.slice(0, 2).join()}`,
  ];
  const queries = filters.flatMap((filter) => [1, 2, 7, 1_000].map((n) => `${filter}&limit=${n}`));
  let isWritten = false;
  const reading = queries.map((query) =>
    readAll(workspace, cursor, `${query}&wait_s=1`, () => isWritten),
  );
  for (let turn = 1; turn <= 8; turn++) {
    await write(workspace, turn);
    await sleep(10 * (turn % 3));
  }
  isWritten = true;
  const all = await readAll(workspace, cursor, "", () => true);
  for (const [index, found] of (await Promise.all(reading)).entries()) {
    const query = new URLSearchParams(queries[index]);
    const types = query.get("types")?.split(",");
    const user = query.get("user")?.toLowerCase();
    const wanted = all.filter(
      (change) =>
        (types?.includes(change.type) ?? true) &&
        (user === undefined || change.user?.platform_id === user),
    );
    assert.deepEqual(byUser(found), byUser(wanted), queries[index]);
  }
});

test("a reader with an outdated cursor gets 410 beside others that wait", async () => {
  const workspace = await withFeed();
  await write(workspace, 0);
  const { cursor } = await read(workspace, "");
  const waiting = read(workspace, "wait_s=30");
  const ahead = cursor.replace(/\w+$/, "zzzz");
  const refused = await workspace.call<any>("GET", `/changes?wait_s=30&cursor=${ahead}`);
  assert.equal(refused.status, 410);
  await write(workspace, 1);
  assert.ok((await waiting).changes.length > 0);
});

test("readers whose types do not come wait to the end, and then continue where the feed is", async () => {
  const workspace = await withFeed();
  const cursors = await Promise.all(
    Array.from({ length: 50 }, () => read(workspace, "wait_s=1&types=sync.finished")),
  );
  await write(workspace, 1);
  const [first] = cursors;
  assert.ok(
    cursors.every(({ cursor, changes }) => changes.length === 0 && cursor === first.cursor),
  );
  const waiting = Array.from({ length: 50 }, () =>
    read(workspace, `wait_s=1&types=sync.finished&cursor=${first.cursor}`),
  );
  await write(workspace, 2);
  const { cursor } = await read(workspace, "");
  for (const page of await Promise.all(waiting)) {
    assert.deepEqual(page, { changes: [], cursor, caught_up: true });
  }
});
