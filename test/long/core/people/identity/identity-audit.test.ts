/* A dry run previews the effects of a merge or a deletion; the audit records them. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  alias,
  byAlias,
  byEmail,
  countsOf,
  id,
  identify,
  makeUsers,
  many,
  merge,
  newAliases,
  notesOf,
  refuses,
  remove,
  renameAliases,
  succeeds,
  TIME,
  userOf,
} from "../../../../core/people/identity/identity-calls.ts";
import { NEWSLETTER, startServer, type TestWorkspace, WEB_APP } from "../../../../harness.ts";

const server = await startServer();

interface Entry {
  readonly id: string;
  readonly action: string;
  readonly effects: readonly Record<string, any>[];
  readonly [member: string]: unknown;
}

const auditOf = async (workspace: TestWorkspace, query = ""): Promise<Entry[]> => {
  const path = `/admin/v1/workspaces/${workspace.name}/identity-audit${query}`;
  const { status, body } = await server.admin("GET", path);
  assert.equal(status, 200);
  return body.entries;
};

/** Two users with common and different data. */
async function twoUsers(): Promise<TestWorkspace> {
  const workspace = await server.workspace();
  const state = { subscription_group_id: NEWSLETTER, subscription_state: "subscribed" };
  await makeUsers(
    workspace,
    { ...id("k"), first_name: "Kay", plan: "own" },
    {
      ...id("m"),
      first_name: "Emmy",
      last_name: "Noether",
      email: "emmy@example.com",
      plan: "other",
      age: 53,
      subscription_groups: [state],
    },
  );
  await workspace.track({
    events: [
      { ...id("m"), name: "k", time: "2026-02-01T00:00:00Z" },
      { ...id("m"), name: "k", time: "2025-12-01T00:00:00Z" },
    ],
    purchases: [{ ...id("m"), product_id: "p", currency: "EUR", price: 9.99, time: TIME }],
  });
  await succeeds(newAliases(workspace, { ...id("m"), ...alias("emmy") }));
  await server.admin("POST", `/admin/v1/workspaces/${workspace.name}/import`, {
    users: [
      {
        ...id("m"),
        devices: [{ device_id: "device-of-emmy" }],
        apps: [{ app_id: WEB_APP, sessions: 4, first_used: TIME, last_used: TIME }],
      },
    ],
  });
  return workspace;
}

/** First k, then m, if they exist. */
async function everybody(workspace: TestWorkspace): Promise<Record<string, any>[]> {
  const users = await workspace.profiles({ external_ids: ["k", "m"] });
  return users.sort((a, b) => (a.external_id < b.external_id ? -1 : 1));
}

describe("a dry run", () => {
  test("a dry run of a merge reports each field as taken, kept or added up, and changes nothing", async () => {
    const workspace = await twoUsers();
    const before = await everybody(workspace);
    const answer = await merge(workspace, [[id("m"), id("k")]], { dry_run: true });
    assert.equal(answer.status, 202);
    assert.equal(answer.body.dry_run, true);
    const [k, m] = before;
    const [result, ...others] = answer.body.results ?? [];
    assert.deepEqual(others, []);
    assert.deepEqual(
      { ...result, effects: [] },
      {
        input_array: "merge_updates",
        index: 0,
        outcome: "merged",
        kept: { platform_id: k?.platform_id, external_id: "k" },
        merged: { platform_id: m?.platform_id, external_id: "m" },
        effects: [],
      },
    );
    const first = "2025-12-01T00:00:00.000Z";
    const last = "2026-02-01T00:00:00.000Z";
    const usage = { version: null, sessions: 4, first_used: TIME, last_used: TIME };
    const bought = { count: 1, first: TIME, last: TIME, amount_cents: 999 };
    const expected: [string, string | undefined, string, unknown, unknown, unknown][] = [
      ["external_id", undefined, "freed", "k", "m", "k"],
      ["user_aliases", undefined, "combined", [], [alias("emmy")], [alias("emmy")]],
      ["email", undefined, "taken", null, "emmy@example.com", "emmy@example.com"],
      ["first_name", undefined, "kept", "Kay", "Emmy", "Kay"],
      ["last_name", undefined, "taken", null, "Noether", "Noether"],
      ["custom_attributes", "age", "taken", null, 53, 53],
      ["custom_attributes", "plan", "kept", "own", "other", "own"],
      [
        "custom_events",
        "k",
        "added_up",
        { count: 1, first: TIME, last: TIME },
        { count: 2, first, last },
        { count: 3, first, last },
      ],
      [
        "custom_events",
        "m",
        "added_up",
        null,
        { count: 1, first: TIME, last: TIME },
        { count: 1, first: TIME, last: TIME },
      ],
      ["purchases", "p (EUR)", "added_up", null, bought, bought],
      ["subscription_groups", NEWSLETTER, "taken", null, "subscribed", "subscribed"],
      ["apps", WEB_APP, "taken", null, usage, usage],
      ["devices", "device-of-emmy", "taken", null, {}, {}],
      ["session_count", undefined, "added_up", 0, 4, 4],
      ["purchase_count", undefined, "added_up", 0, 1, 1],
      ["purchase_amount_cents", undefined, "added_up", 0, 999, 999],
    ];
    assert.deepEqual(
      result?.effects,
      expected.map(([field, name, effect, kept, merged, after]) => ({
        field,
        ...(name && { name }),
        effect,
        kept,
        merged,
        result: after,
      })),
    );
    assert.deepEqual(await everybody(workspace), before);
    assert.deepEqual(await auditOf(workspace), []);
  });

  test("a dry run of a merge reports what the merge then does", async () => {
    const workspace = await twoUsers();
    const answer = await merge(workspace, [[id("m"), id("k")]], { dry_run: true });
    await succeeds(merge(workspace, [[id("m"), id("k")]]));
    const k = (await userOf(workspace, "k")) as Record<string, any>;
    for (const { field, name, result } of answer.body.results?.[0]?.effects ?? []) {
      if (field === "custom_attributes") assert.deepEqual(k.custom_attributes[name], result);
      if (field === "custom_events") assert.equal(countsOf(k)[name], result.count);
      if (name === undefined && Object.hasOwn(k, field)) assert.deepEqual(k[field], result);
    }
  });

  test("a dry run resolves chains of merges item by item and reports skipped items", async () => {
    const workspace = await server.workspace();
    await makeUsers(workspace, id("a"), id("b"), id("c"));
    const pairs: [object, object][] = [
      [id("a"), id("b")],
      [id("b"), id("c")],
      [id("a"), id("c")],
    ];
    const { body } = await merge(workspace, pairs, { dry_run: true });
    const results = body.results ?? [];
    assert.deepEqual(
      results.map(({ outcome, code }) => [outcome, code]),
      [
        ["merged", undefined],
        ["merged", undefined],
        ["skipped", "USER_NOT_FOUND"],
      ],
    );
    assert.deepEqual(notesOf(body.skipped), ["merge_updates 2 USER_NOT_FOUND"]);
    const names = results[1]?.effects
      .filter((effect: Record<string, any>) => effect.field === "custom_events")
      .map((effect: Record<string, any>) => effect.name);
    assert.deepEqual(names, ["b", "a"]);
    assert.deepEqual(countsOf(await userOf(workspace, "a")), { a: 1 });
  });

  test("a dry run of a deletion reports everything that would be removed, and changes nothing", async () => {
    const workspace = await twoUsers();
    const before = await everybody(workspace);
    const body = { external_ids: ["m", "nobody"], dry_run: true };
    const answer = await remove(workspace, body);
    assert.deepEqual([answer.status, answer.body.deleted], [201, 2]);
    const [deleted, skipped] = answer.body.results ?? [];
    assert.deepEqual(deleted?.user, { platform_id: before[1]?.platform_id, external_id: "m" });
    assert.equal(skipped?.code, "USER_NOT_FOUND");
    const told = deleted?.effects.map(
      ({ field, name, effect }: Record<string, any>) => `${field} ${name ?? ""} ${effect}`,
    );
    for (const line of [
      "external_id  removed",
      "user_aliases  removed",
      "email  removed",
      "custom_attributes age removed",
      "custom_events k removed",
      "purchases p (EUR) removed",
      `subscription_groups ${NEWSLETTER} removed`,
      "devices device-of-emmy removed",
    ]) {
      assert.ok(told.includes(line), `${line} in ${told}`);
    }
    assert.deepEqual(await everybody(workspace), before);
  });

  test("a dry run of an identification reports the data that would be left behind", async () => {
    const workspace = await server.workspace();
    const [ada, a] = [id("ada"), byAlias("a")];
    await makeUsers(workspace, { ...ada, score: 1 }, { ...a, plan: "x", score: 2 });
    const request = { aliases_to_identify: [{ ...ada, ...a }], merge_behavior: "none" };
    const { body } = await identify(workspace, { ...request, dry_run: true });
    const [aliases, ...told] = body.results?.[0]?.effects ?? [];
    assert.equal(`${aliases.field} ${aliases.effect}`, "user_aliases combined");
    const left = [
      ["custom_attributes", "plan", null, "x"],
      ["custom_attributes", "score", 1, 2],
      ["custom_events", "a", null, { count: 1, first: TIME, last: TIME }],
    ] as const;
    assert.deepEqual(
      told,
      left.map(([field, name, kept, merged]) => {
        return { field, name, effect: "left", kept, merged, result: kept };
      }),
    );
    await succeeds(identify(workspace, request));
    const after = (await userOf(workspace, "ada")) as Record<string, any>;
    assert.deepEqual([after.custom_attributes, countsOf(after)], [{ score: 1 }, { ada: 1 }]);
  });

  test("a dry run of a new alias changes nothing", async () => {
    const workspace = await server.workspace();
    const sent = workspace.call<any>("POST", "/users/alias/new", {
      user_aliases: [alias("a")],
      dry_run: true,
    });
    assert.equal((await succeeds(sent)).results?.[0]?.outcome, "created");
    assert.deepEqual(await workspace.profiles({ user_aliases: [alias("a")] }), []);
  });

  test("a dry run with an Idempotency-Key changes nothing", async () => {
    const workspace = await twoUsers();
    const before = await everybody(workspace);
    const body = { external_ids: ["m"], dry_run: true };
    const options = { headers: { "idempotency-key": "dry" } };
    const answer = await workspace.call<any>("POST", "/users/delete", body, options);
    assert.equal(answer.body.results[0].outcome, "deleted");
    assert.deepEqual(await everybody(workspace), before);
  });

  test("dry_run must be true or false", async () => {
    const workspace = await twoUsers();
    for (const dry_run of ["true", 1, null]) {
      const sent = remove(workspace, { external_ids: ["m"], dry_run });
      await refuses(sent, "'dry_run' must be true or false");
    }
    await succeeds(remove(workspace, { external_ids: ["m"], dry_run: false }));
    assert.equal(await userOf(workspace, "m"), undefined);
  });
});

describe("the identity audit", () => {
  /** Nothing that is a value of the users; their names for things may stand. */
  const VALUES = ["emmy", "Emmy", "Kay", "Noether", "example.com", "other", "53", "device-of"];

  test("the identity audit records a merge with its time, key, request and effects, but no user data", async () => {
    const workspace = await twoUsers();
    const [k, m] = await everybody(workspace);
    const merge_updates = [{ identifier_to_merge: id("m"), identifier_to_keep: id("k") }];
    const { headers } = await workspace.call("POST", "/users/merge", { merge_updates });
    const entries = await auditOf(workspace);
    assert.equal(entries.length, 1);
    const { id: entryId, at, effects, ...entry } = entries[0] as Entry;
    assert.match(entryId, /^[0-9a-f-]{36}$/);
    assert.ok(Math.abs(Date.parse(at as string) - Date.now()) < 60_000);
    assert.deepEqual(entry, {
      action: "merge",
      call: "POST /users/merge",
      key_name: "test",
      request_id: headers.get("x-request-id"),
      platform_id: k?.platform_id,
      merged_platform_id: m?.platform_id,
    });
    const counted = effects.find(({ field, name }) => field === "custom_events" && name === "k");
    assert.deepEqual(counted, {
      field: "custom_events",
      name: "k",
      effect: "added_up",
      kept: { count: 1 },
      merged: { count: 2 },
      result: { count: 3 },
    });
    assert.deepEqual(
      effects.map(({ field, name, effect }) => `${field} ${name ?? ""} ${effect}`),
      [
        "external_id  freed",
        "user_aliases  combined",
        "email  taken",
        "first_name  kept",
        "last_name  taken",
        "custom_attributes age taken",
        "custom_attributes plan kept",
        "custom_events k added_up",
        "custom_events m added_up",
        "purchases p (EUR) added_up",
        `subscription_groups ${NEWSLETTER} taken`,
        `apps ${WEB_APP} taken`,
        "devices  taken",
        "session_count  added_up",
        "purchase_count  added_up",
        "purchase_amount_cents  added_up",
      ],
    );
    for (const value of VALUES) assert.ok(!JSON.stringify(effects).includes(value), value);
  });

  test("the identity audit records deletions and identifications, but nothing without an effect", async () => {
    const workspace = await twoUsers();
    await makeUsers(workspace, byAlias("a"), byAlias("b"));
    const [k, m] = await everybody(workspace);
    await remove(workspace, { external_ids: ["m", "nobody"] });
    await identify(workspace, {
      aliases_to_identify: [
        { ...id("new"), ...byAlias("a") },
        { ...id("k"), ...byAlias("b") },
        { ...id("k"), ...byAlias("nobody") },
      ],
    });
    await newAliases(workspace, alias("c"));
    await renameAliases(workspace, { alias_label: "l", old_alias_name: "c", new_alias_name: "d" });
    const entries = await auditOf(workspace);
    assert.deepEqual(
      entries.map(({ action, platform_id }) => [action, platform_id]),
      [
        ["identify", k?.platform_id],
        ["identify", (await userOf(workspace, "new"))?.platform_id],
        ["delete", m?.platform_id],
      ],
    );
    const deletion = entries[2] as Entry;
    for (const value of VALUES) assert.ok(!JSON.stringify(deletion.effects).includes(value), value);
  });

  test("the identity audit can be filtered by user and paginated, newest entry first", async () => {
    const workspace = await server.workspace();
    await makeUsers(workspace, ...many(5, (index) => id(`u${index}`)));
    const ids = await Promise.all(
      many(5, async (index) => (await userOf(workspace, `u${index}`))?.platform_id),
    );
    for (const index of [1, 2, 3, 4]) {
      await succeeds(merge(workspace, [[id(`u${index}`), id("u0")]]));
    }
    const gone = (entries: Entry[]) => entries.map((entry) => entry.merged_platform_id);
    assert.deepEqual(gone(await auditOf(workspace)), [ids[4], ids[3], ids[2], ids[1]]);
    assert.deepEqual(gone(await auditOf(workspace, `?platform_id=${ids[2]}`)), [ids[2]]);
    assert.equal((await auditOf(workspace, `?platform_id=${ids[0]}`)).length, 4);

    const path = `/admin/v1/workspaces/${workspace.name}/identity-audit?limit=3`;
    const first = await server.admin("GET", path);
    assert.deepEqual(gone(first.body.entries), [ids[4], ids[3], ids[2]]);
    const second = await server.admin("GET", `${path}&cursor=${first.body.next_cursor}`);
    assert.deepEqual(gone(second.body.entries), [ids[1]]);
    assert.equal(second.body.next_cursor, undefined);
  });

  test("the identity audit requires the admin token, covers one workspace and is emptied by a reset", async () => {
    const workspace = await server.workspace();
    const other = await server.workspace();
    await makeUsers(workspace, { ...id("ada"), email: "ada@example.com" });
    await succeeds(remove(workspace, { email_addresses: [byEmail("ada@example.com")] }));
    assert.equal((await auditOf(workspace)).length, 1);
    assert.deepEqual(await auditOf(other), []);
    const path = `/admin/v1/workspaces/${workspace.name}/identity-audit`;
    assert.equal((await workspace.call("GET", path)).status, 401);
    assert.equal((await server.admin("GET", `${path}?cursor=x`)).status, 400);
    assert.equal((await server.admin("GET", `${path}?platform_id=x`)).status, 400);
    const nowhere = "/admin/v1/workspaces/nowhere/identity-audit";
    assert.equal((await server.admin("GET", nowhere)).status, 404);
    await server.admin("POST", `/admin/v1/workspaces/${workspace.name}/reset`);
    assert.deepEqual(await auditOf(workspace), []);
  });
});
