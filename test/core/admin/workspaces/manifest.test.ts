/* `POST /admin/v1/apply`: what a manifest creates, changes and removes, and when it is refused. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { lastingDatabase } from "../../../databases.ts";
import { startOwnServer } from "../../../harness.ts";
import { rowsAfterStop } from "../../../stored-rows.ts";

const server = await startOwnServer();

let names = 0;
/** A name that no other test uses. */
const newName = (): string => `manifest-${++names}`;

const apply = (...workspaces: unknown[]) =>
  server.admin("POST", "/admin/v1/apply", { company: { name: "Test" }, workspaces });

const key = (name: string, value = `${name}-key`, permissions: unknown[] = ["all"]) => ({
  name,
  key: value,
  permissions,
});

/** Changes as `created api_key dev`. */
const inWords = (changes: any[]) =>
  changes.map((each) => `${each.action} ${each.kind} ${each.name}`);

const full = (name: string) => ({
  name,
  allow_reset: true,
  api_keys: [{ ...key("dev", `${name}-dev`), ip_allowlist: ["127.0.0.0/8"] }],
  settings: {
    track_max_updates: 75,
    multi_language: true,
    blocked_external_ids: ["dummy"],
    rate_limits: { "users.track": "off", "users.export.ids": { requests: 10, per_seconds: 60 } },
    redirect_merged_ids: true,
  },
  apps: [{ id: `app-of-${name}`, name: "Web", platform: "web" }],
  subscription_groups: [
    { id: `mail-of-${name}`, name: "Mail", channel: "email" },
    { id: `text-of-${name}`, name: "Text", channel: "sms" },
    { id: `chat-of-${name}`, name: "Chat", channel: "whatsapp" },
  ],
});

const track = (bearer: string, body: object) =>
  server.send("POST", "/users/track", body, { key: bearer });

const EVENT = { external_id: "ada", name: "opened", time: "2026-01-01T12:00:00Z" };

describe("applying a manifest", () => {
  test("applying a manifest creates missing resources and reports them, and a second time changes nothing", async () => {
    await apply();
    const name = newName();
    const first = await apply(full(name));
    assert.equal(first.status, 200);
    assert.deepEqual(inWords(first.body.changes), [
      `created workspace ${name}`,
      "created api_key dev",
      "created app Web",
      "created subscription_group Mail",
      "created subscription_group Text",
      "created subscription_group Chat",
      "created preference_center default",
    ]);
    assert.equal((await track(`${name}-dev`, { events: [EVENT] })).status, 201);
    const second = await apply(full(name));
    assert.deepEqual(second.body, { changes: [], notes: [], message: "success" });
  });

  test("applying a manifest updates changed entries and removes entries that its lists omit", async () => {
    const name = newName();
    await apply(full(name));
    const declared = full(name);
    const { body } = await apply({
      ...declared,
      allow_reset: false,
      api_keys: [key("ci", `${name}-ci`), { ...declared.api_keys[0], permissions: [] }],
      apps: [],
      subscription_groups: [{ ...declared.subscription_groups[0], name: "Letters" }],
    });
    assert.deepEqual(inWords(body.changes).sort(), [
      "created api_key ci",
      "removed app Web",
      "removed subscription_group Chat",
      "removed subscription_group Text",
      "updated api_key dev",
      "updated subscription_group Letters",
      `updated workspace ${name}`,
    ]);
    for (const change of body.changes) assert.equal(change.workspace, name);
  });

  test("applying a manifest leaves absent lists and unnamed workspaces unchanged", async () => {
    const [one, two] = [newName(), newName()];
    await apply(full(one), full(two));
    const { body } = await apply({ name: one, allow_reset: true, settings: full(one).settings });
    assert.deepEqual(body.changes, []);
    for (const name of [one, two]) {
      assert.equal((await track(`${name}-dev`, { events: [EVENT] })).status, 201);
    }
  });

  test("applying a manifest resets an omitted setting to its default", async () => {
    const name = newName();
    await apply({ ...full(name), settings: { track_max_updates: 2 } });
    const events = [EVENT, EVENT, EVENT];
    assert.equal((await track(`${name}-dev`, { events })).status, 400);
    const { settings: _, ...rest } = full(name);
    await apply(rest);
    assert.equal((await track(`${name}-dev`, { events })).status, 201);
    assert.equal((await track(`${name}-dev`, { events: Array(51).fill(EVENT) })).status, 400);
  });

  test("keys, permissions, blocked ids, groups and apps of a manifest apply from the next request", async () => {
    const name = newName();
    const bearer = `${name}-key`;
    const attributes = [
      {
        external_id: "ada",
        subscription_groups: [{ subscription_group_id: "g", subscription_state: "subscribed" }],
        push_tokens: [{ app_id: "a", token: "t" }],
      },
    ];
    const base = { name, api_keys: [key("dev", bearer)] };
    await apply(base);
    assert.equal((await track(bearer, { attributes })).status, 400);
    const apps = [{ id: "a", name: "A", platform: "web" }];
    const subscription_groups = [{ id: "g", name: "G", channel: "email" }];
    await apply({ ...base, apps, subscription_groups });
    assert.equal((await track(bearer, { attributes })).status, 201);
    await apply({ ...base, settings: { blocked_external_ids: ["ada"] } });
    assert.equal((await track(bearer, { attributes })).status, 400);
    await apply({ ...base, api_keys: [key("dev", bearer, ["users.export.ids"])] });
    assert.equal((await track(bearer, { attributes })).status, 403);
    await apply({ ...base, api_keys: [key("dev", `${bearer}-2`)] });
    assert.equal((await track(bearer, { attributes })).status, 401);
    assert.equal((await track(`${bearer}-2`, { events: [EVENT] })).status, 201);
    await apply({ ...base, api_keys: [] });
    assert.equal((await track(`${bearer}-2`, { events: [EVENT] })).status, 401);
  });

  test("manifests that are applied concurrently create each workspace once", async () => {
    const all = Array.from({ length: 8 }, newName);
    const shared = newName();
    const answers = await Promise.all(all.map((name) => apply(full(name), { name: shared })));
    const made = answers.flatMap((answer) => inWords(answer.body.changes));
    assert.equal(made.filter((change) => change === `created workspace ${shared}`).length, 1);
    for (const name of all) {
      await track(`${name}-dev`, { events: [{ ...EVENT, external_id: name }] });
      const found = await server.send(
        "POST",
        "/users/export/ids",
        { external_ids: all },
        { key: `${name}-dev` },
      );
      assert.deepEqual(
        found.body.users.map((user: any) => user.external_id),
        [name],
      );
    }
  });

  test("the secrets of a manifest are stored only as hashes and never returned", async () => {
    const lasting = await lastingDatabase();
    const own = await startOwnServer({}, undefined, lasting);
    const secret = "a-secret-that-must-not-show";
    const manifest = {
      company: { name: "Test" },
      workspaces: [{ name: "secret", api_keys: [key("dev", secret)] }],
    };
    const answer = await own.admin("POST", "/admin/v1/apply", manifest);
    assert.ok(!JSON.stringify(answer.body).includes(secret));
    const rows = await rowsAfterStop<{ row: string }>(
      own,
      lasting,
      "select k::text as row from api_keys k",
    );
    assert.equal(rows.length > 0, true);
    assert.ok(rows.every(({ row }) => !row.includes(secret)));
  });
});

describe("an invalid manifest is refused with the place and the rule, and nothing is applied", () => {
  const faults: [fault: object, place: (string | number)[], message: RegExp][] = [
    [{ nme: "x" }, ["nme"], /'nme'/],
    [{ name: "" }, ["name"], /'workspaces\[1\]\.name'/],
    [{ name: 5 }, ["name"], /'workspaces\[1\]\.name' must be a string/],
    [{ name: "x".repeat(256) }, ["name"], /'workspaces\[1\]\.name'/],
    [{ allow_reset: "yes" }, ["allow_reset"], /allow_reset' must be true or false/],
    [{ settings: { track_max_updates: 0 } }, ["settings", "track_max_updates"], /max_updates'/],
    [{ settings: { track_max_updates: 1.5 } }, ["settings", "track_max_updates"], /whole number/],
    [{ settings: { unknown: 1 } }, ["settings", "unknown"], /'unknown'/],
    [{ settings: { blocked_external_ids: "x" } }, ["settings", "blocked_external_ids"], /an array/],
    [
      { settings: { rate_limits: { "no.such": "off" } } },
      ["settings", "rate_limits"],
      /'no\.such'/,
    ],
    [
      { settings: { rate_limits: { "users.track": "on" } } },
      ["settings", "rate_limits", "users.track"],
      /users\.track' must be "off" or an object/,
    ],
    [
      { settings: { rate_limits: { "users.track": { requests: 1e20, per_seconds: 1 } } } },
      ["settings", "rate_limits", "users.track"],
      /users\.track\.\w+' must be at most/,
    ],
    [
      { settings: { rate_limits: { "users.track": { requests: 1, per_seconds: 1e300 } } } },
      ["settings", "rate_limits", "users.track"],
      /users\.track\.\w+' must be at most/,
    ],
    [
      { settings: { blocked_external_ids: Array(1_001).fill("dummy") } },
      ["settings", "blocked_external_ids"],
      /blocked_external_ids'/,
    ],
    [{ api_keys: [{ name: "x", key: "y" }] }, ["api_keys", 0], /permissions' is required/],
    [{ api_keys: [key("x", "with space")] }, ["api_keys", 0, "key"], /api_keys\[0\]\.key'/],
    [{ api_keys: [key("x", "y", ["users.fly"])] }, ["api_keys", 0, "permissions", 0], /one of all/],
    [
      { api_keys: [{ ...key("x", "y"), ip_allowlist: ["10.0.0.0/33"] }] },
      ["api_keys", 0, "ip_allowlist", 0],
      /IP address or CIDR/,
    ],
    ...["0000-01-01T00:00:00Z", "2026-02-30T00:00:00Z", "2026-02-01T00:00:00"].map(
      (previous_key_until): [object, (string | number)[], RegExp] => [
        { api_keys: [{ ...key("x", "y"), previous_key: "z", previous_key_until }] },
        ["api_keys", 0, "previous_key_until"],
        /ISO 8601 time with a zone/,
      ],
    ),
    [{ apps: [{ id: "a", name: "A" }] }, ["apps", 0], /platform' is required/],
    [
      { subscription_groups: [{ id: "g", name: "G", channel: "fax" }] },
      ["subscription_groups", 0, "channel"],
      /one of email, sms, whatsapp/,
    ],
    [{ api_keys: [key("x", "k1"), key("x", "k2")] }, ["api_keys", 1, "name"], /twice/],
    [
      { apps: [1, 2].map(() => ({ id: "a", name: "A", platform: "web" })) },
      ["apps", 1, "id"],
      /the id 'a' twice/,
    ],
  ];
  for (const [fault, place, message] of faults) {
    test(JSON.stringify(fault).slice(0, 80), async () => {
      const [good, bad] = [newName(), newName()];
      const answer = await apply(full(good), { name: bad, ...fault });
      assert.equal(answer.status, 400, JSON.stringify(answer.body));
      assert.match(answer.body.message, message);
      const at = answer.body.path as (string | number)[];
      assert.deepEqual(at.slice(0, 2 + place.length), ["workspaces", 1, ...place]);
      assert.equal((await track(`${good}-dev`, { events: [EVENT] })).status, 401);
    });
  }

  const wholes: [manifest: object, message: RegExp][] = [
    [{}, /'company'.*(is|are) required/],
    [{ company: { name: "Test" } }, /'workspaces' is required/],
    [{ company: "Test", workspaces: [] }, /'company' must be an object/],
    [{ company: {}, workspaces: [] }, /'company\.name' is required/],
    [{ company: { name: "Test" }, workspaces: {} }, /'workspaces' must be an array/],
    [{ company: { name: "Test" }, workspaces: [], more: 1 }, /'more'/],
    [
      { company: { name: "Test" }, workspaces: [{ name: "same" }, { name: "same" }] },
      /'workspaces' has the name 'same' twice/,
    ],
  ];
  for (const [manifest, message] of wholes) {
    test(JSON.stringify(manifest).slice(0, 80), async () => {
      const answer = await server.admin("POST", "/admin/v1/apply", manifest);
      assert.equal(answer.status, 400);
      assert.match(answer.body.message, message);
      assert.ok(Array.isArray(answer.body.path));
    });
  }

  test("a manifest key whose secret is already in use is refused with 409 and the name of the key", async () => {
    const [one, two] = [newName(), newName()];
    await apply(full(one));
    const answer = await apply({ name: two, api_keys: [key("mine", `${one}-dev`)] });
    assert.equal(answer.status, 409);
    assert.match(answer.body.message, /'mine' has a secret that is already in use or was revoked/);
    assert.deepEqual(answer.body.path, ["workspaces", 0, "api_keys"]);
    assert.ok(!JSON.stringify(answer.body).includes(`${one}-dev`));
    assert.deepEqual(inWords((await apply({ name: two })).body.changes), [
      `created workspace ${two}`,
      "created preference_center default",
    ]);
  });
});
