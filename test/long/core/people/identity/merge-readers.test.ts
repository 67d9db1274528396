/* What others read of two users while they are merged, through the same server and through another one. docs/scaling.md */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import {
  id,
  makeUsers,
  merge,
  newAliases,
  succeeds,
} from "../../../../core/people/identity/identity-calls.ts";
import {
  ENGINE,
  NEWSLETTER,
  startOwnServer,
  type TestServer,
  type TestWorkspace,
  workspaceAt,
} from "../../../../harness.ts";
import { sized } from "../../../../sizes.ts";

const isCluster = Boolean(process.env.TEST_CITUS_WORKERS);

const MERGES = sized(8, 100);

/** How many requests read the users of a merge at the same time. */
const READERS = 4;

interface Pair {
  readonly merged: string;
  readonly kept: string;
  readonly keptId: string;
}

interface Read {
  readonly isAfter: boolean;
  readonly view: string;
}

const server = await startOwnServer();
// An embedded engine has one server.
const other =
  ENGINE === "embedded"
    ? server
    : await startOwnServer({ databaseUrl: server.config.databaseUrl as string });

const eventsOf = (user: Record<string, any>) =>
  Object.fromEntries(user.custom_events.map((each: any) => [each.name, each.count]));

/** What one request shows of the two users, in a form that can be compared. */
type Show = (at: TestServer, workspace: TestWorkspace, pair: Pair) => Promise<unknown>;

const SHOWN: readonly Show[] = [
  async (at, workspace, { merged, kept }) => {
    const users = await workspaceAt(at.url, workspace).profiles({ external_ids: [merged, kept] });
    return users
      .map((user) => [
        user.external_id,
        eventsOf(user),
        user.purchases.map((each: any) => [each.name, each.count]).sort(),
        user.custom_attributes,
        user.user_aliases,
        user.subscription_groups.map((each: any) => each.status),
      ])
      .sort();
  },
  async (at, { name }, { keptId }) => {
    const { status, body } = await at.admin("GET", `/admin/v1/workspaces/${name}/users/${keptId}`);
    assert.equal(status, 200, JSON.stringify(body));
    const { user, counts, redirects, subscriptions } = body;
    return [eventsOf(user), user.custom_attributes, counts, redirects, subscriptions.groups.length];
  },
  async (at, { name }, { keptId }) => {
    const path = `/admin/v1/workspaces/${name}/users/${keptId}/timeline`;
    const { status, body } = await at.admin("GET", path);
    assert.equal(status, 200, JSON.stringify(body));
    return body.entries.map((entry: any) => entry.type);
  },
];

async function makePair(workspace: TestWorkspace, number: number): Promise<Pair> {
  const [merged, kept] = [`merged-${number}`, `kept-${number}`];
  await makeUsers(
    workspace,
    { ...id(merged), email: `${merged}@example.com`, color: "red" },
    { ...id(kept), email: `${kept}@example.com`, size: 2 },
  );
  const bought = { product_id: "shoe", currency: "EUR", price: 1, time: "2026-01-01T12:00:00Z" };
  const purchases = [merged, kept, merged].map((each) => ({ ...id(each), ...bought }));
  assert.equal((await workspace.track({ purchases })).status, 201);
  await succeeds(newAliases(workspace, { ...id(merged), alias_name: merged, alias_label: "l" }));
  const state = { subscription_group_id: NEWSLETTER, subscription_state: "subscribed" };
  const subscription_groups = [{ ...state, external_ids: [merged] }];
  const path = "/v2/subscription/status/set";
  assert.equal((await workspace.call("POST", path, { subscription_groups })).status, 201);
  const { platform_id } = await workspace.profile({ external_ids: [kept] });
  return { merged, kept, keptId: platform_id };
}

/** Merges two users while others read them. @returns what each kind of read showed. */
async function readsOfMerge(workspace: TestWorkspace, pair: Pair) {
  const show = async (at: TestServer, kind: number) =>
    JSON.stringify(await SHOWN[kind]?.(at, workspace, pair));
  const showAll = () => Promise.all(SHOWN.map((_, kind) => show(other, kind)));
  const before = await showAll();
  const reads: Read[][] = SHOWN.map(() => []);
  let isAcknowledged = false;
  let rounds = 0;
  const readers = Array.from({ length: READERS }, async (_, reader) => {
    for (let turn = reader; !isAcknowledged || rounds < 2 * READERS; turn++) {
      const kind = turn % SHOWN.length;
      const isAfter = isAcknowledged;
      const view = await show(turn % 2 === 0 ? server : other, kind);
      reads[kind]?.push({ isAfter, view });
      if (isAfter) rounds++;
    }
  });
  await sleep(Math.random() * 20);
  await succeeds(merge(workspace, [[id(pair.merged), id(pair.kept)]]));
  isAcknowledged = true;
  await Promise.all(readers);
  return { before, reads, after: await showAll() };
}

/** Calls `check` with the reads of each merge that are of one kind. */
async function watchMerges(check: (reads: readonly Read[], before: string, after: string) => void) {
  const workspace = await server.workspace();
  for (let merges = 0; merges < MERGES; merges++) {
    const { before, reads, after } = await readsOfMerge(
      workspace,
      await makePair(workspace, merges),
    );
    for (const [kind, each] of reads.entries()) {
      assert.notEqual(before[kind], after[kind]);
      check(each, before[kind] as string, after[kind] as string);
    }
  }
}

describe("readers of users who are merged", () => {
  test("once a merge is acknowledged, every reader at every server sees it whole", () =>
    watchMerges((reads, _before, after) => {
      const late = reads.filter(({ isAfter }) => isAfter);
      for (const { view } of late) assert.equal(view, after);
    }));

  const skip = isCluster && "a cluster has no snapshot of all its nodes (docs/scaling.md)";
  test(
    "while a merge is written a reader sees both users as they were or the kept one as it is then, and nothing in between",
    {
      skip,
    },
    () =>
      watchMerges((reads, before, after) => {
        for (const { view } of reads) assert.ok([before, after].includes(view), view);
      }),
  );
});
