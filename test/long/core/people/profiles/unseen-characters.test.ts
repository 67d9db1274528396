/* Characters that show nothing are refused in new addresses, and named (docs/decisions/addresses.md). */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, test } from "node:test";
import { NEWSLETTER, startServer } from "../../../../harness.ts";

const server = await startServer();
const workspace = await server.workspace();

/** Each with its name and whether only a domain must not have it. */
const UNSEEN = [
  ["\u2060", "a word joiner"],
  ["\ufeff", "a byte order mark"],
  ["\ufe0f", "a variation selector"],
  ["\u3164", "a Hangul filler"],
  ["\u115f", "a Hangul filler"],
  ["\u3000", "an ideographic space"],
  ["\u00a0", "a space that does not break"],
  ["\u202e", "a bidi control"],
  ["\u2066", "a bidi control"],
  ["\u00ad", "a soft hyphen"],
  ["\u200b", "a space without width"],
  ["\u200d", "a joiner between letters that do not need it"],
  ["\u200c", "a joiner between letters that do not need it"],
  ["\u2800", "an empty Braille pattern"],
] as const;

const nameOf = (letter: string) =>
  `U+${letter.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0")}`;

const ADDRESSES = [
  ...UNSEEN.flatMap(([letter]) => [
    [letter, `${letter}bob@example.com`],
    [letter, `bo${letter}b@example.com`],
    [letter, `bob@exam${letter}ple.com`],
  ]),
  ["\ufffd", "bob@exam\ufffdple.com"],
  ["\ue000", "bob@exam\ue000ple.com"],
] as const;

const WRITES: Readonly<Record<string, (email: string) => readonly [path: string, body: object]>> = {
  "an attribute": (email) => ["/users/track", { attributes: [{ external_id: "a", email }] }],
  "an identifier": (email) => ["/users/track", { attributes: [{ email, plan: "free" }] }],
  "an event": (email) => [
    "/users/track",
    { events: [{ email, name: "e", time: "2026-01-01T00:00:00Z" }] },
  ],
  "a purchase": (email) => [
    "/users/track",
    {
      purchases: [
        { email, product_id: "p", currency: "EUR", price: 1, time: "2026-01-01T00:00:00Z" },
      ],
    },
  ],
  "version 2 of a set": (email) => [
    "/v2/subscription/status/set",
    {
      subscription_groups: [
        { subscription_group_id: NEWSLETTER, subscription_state: "subscribed", emails: [email] },
      ],
    },
  ],
  "version 1 of a set": (email) => [
    "/subscription/status/set",
    { subscription_group_id: NEWSLETTER, subscription_state: "subscribed", email: [email] },
  ],
  "an email status": (email) => ["/email/status", { email, subscription_state: "subscribed" }],
  "a block": (email) => ["/email/blocklist", { email: [email] }],
  "a merge": (email) => [
    "/users/merge",
    {
      merge_updates: [
        {
          identifier_to_merge: { email, prioritization: [] },
          identifier_to_keep: { external_id: "a" },
        },
      ],
    },
  ],
  "an identification": (email) => [
    "/users/identify",
    { emails_to_identify: [{ external_id: "a", email, prioritization: [] }] },
  ],
  "a deletion": (email) => ["/users/delete", { email_addresses: [{ email, prioritization: [] }] }],
};

describe("a character that shows nothing", () => {
  for (const [name, write] of Object.entries(WRITES)) {
    test(`is refused and named in the address of ${name}`, async () => {
      for (const [letter, email] of ADDRESSES) {
        const answer = await workspace.call<any>("POST", ...write(email));
        const text = JSON.stringify(answer.body);
        assert.equal(answer.status, 400, `${JSON.stringify(email)} ${text}`);
        assert.ok(text.includes(nameOf(letter)), `${nameOf(letter)} ${text}`);
        assert.ok(text.includes("EMAIL_BAD_FORMAT"), text);
      }
    });
  }

  test("is refused and named in a new dashboard user and in contact_emails", async () => {
    for (const [letter, email] of ADDRESSES) {
      const created = await server.admin("POST", "/admin/v1/dashboard-users", {
        user_name: email,
        given_name: "Ada",
        family_name: "Lovelace",
        department: "bi",
      });
      assert.equal(created.status, 400, JSON.stringify(created.body));
      assert.ok(created.body.message.includes(nameOf(letter)), created.body.message);
      // Spaces around an address of a list belong to the list.
      if (email.startsWith(letter)) continue;
      const path = `/admin/v1/workspaces/${workspace.name}/webhooks/${randomUUID()}`;
      const webhook = {
        name: "w",
        url: "https://example.com/",
        contact_emails: `a@example.com, ${email}`,
      };
      const put = await server.admin("PUT", path, webhook);
      assert.equal(put.status, 400, JSON.stringify(put.body));
      assert.ok(JSON.stringify(put.body).includes(nameOf(letter)), JSON.stringify(put.body));
    }
  });

  test("is refused and named in imported users and states", async () => {
    const email = "\u2060bob@example.com";
    const rows = {
      users: { external_id: "i", email },
      subscriptions: { email, subscription_state: "subscribed" },
    };
    for (const [kind, row] of Object.entries(rows)) {
      const path = `/admin/v1/workspaces/${workspace.name}/imports/${kind}`;
      const { body } = await server.admin("POST", path, { kind, first_row: 1, rows: [row] });
      assert.equal(body.notes[0].outcome, "rejected", JSON.stringify(body));
      assert.ok(body.notes[0].message.includes("U+2060"), JSON.stringify(body));
    }
  });

  test("a joiner between letters that need it is accepted on both sides of the @", async () => {
    for (const email of [
      "नमस्\u200dते@example.com",
      "می\u200cخواهم@example.com",
      "k@می\u200cخواهم.example",
      "k@क्\u200dष.example",
    ]) {
      const { body, status } = await workspace.track({ attributes: [{ email, plan: "free" }] });
      assert.equal(status, 201, JSON.stringify(body));
    }
  });

  test("an external_id and an alias keep such characters, because a refused id is lost data", async () => {
    const external_id = "\u2060ada";
    const user_alias = { alias_name: "a\ufeffda", alias_label: "crm\u3000" };
    const { body } = await workspace.track({
      attributes: [
        { external_id, plan: "free" },
        { user_alias, plan: "free", _update_existing_only: false },
      ],
    });
    assert.equal(body.attributes_processed, 2);
    assert.equal(
      (await workspace.profile({ external_ids: [external_id] })).external_id,
      external_id,
    );
    assert.equal((await workspace.profile({ user_aliases: [user_alias] })).user_aliases.length, 1);
  });
});
