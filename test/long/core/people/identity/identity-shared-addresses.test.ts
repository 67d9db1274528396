/*
 * Merge, identify and delete by an address that many users share. Only those whom a request can mean are read, so the
 * outcome is compared with a model that looks at all of them.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import {
  byEmail,
  identify,
  merge,
  notesOf,
  remove,
  succeeds,
  userOf,
} from "../../../../core/people/identity/identity-calls.ts";
import { startServer, type TestWorkspace } from "../../../../harness.ts";
import { sized } from "../../../../sizes.ts";

const server = await startServer();

const EMAIL = "shared@example.com";

/** More than are all read. */
const USERS = 130;

const KINDS = ["identified", "unidentified"];
const TIMES = ["most_recently_updated", "least_recently_updated"];

const prioritization = fc.oneof(
  fc.constantFrom(...TIMES).map((time) => [time]),
  fc.tuple(fc.constantFrom(...KINDS), fc.constantFrom(...TIMES)),
  fc.tuple(fc.constantFrom(...TIMES), fc.constantFrom(...KINDS)),
  fc.constantFrom([], ["identified"], ["unidentified"], TIMES, TIMES.toReversed()),
);

/** Users in the order of their updates, the latest last. */
interface Modelled {
  readonly tag: string;
  isIdentified: boolean;
}

const nameOf = ({ tag, isIdentified }: Modelled) =>
  isIdentified ? { external_id: tag } : { user_alias: { alias_name: tag, alias_label: "l" } };

/** Of 130 users every third is identified. */
async function makeUsers(workspace: TestWorkspace): Promise<Modelled[]> {
  const users = Array.from({ length: USERS }, (_, index) => ({
    tag: `u${index}`,
    isIdentified: index % 3 === 0,
  }));
  const attributes = users.map((user) => ({
    ...nameOf(user),
    email: EMAIL,
    tag: user.tag,
    _update_existing_only: false,
  }));
  const { body } = await workspace.track({ attributes });
  assert.deepEqual([body.errors, body.skipped], [undefined, undefined]);
  return users;
}

/** spec: Prioritization, on all users. */
function chosen(users: readonly Modelled[], order: readonly string[]): Modelled | string {
  let left = [...users];
  for (const each of order) {
    if (each === "identified") left = left.filter(({ isIdentified }) => isIdentified);
    else if (each === "unidentified") left = left.filter(({ isIdentified }) => !isIdentified);
    else left = each === "most_recently_updated" ? left.slice(-1) : left.slice(0, 1);
  }
  return left.length === 1
    ? (left[0] as Modelled)
    : left.length
      ? "AMBIGUOUS_MATCH"
      : "USER_NOT_FOUND";
}

function moveToEnd(users: Modelled[], user: Modelled): void {
  users.splice(users.indexOf(user), 1);
  users.push(user);
}

/** The tags of all users, by what leads to them. */
async function tagsIn(workspace: TestWorkspace): Promise<string[]> {
  const tags = new Set<string>();
  for (let from = 0; from < USERS; from += 50) {
    const names = Array.from(
      { length: Math.min(50, USERS - from) },
      (_, index) => `u${from + index}`,
    );
    const found = await workspace.profiles({
      external_ids: names,
      fields_to_export: ["custom_attributes"],
    });
    const user_aliases = names.map((alias_name) => ({ alias_name, alias_label: "l" }));
    found.push(
      ...(await workspace.profiles({ user_aliases, fields_to_export: ["custom_attributes"] })),
    );
    for (const { custom_attributes } of found) tags.add(custom_attributes.tag);
  }
  return [...tags].sort();
}

const tagsOf = (users: readonly Modelled[]) => users.map(({ tag }) => tag).sort();

describe("an address of 130 users leads to the same user as if all of them were read", () => {
  const runs = { numRuns: sized(6, 40) };

  test("a delete request removes exactly the users that its prioritizations choose, one after the other", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(prioritization, { minLength: 1, maxLength: 50 }),
        async (orders) => {
          const workspace = await server.workspace({ settings: { track_max_updates: 1_000 } });
          const users = await makeUsers(workspace);
          const skipped = orders.flatMap((order, index) => {
            const user = chosen(users, order);
            if (typeof user === "string") return [`email_addresses ${index} ${user}`];
            users.splice(users.indexOf(user), 1);
            return [];
          });
          const { body } = await remove(workspace, {
            email_addresses: orders.map((order) => byEmail(EMAIL, order)),
          });
          assert.deepEqual(notesOf(body.skipped), skipped);
          assert.deepEqual(await tagsIn(workspace), tagsOf(users));
        },
      ),
      runs,
    );
  });

  test("a merge request merges exactly the users that its prioritizations choose, each into the right one", async () => {
    const pairs = fc.array(fc.tuple(prioritization, prioritization), {
      minLength: 1,
      maxLength: 50,
    });
    await fc.assert(
      fc.asyncProperty(pairs, async (orders) => {
        const workspace = await server.workspace({ settings: { track_max_updates: 1_000 } });
        const users = await makeUsers(workspace);
        const skipped = orders.flatMap(([toMerge, toKeep], index) => {
          const [merged, kept] = [chosen(users, toMerge), chosen(users, toKeep)];
          const code =
            typeof merged === "string"
              ? merged
              : typeof kept === "string"
                ? kept
                : merged === kept
                  ? "SAME_USER"
                  : undefined;
          if (code) return [`merge_updates ${index} ${code}`];
          const [gone, stays] = [merged, kept] as [Modelled, Modelled];
          users.splice(users.indexOf(gone), 1);
          stays.isIdentified ||= gone.isIdentified;
          moveToEnd(users, stays);
          return [];
        });
        const { body } = await merge(
          workspace,
          orders.map(([toMerge, toKeep]) => [byEmail(EMAIL, toMerge), byEmail(EMAIL, toKeep)]),
        );
        assert.deepEqual(notesOf(body.skipped), skipped);
        assert.deepEqual(await tagsIn(workspace), tagsOf(users));
      }),
      runs,
    );
  });
});

describe("an address that more than 1,000 users share", () => {
  const COUNT = 2_600;

  async function shared(): Promise<TestWorkspace> {
    const workspace = await server.workspace({ settings: { track_max_updates: 1_000 } });
    for (let from = 0; from < COUNT; from += 1_000) {
      const attributes = Array.from({ length: Math.min(1_000, COUNT - from) }, (_, index) =>
        from + index < 1_300
          ? { external_id: `u${from + index}`, email: EMAIL }
          : {
              user_alias: { alias_name: `u${from + index}`, alias_label: "l" },
              email: EMAIL,
              _update_existing_only: false,
            },
      );
      assert.equal((await workspace.track({ attributes })).body.errors, undefined);
    }
    return workspace;
  }

  test("it can be used to merge, identify and delete users, and to preview that", async () => {
    const workspace = await shared();
    const first = byEmail(EMAIL, ["identified", "least_recently_updated"]);
    const last = byEmail(EMAIL, ["identified", "most_recently_updated"]);
    const preview = await succeeds(merge(workspace, [[first, last]], { dry_run: true }));
    assert.deepEqual(preview.results?.length, 1);
    await succeeds(merge(workspace, [[first, last]]));
    assert.equal(await userOf(workspace, "u0"), undefined);
    assert.ok(await userOf(workspace, "u1299"));
    const anonymous = byEmail(EMAIL, ["unidentified", "most_recently_updated"]);
    await succeeds(
      identify(workspace, { emails_to_identify: [{ external_id: "new", ...anonymous }] }),
    );
    const identified = await userOf(workspace, "new");
    assert.deepEqual(identified?.user_aliases, [{ alias_name: `u${COUNT - 1}`, alias_label: "l" }]);
    await succeeds(remove(workspace, { email_addresses: [first, last] }));
    assert.equal(await userOf(workspace, "u1"), undefined);
    assert.equal(await userOf(workspace, "new"), undefined);
    assert.ok(await userOf(workspace, "u2"));
    const { body } = await remove(workspace, { email_addresses: [byEmail(EMAIL, ["identified"])] });
    assert.match(body.skipped?.[0]?.message ?? "", /^more than \d+ users have this 'email'/);
  });
});
