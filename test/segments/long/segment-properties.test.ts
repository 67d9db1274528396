/*
 * The three readings of a filter agree: SQL and the program together as the server answers, the predicate on one
 * user, and a naive model (random-users.ts).
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { holds, readFilter } from "../../../src/features/segments/filter.ts";
import type { SegmentPerson } from "../../../src/features/segments/person.ts";
import { NEWSLETTER, startServer, WEB_APP } from "../../harness.ts";
import { membersOf, succeeds } from "../../segment-calls.ts";
import { sized } from "../../sizes.ts";
import { filterArbitrary, meets, type SentUser, stateOf, userArbitrary } from "../random-users.ts";

const server = await startServer();

const USERS = 48;
const iso = (at: number) => new Date(at).toISOString();

async function send(users: readonly SentUser[]) {
  const workspace = await server.workspace({ settings: { track_max_updates: 1_000 } });
  const of = ({ name }: SentUser) => ({ external_id: name });
  const bounced = users.filter(({ hasBounced, attributes }) => hasBounced && attributes.email);
  if (bounced.length > 0) {
    const emails = bounced.map(({ attributes }) => String(attributes.email));
    await succeeds(workspace.call("POST", "/email/blacklist", { email: emails }));
  }
  await succeeds(
    workspace.track({
      attributes: users.map((user) => ({
        ...user.attributes,
        ...of(user),
        ...(user.emailState && { email_subscribe: user.emailState }),
        ...(user.groupState && {
          subscription_groups: [
            { subscription_group_id: NEWSLETTER, subscription_state: user.groupState },
          ],
        }),
      })),
      events: users.flatMap((user) =>
        user.events.map(({ name, at, properties }) => ({
          ...of(user),
          name,
          time: iso(at),
          properties,
        })),
      ),
      purchases: users.flatMap((user) =>
        user.purchases.map(({ product, currency, cents, quantity, at }) => ({
          ...of(user),
          product_id: product,
          currency,
          price: cents / 100,
          quantity,
          time: iso(at),
        })),
      ),
    }),
  );
  await succeeds(
    server.admin("POST", `/admin/v1/workspaces/${workspace.name}/import`, {
      users: users
        .filter(({ sessions }) => sessions)
        .map((user) => ({
          ...of(user),
          apps: [
            {
              app_id: WEB_APP,
              sessions: user.sessions?.count,
              first_used: iso(user.sessions?.first ?? 0),
              last_used: iso(user.sessions?.last ?? 0),
            },
          ],
        })),
    }),
  );
  return workspace;
}

/** The server's stored data about such a user. */
function personOf(user: SentUser): SegmentPerson {
  const { email, country, first_name, dob, ...customAttributes } = user.attributes as any;
  const standard = { country, first_name, dob };
  const hasEmail = email !== undefined;
  const { events, purchases, emailState, sessions } = user;
  return {
    id: "",
    externalId: user.name,
    aliases: [],
    email: email ?? null,
    phone: null,
    standardAttributes: {
      ...JSON.parse(JSON.stringify(standard)),
      ...(!hasEmail && emailState && { email_subscribe: { state: emailState, set_at: iso(0) } }),
    },
    customAttributes,
    createdAt: new Date(),
    updatedAt: new Date(),
    eventSummaries: [...new Set(events.map(({ name }) => name))].map((name) => {
      const times = events.filter((each) => each.name === name).map(({ at }) => at);
      const [first, last] = [Math.min(...times), Math.max(...times)];
      return { name, count: times.length, firstAt: new Date(first), lastAt: new Date(last) };
    }),
    purchaseSummaries: purchases.map(({ product, currency, cents, quantity, at }) => ({
      productId: product,
      currency,
      count: quantity,
      revenue: ((cents * quantity) / 100).toFixed(2),
      firstAt: new Date(at),
      lastAt: new Date(at),
    })),
    events: events.map(({ name, at, properties }) => ({
      name,
      time: new Date(at),
      properties: properties as never,
    })),
    purchases: purchases.map(({ product, currency, cents, quantity, at }) => ({
      name: product,
      currency,
      price: (cents / 100).toFixed(2),
      quantity,
      time: new Date(at),
      properties: null,
    })),
    apps: sessions
      ? [
          {
            appId: WEB_APP,
            version: null,
            sessions: sessions.count,
            firstUsedAt: new Date(sessions.first),
            lastUsedAt: new Date(sessions.last),
          },
        ]
      : [],
    devices: [],
    groupStates: new Map(user.groupState ? [[NEWSLETTER, user.groupState as never]] : []),
    emailState: hasEmail ? (stateOf(user) as never) : undefined,
    hasBounced: hasEmail && user.hasBounced,
  };
}

const SCOPE = {
  groups: new Map([[NEWSLETTER, { name: "Newsletter", channel: "email" }]]),
  apps: new Map([[WEB_APP, { name: "Web", platform: "web" }]]),
  segments: new Map(),
};

test("a random filter finds the same users by SQL, by its predicate and by a naive model", async () => {
  const now = Date.now();
  const arbitraries = Array.from({ length: USERS }, (_, index) => userArbitrary(now, index));
  const [users = []] = fc.sample(fc.tuple(...arbitraries), { numRuns: 1, seed: 4_711 });
  const workspace = await send(users);
  const people = users.map((user) => [user, personOf(user)] as const);
  await fc.assert(
    fc.asyncProperty(filterArbitrary(now), async (filter) => {
      const expected = users.filter((user) => meets(filter, user, now)).map(({ name }) => name);
      const read = readFilter(filter, SCOPE);
      const predicted = people
        .filter(([, person]) => holds(read, person, new Date(now)))
        .map(([{ name }]) => name);
      assert.deepEqual(predicted.sort(), expected.sort(), "predicate and model");
      assert.deepEqual(await membersOf(server, workspace, filter), expected, "server and model");
    }),
    { numRuns: sized(80, 500) },
  );
});
