/* The upgrade of data that has an address for each spelling (docs/decisions/addresses.md). */
import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { describe, test } from "node:test";
import { examineAll } from "../../../src/cli/doctor.ts";
import { findActiveUser } from "../../../src/features/dashboard-users/sessions.ts";
import { startOwnServer } from "../../harness.ts";
import { type EarlierData, earlier, idOf } from "../earlier-addresses.ts";

const KEY = "the-key-of-the-shop-0001";

/** Starts this version on it. The workspace "shop" has a key. */
async function upgraded(data: EarlierData) {
  const place = await earlier(data);
  const output = new PassThrough();
  let log = "";
  output.on("data", (text) => {
    log += text;
  });
  const server = await startOwnServer({ ...place, logLevel: "info" } as object, output);
  const applied = await server.admin("POST", "/admin/v1/apply", {
    company: {
      name: "Acme",
      scim_tokens: [{ name: "idp", token: "the-scim-token-1", service_origin: "acme.example" }],
    },
    workspaces: [
      {
        name: "shop",
        allow_reset: true,
        api_keys: [{ name: "dev", key: KEY, permissions: ["all"] }],
        settings: { change_feed: true },
      },
    ],
  });
  assert.equal(applied.status, 200, JSON.stringify(applied.body));
  const call = (method: string, path: string, body?: unknown) =>
    server.send(method, path, body, { key: KEY });
  const get = async (path: string, query: Record<string, string> = {}) =>
    (await call("GET", `${path}?${new URLSearchParams(query)}`)).body;
  const usersOf = async (email_address: string) =>
    (await call("POST", "/users/export/ids", { email_address })).body.users;
  return { server, place, call, get, usersOf, log: () => log };
}

const UNICODE = "K@München.example";
const PUNYCODE = "k@xn--mnchen-3ya.example";
const DECOMPOSED = "k@mu\u0308nchen.example";

const DATA: EarlierData = {
  users: [
    { externalId: "unicode", email: UNICODE },
    { externalId: "punycode", email: PUNYCODE },
    { externalId: "decomposed", email: DECOMPOSED },
    { externalId: "other", email: "José@example.com" },
    { externalId: "ascii", email: "Ada@example.com" },
    { externalId: "unseen", email: "\u2060bob@example.com" },
  ],
  states: [
    { email: UNICODE, state: "unsubscribed", day: 1 },
    { email: PUNYCODE, state: "subscribed", day: 2 },
    { email: "j@straße.example", state: "subscribed", day: 1 },
    { email: "j@xn--strae-oqa.example", state: "opted_in", day: 3 },
    { email: "José@example.com", state: "unsubscribed", day: 5 },
    { email: "ada@example.com", state: "unsubscribed", day: 6 },
  ],
  bounces: [
    { email: PUNYCODE, day: 4 },
    { email: UNICODE, day: 3 },
  ],
  dashboardUsers: ["a@xn--mnchen-3ya.example", "b@xn--mnchen-3ya.example", "b@münchen.example"],
};

describe("an upgrade of addresses in several spellings", () => {
  test("it keeps every user, state, bounce and entry, joins the spellings, and reports what it did", async () => {
    const { server, place, get, usersOf, call, log } = await upgraded(DATA);
    for (const spelling of [UNICODE, PUNYCODE, DECOMPOSED]) {
      const users = await usersOf(spelling);
      assert.deepEqual(
        users.map((user: any) => [user.external_id, user.email, user.email_subscribe]).sort(),
        [
          ["decomposed", DECOMPOSED, "unsubscribed"],
          ["punycode", PUNYCODE, "unsubscribed"],
          ["unicode", UNICODE, "unsubscribed"],
        ],
      );
      const { emails } = await get("/email/hard_bounces", { email: spelling });
      assert.deepEqual(emails, [
        { email: UNICODE.toLowerCase(), hard_bounced_at: "2026-01-03 00:00:00 +0000" },
      ]);
    }
    assert.equal((await usersOf("jose\u0301@example.com"))[0].email_subscribe, "unsubscribed");
    assert.equal((await usersOf("ada@example.com"))[0].email_subscribe, "unsubscribed");

    const { emails } = await get("/email/unsubscribes", {
      start_date: "2026-01-01",
      end_date: "2026-02-01",
      sort_direction: "asc",
    });
    assert.deepEqual(emails, [
      { email: "k@münchen.example", unsubscribed_at: "2026-01-01 00:00:00 +0000" },
      { email: "josé@example.com", unsubscribed_at: "2026-01-05 00:00:00 +0000" },
      { email: "ada@example.com", unsubscribed_at: "2026-01-06 00:00:00 +0000" },
    ]);

    const path = "/admin/v1/workspaces/shop";
    const history = await server.admin(
      "GET",
      `${path}/subscription-history?${new URLSearchParams({ email: DECOMPOSED })}`,
    );
    assert.deepEqual(
      history.body.changes.map((each: any) => [each.subscription_state, each.email, each.call]),
      [
        ["unsubscribed", "k@münchen.example", "rapport migrate"],
        ["subscribed", PUNYCODE, "POST /email/status"],
        ["unsubscribed", "k@münchen.example", "POST /email/status"],
      ],
    );

    const joined = await server.admin("GET", `${path}/joined-spellings?limit=2`);
    const rest = await server.admin(
      "GET",
      `${path}/joined-spellings?cursor=${joined.body.next_cursor}`,
    );
    const none = { before: null, other_before: null, after: null };
    assert.deepEqual(
      [...joined.body.spellings, ...rest.body.spellings],
      [
        {
          email: "j@xn--strae-oqa.example",
          spelling: "j@straße.example",
          before: "subscribed",
          other_before: "opted_in",
          after: "opted_in",
        },
        { email: PUNYCODE, spelling: DECOMPOSED, ...none },
        {
          email: PUNYCODE,
          spelling: "k@münchen.example",
          before: "unsubscribed",
          other_before: "subscribed",
          after: "unsubscribed",
        },
      ],
    );

    const upgrades = await server.admin("GET", "/admin/v1/upgrades");
    assert.deepEqual(
      upgrades.body.steps.map(({ name, counts }: any) => ({ name, counts })),
      [
        {
          name: "addresses",
          counts: {
            identifiers: 2,
            identifiers_joined: 2,
            email_states: 2,
            email_states_joined: 2,
            hard_bounces: 1,
            hard_bounces_joined: 1,
            email_state_changes: 2,
          },
        },
        { name: "user names", counts: { changed: 1, apart: 1 } },
      ],
    );
    assert.deepEqual(upgrades.body.users_apart, [
      { id: idOf(901), user_name: "b@xn--mnchen-3ya.example" },
    ]);

    // Both are still found by the name as it is written, and no third one is created.
    const named = async (userName: string) => {
      const filter = `userName eq ${JSON.stringify(userName)}`;
      const headers = { "x-request-origin": "acme.example" };
      const path = `/scim/v2/Users?${new URLSearchParams({ filter })}`;
      const { body } = await server.send("GET", path, undefined, {
        key: "the-scim-token-1",
        headers,
      });
      return body.Resources.map((user: any) => user.userName).sort();
    };
    assert.deepEqual(await named("a@münchen.example"), ["a@xn--mnchen-3ya.example"]);
    // Who signs in with the name as it is written, active or not.
    const signingIn = async (name: string) => (await findActiveUser(server, name))?.id;
    assert.equal(await signingIn("a@münchen.example"), idOf(900));
    assert.equal(await signingIn("b@xn--mnchen-3ya.example"), idOf(901));
    assert.equal(await signingIn("b@münchen.example"), idOf(902));
    const inactive = await server.admin("PATCH", `/admin/v1/dashboard-users/${idOf(901)}`, {
      active: false,
    });
    assert.equal(inactive.status, 200, JSON.stringify(inactive.body));
    assert.equal(await signingIn("b@xn--mnchen-3ya.example"), undefined);
    assert.deepEqual(await named("a@xn--mnchen-3ya.example"), ["a@xn--mnchen-3ya.example"]);
    assert.deepEqual(await named("b@münchen.example"), ["b@münchen.example"]);
    assert.deepEqual(await named("b@xn--mnchen-3ya.example"), [
      "b@münchen.example",
      "b@xn--mnchen-3ya.example",
    ]);
    for (const user_name of [
      "a@münchen.example",
      "b@xn--mnchen-3ya.example",
      "b@münchen.example",
    ]) {
      const created = await server.admin("POST", "/admin/v1/dashboard-users", {
        user_name,
        given_name: "A",
        family_name: "B",
        department: "bi",
      });
      assert.equal(created.status, 409, JSON.stringify(created.body));
    }

    // What earlier versions stored is still read, unsubscribed and deleted by what was written.
    const unseen = "\u2060bob@example.com";
    assert.equal((await usersOf(unseen))[0].external_id, "unseen");
    const status = { email: unseen, subscription_state: "unsubscribed" };
    assert.equal((await call("POST", "/email/status", status)).status, 201);
    assert.equal((await usersOf(unseen))[0].email_subscribe, "unsubscribed");
    const selected = { email_addresses: [{ email: unseen, prioritization: [] }] };
    const deleted = await call("POST", "/users/delete", selected);
    assert.deepEqual([deleted.status, deleted.body.skipped], [201, undefined]);
    assert.deepEqual(await usersOf(unseen), []);
    const erased = `${path}/email-states/${encodeURIComponent(unseen)}`;
    assert.equal((await server.admin("DELETE", erased)).body.erased, true);

    assert.ok(log().includes('"identifiers":2'), log());
    assert.ok(!log().includes("nchen"), log());
    await server.stop();
    const findings = await examineAll({
      PORT: "0",
      DATA_DIR: place.dataDir,
      ...(place.databaseUrl !== undefined && { DATABASE_URL: place.databaseUrl }),
      SECRET_KEY: "the-secret-key-of-the-tests",
      ADMIN_TOKEN: "the-admin-token-of-the-tests",
    });
    const reported = findings.filter(({ check }) => ["addresses", "user names"].includes(check));
    assert.deepEqual(
      reported.map(({ status, message }) => [status, message.replace(/\d{4}-\d\d-\d\d/, "…")]),
      [
        [
          "ok",
          "Migrated …: identifiers 2, email_states 2, hard_bounces 1, identifiers_joined 2, " +
            "email_state_changes 2, email_states_joined 2, hard_bounces_joined 1.",
        ],
        ["ok", "Migrated …: apart 1, changed 1."],
        [
          "warning",
          `The dashboard user ${idOf(901)} (b@xn--mnchen-3ya.example) has the address of another dashboard user.`,
        ],
      ],
    );
  });
});
