/*
 * One mailbox is one address (docs/decisions/addresses.md): whichever spelling a call has, it means the same users,
 * states and pages.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { spellingsOf, WORDS } from "../../../../core/people/profiles/spellings.ts";
import { VERSIONS } from "../../../../core/people/subscriptions/subscription-calls.ts";
import { NEWSLETTER, startServer } from "../../../../harness.ts";
import {
  createCenter,
  emptyWorkspace,
  htmlOf,
  pageOf,
  submit,
} from "../../../../preference-center-calls.ts";
import { membersOf } from "../../../../segment-calls.ts";

const server = await startServer();
const workspace = await emptyWorkspace(server, { settings: { change_feed: true } });
const centerId = await createCenter(workspace);

let made = 0;

/** An address of its own, and two of its spellings, picked at random. */
const address = fc
  .tuple(fc.constantFrom(...WORDS), fc.constantFrom(...WORDS), fc.nat(), fc.nat())
  .map(([local, domain, one, other]) => {
    const spellings = spellingsOf(`${local}${made++}@${domain}.example`).filter(
      // The check of an address knows no full stop but ASCII's in the last label.
      (each) => !each.includes("。"),
    );
    const pick = (place: number) => spellings[place % spellings.length] as string;
    return { written: pick(0), one: pick(one), other: pick(other) };
  });

type Address = { readonly written: string; readonly one: string; readonly other: string };

const holdsForAll = (check: (of: Address) => Promise<void>) =>
  fc.assert(fc.asyncProperty(address, check), { numRuns: 12 });

async function done(method: string, path: string, body?: unknown): Promise<any> {
  const answer = await workspace.call<any>(method, path, body);
  assert.ok(answer.status < 300, `${path} ${answer.status} ${JSON.stringify(answer.body)}`);
  assert.equal(answer.body.skipped, undefined, JSON.stringify(answer.body));
  assert.equal(answer.body.errors, undefined, JSON.stringify(answer.body));
  return answer.body;
}

const track = (body: object) => done("POST", "/users/track", body);
const query = (path: string, values: Record<string, string>) =>
  done("GET", `${path}?${new URLSearchParams(values)}`);
const admin = (method: string, path: string) =>
  server.admin(method, `/admin/v1/workspaces/${workspace.name}${path}`);

let users = 0;

/** A user with the address as it is written first. */
async function userWith(email: string, more: object = {}): Promise<string> {
  const external_id = `user-${users++}`;
  await track({ attributes: [{ external_id, email, ...more }] });
  return external_id;
}

const exported = async (request: object): Promise<any[]> =>
  (await done("POST", "/users/export/ids", request)).users;

describe("any two spellings of an address", () => {
  test("they name the same user in track and in exports, which show the address as it was written", () =>
    holdsForAll(async ({ written, one, other }) => {
      await track({ attributes: [{ email: written, plan: "free" }] });
      await track({
        attributes: [{ email: one, visits: 1 }],
        events: [{ email: other, name: "seen", time: new Date().toISOString() }],
      });
      const [user, ...more] = await exported({ email_address: other });
      assert.deepEqual(more, []);
      assert.equal(user.email, written);
      assert.deepEqual(user.custom_attributes, { plan: "free", visits: 1 });
      assert.equal(user.custom_events[0].name, "seen");
    }));

  test("a segment finds the user under each of them, and its opposite finds everyone else", () =>
    holdsForAll(async ({ written, one, other }) => {
      const external_id = await userWith(written);
      const found = async (filter: object) => membersOf(server, workspace, filter);
      const others = await found({ attribute: "email", none_of: [written, "nobody@example.com"] });
      assert.ok(!others.includes(external_id));
      for (const spelling of [written, one, other]) {
        assert.deepEqual(await found({ attribute: "email", equals: spelling }), [external_id]);
        const some = { attribute: "email", one_of: ["nobody@example.com", spelling] };
        assert.deepEqual(await found(some), [external_id]);
        assert.deepEqual(await found({ attribute: "email", not_equals: spelling }), others);
      }
    }));

  test("a segment finds letters whose small form has two letters, is ASCII or depends on the letters around it", async () => {
    for (const [written, other] of [
      ["İlker@example.com", "i\u0307lker@example.com"],
      ["ΝΙΚΟΣ@example.gr", "νικος@example.gr"],
      ["ΣΊΣΥΦΟΣ.ΣΟΦΙΑΣ@ελλάδα.gr", "σίσυφοσ.σοφιας@ΕΛΛΆΔΑ.gr"],
      ["\u212aarl@example.com", "karl@example.com"],
      ["\u212aIM@M\u00dcNCHEN.example", "kim@xn--mnchen-3ya.example"],
    ] as const) {
      const external_id = await userWith(written);
      for (const spelling of [written, other]) {
        const filter = { attribute: "email", equals: spelling };
        assert.deepEqual(await membersOf(server, workspace, filter), [external_id], spelling);
        const others = {
          all: [
            { attribute: "external_id", equals: external_id },
            { attribute: "email", none_of: [spelling] },
          ],
        };
        assert.deepEqual(await membersOf(server, workspace, others), [], spelling);
      }
    }
    await userWith("νικοσ@two-mailboxes.gr");
    const other = { attribute: "email", equals: "νικος@two-mailboxes.gr" };
    assert.deepEqual(await membersOf(server, workspace, other), []);
  });

  test("a refusal under one of them holds for the user who has the other", () =>
    holdsForAll(async ({ written, one, other }) => {
      const external_id = await userWith(written);
      await done("POST", "/email/status", { email: one, subscription_state: "unsubscribed" });
      const [user] = await exported({ external_ids: [external_id] });
      assert.equal(user.email_subscribe, "unsubscribed");
      const { emails } = await query("/email/unsubscribes", { email: other });
      assert.equal(emails.length, 1);
      const page = await htmlOf(server, await pageOf(workspace, centerId, external_id));
      assert.match(page, /id="global">unsubscribed/);
      const { body } = await admin(
        "GET",
        `/subscription-history?${new URLSearchParams({ email: other })}`,
      );
      assert.deepEqual(
        body.changes.map((each: any) => each.subscription_state),
        ["unsubscribed"],
      );
    }));

  test("a state that was stored before a user has the address holds once it is linked", () =>
    holdsForAll(async ({ one, other }) => {
      await done("POST", "/email/status", { email: one, subscription_state: "unsubscribed" });
      const external_id = await userWith(other);
      const [user] = await exported({ external_ids: [external_id] });
      assert.equal(user.email_subscribe, "unsubscribed");
    }));

  test("a group state by one of them reaches the users of both, in each version of the call", () =>
    holdsForAll(async ({ written, one, other }) => {
      const ids = [await userWith(written), await userWith(one)];
      for (const [place, set] of VERSIONS.entries()) {
        const state = ["subscribed", "unsubscribed"][place] as string;
        const answer = await set(workspace, NEWSLETTER, state, { emails: [other] });
        assert.equal(answer.status, 201, JSON.stringify(answer.body));
        const { status } = await query("/subscription/status/get", {
          subscription_group_id: NEWSLETTER,
          email: other,
        });
        const shown = ["Subscribed", "Unsubscribed"][place];
        assert.deepEqual(status, Object.fromEntries(ids.map((id) => [id, shown])));
      }
      await track({
        attributes: [
          {
            external_id: ids[0],
            subscription_groups: [
              { subscription_group_id: NEWSLETTER, subscription_state: "subscribed" },
            ],
          },
        ],
      });
      const { users } = await query("/subscription/user/status", { email: other });
      assert.deepEqual(
        users.map((each: any) => each.subscription_groups[0].status),
        ["Subscribed", "Subscribed"],
      );
    }));

  test("a bounce of one of them is the other's, and is removed by either", () =>
    holdsForAll(async ({ written, one, other }) => {
      await done("POST", "/email/blocklist", { email: [written] });
      const bounces = async (email: string) =>
        (await query("/email/hard_bounces", { email })).emails;
      assert.deepEqual(
        (await bounces(one)).map((each: any) => each.email),
        [shown(written)],
      );
      await done("POST", "/email/bounce/remove", { email: other });
      assert.deepEqual(await bounces(written), []);
    }));

  test("merge, identify and delete find the user by either", () =>
    holdsForAll(async ({ written, one, other }) => {
      await track({ attributes: [{ email: written, plan: "free" }] });
      const kept = await userWith(`kept-${users}@example.com`);
      await done("POST", "/users/merge", {
        merge_updates: [
          {
            identifier_to_merge: { email: one, prioritization: ["unidentified"] },
            identifier_to_keep: { external_id: kept },
          },
        ],
      });
      assert.deepEqual(await exported({ email_address: other }), []);
      await track({ attributes: [{ email: written }] });
      const identified = `identified-${users++}`;
      await done("POST", "/users/identify", {
        emails_to_identify: [
          { external_id: identified, email: other, prioritization: ["unidentified"] },
        ],
      });
      assert.equal((await exported({ external_ids: [identified] })).length, 1);
      await done("POST", "/users/delete", {
        email_addresses: [{ email: one, prioritization: [] }],
      });
      assert.deepEqual(await exported({ external_ids: [identified] }), []);
    }));

  test("a link to a page stays good when the address is written differently, and saves for both users", () =>
    holdsForAll(async ({ written, one, other }) => {
      const id = await userWith(written);
      const second = await userWith(other);
      const path = await pageOf(workspace, centerId, id);
      await track({ attributes: [{ external_id: id, email: one }] });
      const answer = await submit(server, path, { email_global_state: "unsubscribed" });
      assert.ok(answer.status < 400);
      for (const user of await exported({ external_ids: [id, second] })) {
        assert.equal(user.email_subscribe, "unsubscribed");
      }
    }));

  test("the search, the change feed and segments know the user by either, and the state is erased by either", () =>
    holdsForAll(async ({ written, one, other }) => {
      const id = await userWith(written);
      const found = await admin(
        "GET",
        `/users?${new URLSearchParams({ query: one, match: "exact" })}`,
      );
      assert.deepEqual(
        found.body.users.map((each: any) => [each.external_id, each.matched.value]),
        [[id, shown(written)]],
      );
      await done("POST", "/email/status", { email: one, subscription_state: "unsubscribed" });
      const { body } = await admin(
        "GET",
        `/changes?${new URLSearchParams({ cursor: "beginning", types: "email_state.changed" })}`,
      );
      assert.equal(body.changes.at(-1)?.user?.external_id ?? id, id);
      const erased = await admin("DELETE", `/email-states/${encodeURIComponent(other)}`);
      assert.equal(erased.body.erased, true);
      assert.deepEqual((await query("/email/unsubscribes", { email: written })).emails, []);
    }));
});

/** Lists show addresses in ASCII in lower case, and others as they were written. */
const shown = (written: string): string =>
  /^[\0-\x7f]*$/.test(written) && !/xn--/i.test(written) ? written.toLowerCase() : written;
