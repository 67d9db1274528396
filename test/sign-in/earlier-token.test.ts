/* PREVIOUS_ADMIN_TOKEN: what the administrator makes with an earlier admin token, while the server accepts both. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { addColleague, follow, pathOf } from "../colleagues.ts";
import { continueSession, cookieIn, type SignedIn } from "../dashboard-users/signed-in.ts";
import { lastingDatabase } from "../databases.ts";
import { startOwnServer, type TestServer } from "../harness.ts";

const EARLIER = "the-earlier-admin-token-of-the-tests";
const NEW = "the-new-admin-token-of-the-tests";

const start = async (
  lasting: Awaited<ReturnType<typeof lastingDatabase>>,
  tokens: { readonly adminToken: string; readonly previousAdminToken?: string },
) => startOwnServer(tokens, undefined, lasting);

async function signInWith(server: TestServer, admin_token: string): Promise<SignedIn> {
  const answer = await server.send("POST", "/dashboard/session", { admin_token });
  return continueSession(server, cookieIn(answer));
}

/** Two links to sign in: one made with the token, one for a colleague in a session that it began. */
async function linksWith(server: TestServer, key: string): Promise<string[]> {
  const link = await server.send("POST", "/admin/v1/sign-in-links", undefined, { key });
  const { id } = await addColleague(server);
  const browser = await signInWith(server, key);
  const invitation = await browser.call("POST", `/admin/v1/dashboard-users/${id}/invitations`);
  return [link, invitation].map(({ body }) => pathOf(body.url));
}

const statusOf = async (server: TestServer, { cookie }: SignedIn): Promise<number> =>
  (await server.send("GET", "/dashboard/session", undefined, { headers: { cookie } })).status;

test("what the administrator made with an earlier admin token is good while PREVIOUS_ADMIN_TOKEN names it, and ends with it", async () => {
  const lasting = await lastingDatabase();
  const before = await start(lasting, { adminToken: EARLIER });
  const begun = await signInWith(before, EARLIER);
  await before.stop();

  const both = await start(lasting, { adminToken: NEW, previousAdminToken: EARLIER });
  const [withEarlier, withNew] = [await signInWith(both, EARLIER), await signInWith(both, NEW)];
  for (const path of await linksWith(both, EARLIER)) {
    assert.equal((await follow(both, path)).status, 303);
  }
  const [link = "", ...rest] = await linksWith(both, EARLIER);
  const followed = await continueSession(both, cookieIn(await follow(both, link)));
  const earlier = [begun, withEarlier, followed];
  assert.deepEqual(await Promise.all(earlier.map((each) => statusOf(both, each))), [200, 200, 200]);
  rest.push(...(await linksWith(both, EARLIER)));
  const lastingLinks = await linksWith(both, NEW);
  await both.stop();

  const after = await start(lasting, { adminToken: NEW });
  assert.deepEqual(
    await Promise.all(earlier.map((each) => statusOf(after, each))),
    [401, 401, 401],
  );
  assert.equal(await statusOf(after, withNew), 200);
  for (const path of rest) assert.equal((await follow(after, path)).status, 401, path);
  for (const path of lastingLinks) assert.equal((await follow(after, path)).status, 303, path);
});
