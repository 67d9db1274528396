/*
 * Requests about individual users, sent to the endpoints' handlers: every statement that they send to the
 * engine is shown to the caller first. For tests of what the engine makes of the statements.
 */

import assert from "node:assert/strict";
import { createReadRecorder } from "../../../src/core/admin/audit/audit.ts";
import type { ErasedPerson } from "../../../src/core/admin/retention/retention.ts";
import { insertWorkspace } from "../../../src/core/admin/workspaces/store.ts";
import { systemClock } from "../../../src/core/base/clock.ts";
import { DEFAULT_SETTINGS } from "../../../src/core/base/context/workspace-settings.ts";
import { createMetrics } from "../../../src/core/base/observe/metrics.ts";
import { NO_TRACING } from "../../../src/core/base/observe/tracing.ts";
import type { Database, Queryable } from "../../../src/core/database/database.ts";
import type { LanePlan } from "../../../src/core/database/lanes.ts";
import { type Endpoint, type IdempotencyClaim, pathsOf } from "../../../src/core/http/endpoint.ts";
import { createIdempotency } from "../../../src/core/http/idempotency.ts";
import { createAddressCache } from "../../../src/core/people/profiles/address-cache.ts";
import { createQuotas } from "../../../src/core/people/quotas/quotas.ts";
import { createSetQueue } from "../../../src/core/people/subscriptions/set-group-states.ts";
import { createWriteQueue } from "../../../src/core/track/write-queue.ts";
import { createLargeExports } from "../../../src/features/export/export-by-ids.ts";
import { EXPORT_FIELDS } from "../../../src/features/export/profile-view.ts";
import { createSmallExports } from "../../../src/features/export/small-exports.ts";
import { ASSEMBLED_PARTS, ENDPOINTS } from "../../../src/server/assembled.ts";
import { ALERTS, NEWSLETTER, WEB_APP } from "../../harness.ts";
import { contextIn, testWorkspace } from "../../test-context.ts";
import { alias, byAlias, byEmail, id, TIME } from "../people/identity/identity-calls.ts";
import { identityServices } from "../people/people-services.ts";

/** Looks at a statement before it runs, on the connection that will run it. */
export type Look = (
  queryable: Queryable,
  sql: string,
  parameters: readonly unknown[],
  /** Of the request. */
  path: string,
) => Promise<void>;

type Looked = readonly [queryable: Queryable, sql: string, parameters: readonly unknown[]];

/** The database; each statement that can be planned is looked at before it runs. */
function watched(database: Database, look: (...statement: Looked) => Promise<void>): Database {
  const hasPlan = (sql: string) => /^\s*(select|insert|update|delete)/.test(sql);
  const watching = <Each extends Queryable>(queryable: Each): Each => ({
    ...queryable,
    async query<Row>(sql: string, parameters: readonly unknown[] = []) {
      if (hasPlan(sql)) await look(queryable, sql, parameters);
      return queryable.query<Row>(sql, parameters);
    },
    async execute(sql: string, parameters: readonly unknown[] = [], mustWrite?: number) {
      if (hasPlan(sql)) await look(queryable, sql, parameters);
      return queryable.execute(sql, parameters, mustWrite);
    },
  });
  return {
    ...watching(database),
    reader: () => watching(database),
    transaction: (work) => database.transaction((tx, ...rest) => work(watching(tx), ...rest)),
    transactionAtOnce: (work) => database.transaction((tx, ...rest) => work(watching(tx), ...rest)),
  };
}

const WORKSPACE = testWorkspace({
  settings: { ...DEFAULT_SETTINGS, redirect_merged_ids: true },
  appIds: new Set([WEB_APP]),
  groupChannels: new Map([
    [NEWSLETTER, "email"],
    [ALERTS, "sms"],
  ]),
});

const NO_COMPANY = "00000000-0000-4000-8000-000000000000";

/** Sends requests to the endpoints' handlers, as the server does once a request is checked. */
function clientOf(watchedDatabase: Database, lanes: LanePlan) {
  const parts = {
    ...identityServices(watchedDatabase),
    metrics: createMetrics(),
    tracing: NO_TRACING,
  };
  const addressCache = createAddressCache();
  const services = {
    ...parts,
    recordAuditedRead: createReadRecorder(parts),
    writeQueue: createWriteQueue(
      {
        ...parts,
        addressCache,
        idempotency: createIdempotency(parts),
        quotas: createQuotas(watchedDatabase, systemClock),
        onWritten: () => {},
      },
      lanes,
    ),
    setQueue: createSetQueue({ ...parts, addressCache }),
    // Traces of an erased person are searched in all rows, in steps, by design (docs/personal-data.md).
    traceErasers: [],
    // No requests and no occurrences are kept in memory.
    async forgetPerson(person: ErasedPerson) {
      const nothingKept = {
        requestLog: { forget: () => {} },
        catalogue: { forgetUsers: () => {} },
      };
      const given = { database: watchedDatabase, ...nothingKept } as never;
      for (const part of ASSEMBLED_PARTS) await part.forgetPerson?.(given, person);
    },
    smallExports: createSmallExports(parts),
    largeExports: createLargeExports(),
  };
  return async (
    method: string,
    path: string,
    {
      workspace = WORKSPACE,
      idempotency,
      ...input
    }: {
      body?: unknown;
      query?: unknown;
      params?: object;
      workspace?: typeof WORKSPACE;
      idempotency?: IdempotencyClaim;
    },
  ): Promise<any> => {
    const endpoint = ENDPOINTS.find(
      ({ contract }) => contract.method === method && pathsOf(contract).includes(path),
    );
    assert.ok(endpoint, path);
    const { status, body } = await (endpoint as Endpoint<object>).handler(
      services,
      contextIn(workspace),
      {
        params: { name: WORKSPACE.name, ...input.params },
        query: input.query,
        body: input.body,
        idempotency,
      } as never,
    );
    assert.ok(status < 300, `${path} ${status}`);
    const { errors, skipped } = (body ?? {}) as { errors?: unknown; skipped?: unknown };
    assert.deepEqual([errors, skipped], [undefined, undefined], path);
    return body;
  };
}

/** Sends requests of every kind about individual users, with users that were made by earlier ones. */
export async function requestsAboutUsers(database: Database, look: Look): Promise<void> {
  const { id: workspaceId, name, settings } = WORKSPACE;
  const row = { id: workspaceId, name, settings, allowReset: false };
  await database.transaction((tx) => insertWorkspace(tx, NO_COMPANY, row, new Date()));
  let requested = "";
  const looking = watched(database, (...statement) => look(...statement, requested));
  const send = clientOf(looking, await database.lanes(() => 1));
  const call: typeof send = (method, path, input) => {
    requested = path;
    return send(method, path, input);
  };
  const post = (path: string, body: object) => call("POST", path, { body });
  const email = "a@example.com";
  const phone = "+14155552671";
  const group = { subscription_group_id: NEWSLETTER, subscription_state: "subscribed" };
  const names = ["a", "b", "c", "d", "e"];

  for (const name of names) {
    await post("/users/track", {
      attributes: [
        { ...id(name), email, phone, color: name, subscription_groups: [group] },
        { ...byAlias(name), _update_existing_only: false, email_subscribe: "opted_in" },
      ],
      events: [{ ...id(name), name: "e", time: TIME }],
      purchases: [{ ...id(name), product_id: "p", currency: "USD", price: 1, time: TIME }],
    });
  }
  await post("/users/track", {
    attributes: [
      { email, email_subscribe: "unsubscribed" },
      { phone, color: "red" },
    ],
    events: [{ ...byAlias("a"), name: "e", time: TIME }],
  });
  // With a change feed, and with a key of which the answer is kept.
  await call("POST", "/users/track", {
    body: {
      attributes: names.map((name) => ({ ...id(name), email, color: "blue" })),
      events: [{ ...id("followed"), name: "e", time: TIME }],
    },
    workspace: { ...WORKSPACE, feed: 1 },
    idempotency: { key: "key", fingerprint: "fingerprint" },
  });
  await post("/admin/v1/workspaces/:name/import", {
    users: names.map((name) => ({
      ...id(name),
      devices: [{ device_id: "d" }],
      campaigns_received: [{ api_campaign_id: "c", last_received: TIME }],
      messages: [{ message_id: name, channel: "email", sent_at: TIME }],
    })),
  });
  await post("/subscription/status/set", { ...group, email: [email] });
  await post("/v2/subscription/status/set", {
    subscription_groups: [{ ...group, subscription_group_id: ALERTS, phones: [phone] }],
  });
  await post("/email/status", { email, subscription_state: "subscribed" });
  const query = { subscription_group_id: NEWSLETTER, external_id: ["a"] };
  await call("GET", "/subscription/status/get", { query });
  await call("GET", "/subscription/user/status", { query: { email: [email] } });

  await post("/users/alias/new", { user_aliases: [{ ...alias("new"), ...id("a") }, alias("x")] });
  const renamed = { alias_label: "l", old_alias_name: "new", new_alias_name: "newer" };
  await post("/users/alias/update", { alias_updates: [renamed] });
  await post("/users/identify", {
    aliases_to_identify: [
      { ...id("a"), ...byAlias("b") },
      { ...id("new"), ...byAlias("c") },
    ],
  });
  await post("/users/identify", {
    aliases_to_identify: [{ ...id("a"), ...byAlias("d") }],
    merge_behavior: "none",
  });
  const merge_updates = [
    { identifier_to_merge: id("c"), identifier_to_keep: id("b") },
    { identifier_to_merge: id("b"), identifier_to_keep: id("a") },
  ];
  await post("/users/merge", { merge_updates, dry_run: true });
  await post("/users/merge", { merge_updates });
  const exported = { external_ids: ["a", "b"], user_aliases: [alias("e")], email_address: email };
  await post("/users/export/ids", { ...exported, fields_to_export: EXPORT_FIELDS });
  const USERS = "/admin/v1/workspaces/:name/users";
  for (const text of ["a", email, "+1415"]) await call("GET", USERS, { query: { query: text } });
  const { users } = await call("GET", USERS, { query: { query: "a", match: "exact" } });
  const params = { id: users[0].platform_id };
  await call("GET", `${USERS}/:id`, { params });
  await call("GET", `${USERS}/:id/timeline`, { params, query: {} });
  const { next_cursor: cursor } = await call("GET", `${USERS}/:id/timeline`, {
    params,
    query: { limit: 1 },
  });
  await call("GET", `${USERS}/:id/timeline`, { params, query: { cursor, since: TIME } });
  await call("DELETE", `${USERS}/:id`, { params });
  await post("/users/track", { attributes: [{ ...id("a"), email }] });

  await post("/users/delete", { external_ids: ["a"] });
  await post("/users/delete", { email_addresses: [byEmail(email)] });
}
