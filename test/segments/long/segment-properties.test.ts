/*
 * The server, where SQL and the program decide together, finds the same users as a naive model (random-users.ts).
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { NEWSLETTER, startServer, WEB_APP } from "../../harness.ts";
import { membersOf, succeeds } from "../../segment-calls.ts";
import { sized } from "../../sizes.ts";
import { filterArbitrary, meets, type SentUser, userArbitrary } from "../random-users.ts";

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

test("a random filter finds the same users by SQL and by a naive model", async () => {
  const now = Date.now();
  const arbitraries = Array.from({ length: USERS }, (_, index) => userArbitrary(now, index));
  const [users = []] = fc.sample(fc.tuple(...arbitraries), { numRuns: 1, seed: 4_711 });
  const workspace = await send(users);
  await fc.assert(
    fc.asyncProperty(filterArbitrary(now), async (filter) => {
      const expected = users
        .filter((user) => meets(filter, user, now))
        .map(({ name }) => name)
        .sort();
      assert.deepEqual(await membersOf(server, workspace, filter), expected, "server and model");
    }),
    { numRuns: sized(80, 500) },
  );
});
