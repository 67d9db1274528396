/*
 * The model of undo: random histories, each checked in one of two ways.
 *
 * - At once: users are merged, and each merge is undone right away or with the others, in any order that is possible. Then every
 *   row about them is as it was.
 * - With writes in between: the same calls, without the merges and their undo, are sent to a second workspace. Once everything is
 *   undone, the users are the same in both: the merged ones as they were, the kept ones with what they did meanwhile.
 */
import assert from "node:assert/strict";
import type { TestServer, TestWorkspace } from "../harness.ts";
import { mergesOf, rowsOf, undo } from "./undo-calls.ts";
import {
  afterwards,
  beginning,
  consistentIdentifiers,
  type HistoryUser,
  identifierOf,
  makeUsers,
  nameOf,
  type Random,
  randomOf,
  send,
  sharing,
} from "./undo-histories.ts";

type Server = Pick<TestServer, "admin" | "database" | "workspace">;

/** Who is merged into whom. */
interface Joined {
  readonly merged: HistoryUser;
  readonly kept: HistoryUser;
  readonly id: string;
}

/** Merges two users who are still there; several ways lead to it. @returns undefined if it is not possible. */
async function mergeTwo(
  server: Server,
  workspace: TestWorkspace,
  random: Random,
  present: readonly HistoryUser[],
  mayBeKept: (user: HistoryUser) => boolean = () => true,
): Promise<Joined | undefined> {
  const merged = random.oneOf(...present);
  const kept = random.oneOf(...present);
  if (merged === kept || !mayBeKept(kept)) return undefined;
  const identifies = merged.externalId === null && kept.externalId !== null && random.chance(60);
  const [body, path] = identifies
    ? [
        {
          aliases_to_identify: [
            { external_id: kept.externalId, user_alias: (identifierOf(merged) as any).user_alias },
          ],
          merge_behavior: random.oneOf("merge", "none"),
        },
        "/users/identify",
      ]
    : [
        {
          merge_updates: [
            { identifier_to_merge: identifierOf(merged), identifier_to_keep: identifierOf(kept) },
          ],
        },
        "/users/merge",
      ];
  const answer = await send(server, workspace, { path, body });
  assert.equal(answer.skipped, undefined, JSON.stringify(answer));
  const [latest] = await mergesOf(server, workspace, { limit: "1" });
  assert.ok(latest);
  return { merged, kept, id: latest.id };
}

/** Undoes merges in a random order, a later one first where it has to be. */
async function undoAll(
  server: Server,
  workspace: TestWorkspace,
  random: Random,
  merges: readonly Joined[],
  told: string,
): Promise<void> {
  const left = [...merges];
  while (left.length > 0) {
    const one = random.oneOf(...left);
    if (random.chance(30)) await undo(server, workspace, one.id, { dry_run: true });
    const { status, body } = await undo(server, workspace, one.id);
    if (status === 409) {
      assert.equal(body.code, "UNDO_LATER_FIRST", `${told}: ${JSON.stringify(body)}`);
      assert.ok(
        left.some(({ id }) => id === body.later),
        `${told}: ${body.message}`,
      );
      continue;
    }
    assert.equal(status, 200, `${told}: ${JSON.stringify(body)}`);
    await consistentIdentifiers(server, workspace, told);
    left.splice(left.indexOf(one), 1);
  }
}

const USERS = 4;

/** Merges, undoes, and compares every row. */
export async function checkAtOnce(server: Server, seed: number): Promise<void> {
  const random = randomOf(seed);
  const told = `seed ${seed}`;
  const workspace = await server.workspace({
    settings: { redirect_merged_ids: random.chance(30), change_feed: random.chance(20) },
  });
  const users = makeUsers(random, `u${seed}`, USERS);
  for (const call of beginning(random, `u${seed}`, users)) await send(server, workspace, call);
  const before = await rowsOf(server, workspace);
  let present: readonly HistoryUser[] = users;
  const merges: Joined[] = [];
  const count = 1 + random.below(3);
  for (let each = 0; each < count; each++) {
    const joined = await mergeTwo(server, workspace, random, present);
    if (!joined) continue;
    merges.push(joined);
    present = present.filter((user) => user !== joined.merged);
    // Named from now on as the merged user was, if the kept one had no external_id.
    const { kept, merged } = joined;
    if (kept.externalId === null && merged.externalId !== null) {
      const named = { ...kept, externalId: merged.externalId };
      present = present.map((user) => (user === kept ? named : user));
    }
  }
  await undoAll(server, workspace, random, merges, told);
  assert.deepEqual(await rowsOf(server, workspace), before, told);
}

/**
 * The same with several merges in a request, of users who share addresses, numbers and groups. In some histories an address
 * that was taken is removed, and may be taken again.
 */
export async function checkTogether(server: Server, seed: number): Promise<void> {
  const random = randomOf(seed);
  const told = `seed ${seed}`;
  const workspace = await server.workspace();
  const users = makeUsers(random, `t${seed}`, 5).map(
    (user): HistoryUser => ({ ...user, externalId: `t${seed}-${user.place}` }),
  );
  for (const call of sharing(random, users)) await send(server, workspace, call);
  const before = await rowsOf(server, workspace);
  const merges: Joined[] = [];
  let present: readonly HistoryUser[] = users;
  let isWritten = false;
  for (let request = 0; request < 2; request++) {
    const pairs: Omit<Joined, "id">[] = [];
    for (let each = 0; each < 1 + random.below(3) && present.length > 1; each++) {
      const merged = random.oneOf(...present);
      present = present.filter((user) => user !== merged);
      pairs.push({ merged, kept: random.oneOf(...present) });
    }
    const merge_updates = pairs.map(({ merged, kept }) => ({
      identifier_to_merge: identifierOf(merged),
      identifier_to_keep: identifierOf(kept),
    }));
    await send(server, workspace, { path: "/users/merge", body: { merge_updates } });
    const listed = await mergesOf(server, workspace);
    for (const pair of pairs) {
      const found = listed.find(({ merged }) => merged.external_id === pair.merged.externalId);
      assert.ok(found, told);
      merges.push({ ...pair, id: found.id });
    }
    if (random.chance(50)) continue;
    isWritten = true;
    const cleared = { ...nameOf(random.oneOf(...present)), email: null, phone: null };
    await send(server, workspace, { path: "/users/track", body: { attributes: [cleared] } });
  }
  await undoAll(server, workspace, random, merges, told);
  if (!isWritten) assert.deepEqual(await rowsOf(server, workspace), before, told);
}

/** The same with writes in between, beside a workspace without merges. */
export async function checkTheRule(server: Server, seed: number): Promise<void> {
  const random = randomOf(seed);
  const told = `seed ${seed}`;
  const settings = { redirect_merged_ids: random.chance(30) };
  const workspace = await server.workspace({ settings });
  const apart = await server.workspace({ settings });
  const users = makeUsers(random, `u${seed}`, USERS);
  const both = async (call: Parameters<typeof send>[2]) => {
    await send(server, workspace, call);
    await send(server, apart, call);
  };
  for (const call of beginning(random, `u${seed}`, users)) await both(call);
  const merges: Joined[] = [];
  const gone = new Set<HistoryUser>();
  for (let turn = 0; turn < 8; turn++) {
    const present = users.filter((user) => !gone.has(user));
    const what = random.below(10);
    if (what < 4) {
      const joined = await mergeTwo(server, workspace, random, present, isNamedAlone);
      if (!joined) continue;
      merges.push(joined);
      gone.add(joined.merged);
    } else if (what < 6 && merges.length > 0) {
      const last = merges.at(-1) as Joined;
      const { status, body } = await undo(server, workspace, last.id);
      assert.equal(status, 200, `${told}: ${JSON.stringify(body)}`);
      merges.pop();
      gone.delete(last.merged);
    } else await both(afterwards(random, random.oneOf(...present), seed * 100 + turn));
  }
  await undoAll(server, workspace, random, merges, told);
  assert.deepEqual(await shownOf(workspace, users), await shownOf(apart, users), told);
}

/** A kept user without an external_id would get one, and be written by it. */
const isNamedAlone = ({ externalId }: HistoryUser): boolean => externalId !== null;

/** What an export shows of users, without ids and times of this server. */
async function shownOf(workspace: TestWorkspace, users: readonly HistoryUser[]) {
  const external_ids = users.flatMap(({ externalId }) => externalId ?? []);
  const user_aliases = users.flatMap((user) =>
    user.externalId === null ? [(nameOf(user) as any).user_alias] : [],
  );
  const found = [
    ...(external_ids.length > 0 ? await workspace.profiles({ external_ids }) : []),
    ...(user_aliases.length > 0 ? await workspace.profiles({ user_aliases }) : []),
  ];
  return (found as Record<string, any>[])
    .map(({ platform_id, braze_id, created_at, updated_at, random_bucket, ...user }) => user)
    .map((user) => JSON.stringify(user, null, 1))
    .sort();
}
