/* What counts tell people who may not see who users are: those without view_pii (docs/segments.md, Who sees which numbers). */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, test } from "node:test";
import { IDENTIFYING } from "../../../src/features/segments/identifying.ts";
import { shownTo } from "../../../src/features/segments/shown-sizes.ts";
import { startProvider, visit } from "../../dashboard-users/identity-provider.ts";
import { continueSession, type SignedIn } from "../../dashboard-users/signed-in.ts";
import { freePort } from "../../free-port.ts";
import { startOwnServer, type TestWorkspace } from "../../harness.ts";
import { declare as declareScim, scimClient } from "../../scim-client.ts";
import { ask, declare, succeeds } from "../../segment-calls.ts";

const port = await freePort();
const provider = await startProvider(port);
const server = await startOwnServer({ port, oidc: provider.settings });
await declareScim(server);
const scim = scimClient(server);

const USERS = 47;
const GOLD = 27;
const RARE = 3;

const path = ({ name }: TestWorkspace, rest: string) => `/admin/v1/workspaces/${name}/${rest}`;

async function personOf({ name }: TestWorkspace, permissions: readonly string[]) {
  const { userName } = await scim.user({
    permissions: {
      companyPermissions: [],
      appGroup: [{ appGroupName: name, appGroupPermissions: permissions }],
    },
  });
  provider.signsIn({ email: userName as string, email_verified: true });
  const { cookie } = await visit(server, "/dashboard/sign-in/oidc");
  return continueSession(server, cookie);
}

/** A workspace with 47 users, 27 with the plan gold and 3 with a rare one, and a marketer without view_pii. */
async function prepared() {
  const workspace = await server.workspace();
  const attributes = Array.from({ length: USERS }, (_, index) => ({
    external_id: `u${index}`,
    email: `u${index}@secret.example`,
    plan: index < GOLD ? "gold" : index < GOLD + RARE ? "rare" : "free",
  }));
  await succeeds(workspace.track({ attributes }));
  const marketer = await personOf(workspace, ["basic_access", "edit_segments", "export_user_data"]);
  return { workspace, marketer };
}

const { workspace, marketer } = await prepared();

const count = async (person: SignedIn, body: object) => {
  const answer = await person.call("POST", path(workspace, "segments/count"), body);
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  const { total, matching, low, high, exact, parts, reach } = answer.body;
  return { size: { total, matching, low, high, exact }, parts, reach };
};

const plan = (equals: string) => ({ custom_attribute: "plan", equals });
const FEW = { matching: null, low: 0, high: 19 };

describe("a person without view_pii", () => {
  test("gets no number of fewer than 20 users, and every other one rounded to tens", async () => {
    for (const exact of [false, true]) {
      const few = await count(marketer, { filter: plan("rare"), exact });
      assert.deepEqual(few.size, { total: 50, ...FEW, exact: false });
      const none = await count(marketer, { filter: plan("nothing"), exact });
      assert.deepEqual(none.size, few.size);
      const many = await count(marketer, { filter: plan("gold"), exact });
      assert.deepEqual(many.size, { total: 50, matching: 30, low: 20, high: 30, exact: false });
    }
  });

  test("cannot tell how many users a filter leaves out if they are fewer than 20", async () => {
    const everyone = { total: 50, matching: 50, low: 30, high: 50, exact: false };
    for (const equals of ["rare", "nothing"]) {
      const { size } = await count(marketer, { filter: { not: plan(equals) } });
      assert.deepEqual(size, everyone);
    }
  });

  test("gets the parts of a filter and the channels in the same way", async () => {
    const filter = { any: [plan("rare"), plan("gold")] };
    const { parts, reach } = await count(marketer, { filter, parts: true, reach: true });
    assert.deepEqual(
      parts.map(({ alone, together }: any) => [alone, together]),
      [
        [FEW, FEW],
        [
          { matching: 30, low: 20, high: 30 },
          // 17 users do not meet it.
          { matching: 50, low: 30, high: 50 },
        ],
      ],
    );
    const { channel: _channel, subscription_group_id: _id, name: _name, ...push } = reach[1];
    assert.deepEqual(push, FEW);
  });

  test("cannot filter by an attribute that tells who a user is, at any place or through a segment", async () => {
    const named = randomUUID();
    const filter = { attribute: "email", starts_with: "u1@" };
    await succeeds(declare(server, workspace, named, { name: "Named", filter }));
    const refused: [wanted: object, place: string][] = [
      ...IDENTIFYING.map((attribute): [object, string] => [
        { filter: { attribute, exists: true } },
        "filter.attribute",
      ]),
      [{ filter: { all: [plan("gold"), { not: filter }] } }, "filter.all[1].not.attribute"],
      [{ filter: { in_segment: named } }, "filter.in_segment.attribute"],
      [{ segment_id: named }, "filter.attribute"],
    ];
    for (const [wanted, place] of refused) {
      for (const what of ["count", "users"]) {
        const { status, body } = await marketer.call(
          "POST",
          path(workspace, `segments/${what}`),
          wanted,
        );
        const message = `'${place}' tells who a user is: you lack the permission view_pii.`;
        assert.deepEqual([status, body.message], [403, message], JSON.stringify(wanted));
      }
    }
    for (const kept of [filter, { in_segment: named }]) {
      const saved = await marketer.call("PUT", path(workspace, `segments/${randomUUID()}`), {
        name: "Mine",
        filter: kept,
      });
      assert.equal(saved.status, 403);
      assert.match(saved.body.message, /tells who a user is/);
    }
    // Its name is no filter.
    const renamed = { name: "Renamed", filter };
    await succeeds(marketer.call("PUT", path(workspace, `segments/${named}`), renamed));
    await succeeds(server.admin("DELETE", path(workspace, `segments/${named}`)));
  });

  test("gets the recorded sizes, the last counts and the counts that run in the same way", async () => {
    const id = randomUUID();
    await succeeds(declare(server, workspace, id, { name: "Rare", filter: plan("rare") }));
    await server.database.query(
      `insert into segment_sizes (workspace_id, segment_id, day, size)
       select workspace_id, $1, (now() at time zone 'UTC')::date - back, size
       from workspaces, (values (2, 19), (1, 24)) as days (back, size) where name = $2`,
      [id, workspace.name],
    );
    await succeeds(ask(server, workspace, "count", { segment_id: id, exact: true }));
    const secret = { attribute: "external_id", equals: "u1" };
    await ask(server, workspace, "count", { filter: secret, exact: true, wait_s: 0 });
    const { segments } = await succeeds(marketer.call("GET", path(workspace, "segment-sizes")));
    const [of] = segments.filter((each: any) => each.id === id);
    const [first, second, ...today] = of.sizes.map(({ size }: any) => size);
    assert.deepEqual([first, second], [null, 20]);
    // Today's is recorded within seconds.
    for (const size of today) assert.equal(size, null);
    assert.deepEqual([of.counted.total, of.counted.matching], [50, null]);
    const { counts } = await succeeds(marketer.call("GET", path(workspace, "segments/counts")));
    for (const each of counts) {
      assert.deepEqual([each.matching, each.counted % 10, each.expected % 10], [null, 0, 0]);
    }
    assert.deepEqual(
      counts.filter((each: any) => each.segment_id === null).map((each: any) => each.description),
      [null],
    );
  });
});

describe("exact numbers, and filters by any attribute,", () => {
  test("are there for a person with view_pii, for the admin token and for API keys", async () => {
    const filter = { attribute: "external_id", equals: "u1" };
    const analyst = await personOf(workspace, ["edit_segments", "view_pii"]);
    const one = { total: USERS, matching: 1, low: 1, high: 1, exact: true };
    assert.deepEqual((await count(analyst, { filter })).size, one);
    const { total, matching, low, high, exact } = (
      await ask(server, workspace, "count", { filter })
    ).body;
    assert.deepEqual({ total, matching, low, high, exact }, one);
    const id = randomUUID();
    await succeeds(declare(server, workspace, id, { name: "One", filter }));
    const { data }: any = await succeeds(
      workspace.call("GET", `/segments/data_series?segment_id=${id}&length=1`),
    );
    assert.equal(data[0].size, 1);
  });
});

test("a rounded size is the same for all numbers of few users who meet a filter, or who do not", () => {
  const person = { isAdministrator: false, workspacePermissions: new Map() } as never;
  const shown = shownTo({ person, workspace: { name: "demo" } as never });
  const sizeOf = (total: number, matching: number) =>
    shown.size({ total, matching, low: matching, high: matching, exact: true });
  for (const total of [0, 5, 25, 100, 1_003, 12_345]) {
    const few = Array.from({ length: Math.min(20, total + 1) }, (_, users) => sizeOf(total, users));
    for (const each of few) assert.deepEqual(each, few[0]);
    const left = Array.from({ length: 20 }, (_, users) => total - users)
      .filter((matching) => matching >= 20)
      .map((matching) => sizeOf(total, matching));
    for (const each of left) assert.deepEqual(each, left[0]);
    for (let matching = 20; matching <= total - 20; matching++) {
      const { low, high, ...each } = sizeOf(total, matching);
      assert.ok(low <= matching && matching <= high);
      assert.deepEqual(
        [each.total % 10, (each.matching ?? 0) % 10, low % 10, high % 10],
        [0, 0, 0, 0],
      );
    }
  }
  // An estimate keeps what it does not know.
  const estimate = { total: 100_000, matching: 0, low: 0, high: 77, exact: false };
  assert.deepEqual(shown.size(estimate), { ...estimate, matching: null, high: 80 });
});
