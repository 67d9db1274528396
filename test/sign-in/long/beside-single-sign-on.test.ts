/* Invitations, passwords and passkeys beside an identity provider: off, unless the company turns them on. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  addColleague,
  choosePassword,
  enter,
  follow,
  inviteColleague,
  isIn,
  signInWith,
} from "../../colleagues.ts";
import { startProvider, visit } from "../../dashboard-users/identity-provider.ts";
import { continueSession } from "../../dashboard-users/signed-in.ts";
import { freePort } from "../../free-port.ts";
import { startOwnServer } from "../../harness.ts";

const port = await freePort();
const provider = await startProvider(port);
const server = await startOwnServer({ port, oidc: provider.settings });

const SETTING = "/admin/v1/sign-in";
const allow = async (local: boolean) => {
  const { status, body } = await server.admin("PATCH", SETTING, { local });
  assert.deepEqual([status, body.local], [200, local]);
};

const inviting = (id: string) =>
  server.admin("POST", `/admin/v1/dashboard-users/${id}/invitations`);

describe("beside an identity provider", () => {
  test("invitations, passwords and passkeys open nothing until the company allows them", async () => {
    const grace = await addColleague(server);
    const refused = await inviting(grace.id);
    assert.equal(refused.status, 409);
    assert.match(refused.body.message, /People sign in with Acme/);
    await allow(true);
    const browser = await enter(server, grace);
    await choosePassword(browser);
    assert.equal((await signInWith(server, grace.userName)).status, 200);
    const path = await inviteColleague(server, grace);
    await allow(false);
    assert.equal(await isIn(browser), false);
    const unknown = await signInWith(server, "nobody@acme.example");
    const known = await signInWith(server, grace.userName);
    assert.deepEqual([known.status, known.body], [unknown.status, unknown.body]);
    assert.equal(known.status, 403);
    assert.equal((await follow(server, path)).status, 403);
    const headers = { host: "localhost" };
    const options = await server.send(
      "POST",
      "/dashboard/session/passkey/options",
      {},
      { headers },
    );
    assert.equal(options.status, 403);
  });

  test("a session of the identity provider goes on whether or not they are allowed, and cannot set a password while they are not", async () => {
    const grace = await addColleague(server);
    provider.signsIn({ email: grace.userName, email_verified: true });
    const { cookie } = await visit(server, "/dashboard/sign-in/oidc");
    const browser = await continueSession(server, cookie);
    const set = () =>
      browser.call("PUT", "/dashboard/password", { password: "seven green umbrellas" });
    assert.equal((await set()).status, 403);
    await allow(true);
    assert.equal((await set()).status, 200);
    await allow(false);
    assert.equal(await isIn(browser), true);
    const { body } = await browser.call("GET", "/dashboard/credentials");
    assert.deepEqual([body.local, body.provider], [false, "Acme"]);
  });

  test("a manifest sets it, an absent section leaves it, and the sign-in page learns of it within a second", async () => {
    const apply = (company: object) =>
      server.admin("POST", "/admin/v1/apply", {
        company: { name: "Test", ...company },
        workspaces: [],
      });
    await apply({ sign_in: { local: true } });
    await apply({});
    assert.equal((await server.admin("GET", SETTING)).body.local, true);
    await apply({ sign_in: {} });
    assert.equal((await server.admin("GET", SETTING)).body.local, false);
    for (const body of [{ local: "yes" }, { other: true }, { local: 1 }]) {
      assert.equal((await server.admin("PUT", SETTING, body)).status, 400);
    }
  });
});
