/* Sign-in through an OpenID Connect provider: who is signed in, as which user, and for how long. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertAbout } from "../../about-time.ts";
import { startProvider, visit } from "../../dashboard-users/identity-provider.ts";
import { continueSession, type SignedIn } from "../../dashboard-users/signed-in.ts";
import { freePort } from "../../free-port.ts";
import { startOwnServer } from "../../harness.ts";
import { declare, scimClient } from "../../scim-client.ts";

const port = await freePort();
const provider = await startProvider(port);
const server = await startOwnServer({ port, oidc: provider.settings });
await declare(server);
const scim = scimClient(server);

const BEGIN = "/dashboard/sign-in/oidc";

/** Creates a dashboard user with these permissions in the workspace `demo`. */
async function person(appGroupPermissions: readonly string[] = ["basic_access"], more = {}) {
  const permissions = {
    companyPermissions: [],
    appGroup: [{ appGroupName: "demo", appGroupPermissions }],
    ...more,
  };
  return scim.user({ permissions }) as Promise<any>;
}

async function signInAs(email: string): Promise<SignedIn> {
  provider.signsIn({ email, email_verified: true });
  const { status, text, cookie } = await visit(server, BEGIN);
  assert.equal(status, 200, text);
  return continueSession(server, cookie);
}

const appsOf = (browser: SignedIn) => browser.call("GET", "/admin/v1/workspaces/demo/apps");

describe("who may sign in", () => {
  test("the dashboard user whose user name is the verified address is signed in, ignoring case", async () => {
    const user = await person();
    const browser = await signInAs(user.userName.toUpperCase());
    const { body } = await browser.call("GET", "/dashboard/session");
    assert.deepEqual(body.person, {
      user_name: user.userName,
      display_name: "Ada Lovelace",
      id: user.id,
    });
    assert.equal(body.administrator, false);
    assert.deepEqual(body.workspaces, ["demo"]);
    assert.deepEqual(body.permissions, { company: [], workspaces: { demo: ["basic_access"] } });
  });

  test("lastSignInAt is the time of the last sign-in, in UTC, and lastModified stays", async () => {
    const user = await person();
    await signInAs(user.userName);
    const { body } = await scim.users("GET", `/${user.id}`);
    assertAbout(`${body.lastSignInAt} UTC`);
    assert.equal(body.meta.lastModified, user.meta.lastModified);
  });

  for (const [who, claims, message] of [
    ["a stranger", { email: "eve@evil.example", email_verified: true }, /no dashboard user eve@/],
    ["an unverified address", { email: "x@acme.example" }, /does not confirm/],
    [
      "an address said to be unverified",
      { email: "x@acme.example", email_verified: false },
      /does not confirm/,
    ],
    ["a person without an address", {}, /does not confirm/],
    ["a person whom the provider refuses", undefined, /did not let you sign in/],
  ] as const) {
    test(`${who} sees a page that says why there is no sign-in, and gets no session`, async () => {
      provider.signsIn(claims);
      const { status, text, cookie } = await visit(server, BEGIN);
      assert.equal(status, 403);
      assert.match(text, message);
      assert.doesNotMatch(cookie, /session/);
    });
  }

  test("a deactivated dashboard user cannot sign in", async () => {
    const { userName, id } = await person();
    await scim.patch(id, { op: "replace", path: "active", value: false });
    provider.signsIn({ email: userName, email_verified: true });
    assert.equal((await visit(server, BEGIN)).status, 403);
  });

  test("another claim than the email address names the dashboard user where the settings say so", async () => {
    const ownPort = await freePort();
    const tenant = await startProvider(ownPort);
    const oidc = { ...tenant.settings, userClaim: "preferred_username" };
    const own = await startOwnServer({ port: ownPort, oidc });
    await declare(own);
    const { userName } = await scimClient(own).user();
    tenant.signsIn({ email: "eve@evil.example", preferred_username: userName });
    const { cookie } = await visit(own, BEGIN);
    const browser = await continueSession(own, cookie);
    const { body } = await browser.call("GET", "/dashboard/session");
    assert.equal(body.person.user_name, userName);

    tenant.signsIn({ email: userName, email_verified: true });
    const { status, text } = await visit(own, BEGIN);
    assert.equal(status, 403);
    assert.match(text, /sends no .*preferred_username/);
  });

  test("a name that is markup is shown as text on the page of refusal", async () => {
    provider.signsIn({ email: "<img/src=x>@evil.example", email_verified: true });
    const { text } = await visit(server, BEGIN);
    assert.doesNotMatch(text, /<img/);
  });

  test("a server without an identity provider says so", async () => {
    const own = await startOwnServer();
    const { status, text } = await visit(own, BEGIN);
    assert.equal(status, 404);
    assert.match(text, /No identity provider is set up/);
    assert.equal((await visit(own, "/dashboard/sign-in/callback?code=x&state=y")).status, 403);
  });

  test("a visitor learns the identity provider's name and the address for signing in", async () => {
    const { body } = await server.send("GET", "/dashboard/session");
    assert.deepEqual(body.sign_in, { oidc: { name: "Acme", url: BEGIN }, local: false });
  });
});

describe("the way to the provider and back", () => {
  test("an attempt has its own state, nonce and PKCE challenge", async () => {
    const { userName } = await person();
    await signInAs(userName);
    await signInAs(userName);
    const [one, other] = provider.asked.filter((url) => url.pathname === "/auth").slice(-2);
    for (const name of ["state", "nonce", "code_challenge"]) {
      assert.ok((one?.searchParams.get(name) ?? "").length >= 43, name);
      assert.notEqual(one?.searchParams.get(name), other?.searchParams.get(name));
    }
    assert.equal(one?.searchParams.get("code_challenge_method"), "S256");
  });

  test("a callback works only in the browser that began the sign-in, and only once", async () => {
    const { userName } = await person();
    provider.signsIn({ email: userName, email_verified: true });
    const jars = new Map<string, Map<string, string>>();
    const { path } = await visit(server, BEGIN, jars);
    const back = path.find((url) => url.pathname === "/dashboard/sign-in/callback");
    assert.ok(back);
    // Of an attacker who makes a victim's browser open the callback: there is no attempt.
    const victim = await visit(server, back.pathname + back.search);
    assert.equal(victim.status, 403);
    assert.match(victim.text, /began in another browser/);
    // In the same browser: the attempt is over.
    const again = await visit(server, back.pathname + back.search, jars);
    assert.equal(again.status, 403);
  });

  test("a callback with the state of another attempt begins no session", async () => {
    const { userName } = await person();
    provider.signsIn({ email: userName, email_verified: true });
    const { path } = await visit(server, BEGIN);
    const back = path.find((url) => url.pathname === "/dashboard/sign-in/callback");
    const begun = await fetch(server.url + BEGIN, { redirect: "manual" });
    const cookie = begun.headers
      .getSetCookie()
      .map((set) => set.split(";", 1)[0])
      .join("; ");
    const response = await fetch(`${server.url}/dashboard/sign-in/callback${back?.search}`, {
      redirect: "manual",
      headers: { cookie },
    });
    assert.equal(response.status, 403);
    assert.doesNotMatch(response.headers.getSetCookie().join(), /session_/);
  });

  test("a cookie or a callback of another form is refused, never a 5xx", async () => {
    for (const cookie of ["", "x", "{}", "[]", "null", '{"state":1}', "%"]) {
      for (const query of ["", "?code=x&state=y", "?error=<b>&error_description=<i>", "?iss=x"]) {
        const response = await fetch(`${server.url}/dashboard/sign-in/callback${query}`, {
          redirect: "manual",
          headers: { cookie: `rapport-sign-in=${encodeURIComponent(cookie)}` },
        });
        assert.equal(response.status, 403);
        assert.doesNotMatch(await response.text(), /<b>|<i>/);
      }
    }
  });

  test("after signing in the browser returns to the view that it came from", async () => {
    const { userName } = await person();
    provider.signsIn({ email: userName, email_verified: true });
    const wanted = "/dashboard/w/demo/users?query=ada#top";
    const { path } = await visit(server, `${BEGIN}?return_to=${encodeURIComponent(wanted)}`);
    const last = path.at(-1);
    assert.equal(`${last?.pathname}${last?.search}${last?.hash}`, wanted);
  });

  test("signing in never leads a browser to another site or out of the dashboard", async () => {
    const { userName } = await person();
    provider.signsIn({ email: userName, email_verified: true });
    for (const wanted of [
      "https://evil.example/",
      "//evil.example/dashboard/",
      "/\\evil.example/dashboard/",
      "/\t/evil.example/dashboard/",
      "\\\\evil.example",
      "javascript:alert(1)",
      "/dashboard/../users/track",
      "/admin/v1/workspaces",
      "/dashboard.evil.example",
      "dashboard/",
      "",
    ]) {
      const { path } = await visit(server, `${BEGIN}?return_to=${encodeURIComponent(wanted)}`);
      const last = path.at(-1);
      assert.equal(last?.origin, server.url, wanted);
      assert.equal(last?.pathname, "/dashboard/", wanted);
    }
  });
});

describe("the end of a person's rights", () => {
  test("a removed dashboard user is signed out at once, in every browser", async () => {
    const { userName, id } = await person();
    const browsers = [await signInAs(userName), await signInAs(userName)];
    for (const browser of browsers) assert.equal((await appsOf(browser)).status, 200);
    await scim.users("DELETE", `/${id}`);
    for (const browser of browsers) assert.equal((await appsOf(browser)).status, 401);
  });

  test("a deactivated dashboard user is signed out at once, and stays so when activated again", async () => {
    const { userName, id } = await person();
    const browser = await signInAs(userName);
    await scim.patch(id, { op: "replace", path: "active", value: false });
    assert.equal((await appsOf(browser)).status, 401);
    await scim.patch(id, { op: "replace", path: "active", value: true });
    assert.equal((await appsOf(browser)).status, 401);
    assert.equal((await appsOf(await signInAs(userName))).status, 200);
  });

  test("a permission that is given or revoked during a session takes effect with the next request", async () => {
    const { userName, id } = await person(["basic_access", "manage_apps"]);
    const browser = await signInAs(userName);
    const put = () =>
      browser.call("PUT", "/admin/v1/workspaces/demo/apps/9f1c0a52-6a0e-4a3e-9d55-0c9b1f3c2d11", {
        name: "App",
        platform: "web",
      });
    assert.equal((await put()).status, 200);
    const permit = (appGroupPermissions: string[]) =>
      scim.patch(id, {
        op: "replace",
        path: "permissions",
        value: {
          companyPermissions: [],
          appGroup: [{ appGroupName: "demo", appGroupPermissions }],
        },
      });
    await permit(["basic_access"]);
    const refused = await put();
    assert.equal(refused.status, 403);
    assert.match(refused.body.message, /permission manage_apps in the workspace 'demo'/);
    await permit(["basic_access", "manage_apps"]);
    assert.equal((await put()).status, 200);
  });

  test("a permission set gives its permissions to those who have it, and a change to it takes effect at once", async () => {
    const { userName } = await person([], {
      appGroup: [
        {
          appGroupName: "demo",
          appGroupPermissionSets: [{ appGroupPermissionSetName: "Marketers" }],
        },
      ],
    });
    const browser = await signInAs(userName);
    assert.equal((await appsOf(browser)).status, 200);
    const set = (permissions: string[]) =>
      server.admin("PUT", "/admin/v1/permission-sets/Marketers", { permissions });
    await set([]);
    assert.equal((await appsOf(browser)).status, 403);
    await set(["basic_access"]);
    assert.equal((await appsOf(browser)).status, 200);
  });

  test("signing out everywhere ends the sessions of this person and of no other", async () => {
    const [one, other] = [await person(), await person()];
    const browsers = [await signInAs(one.userName), await signInAs(one.userName)];
    const bystander = await signInAs(other.userName);
    await browsers[0]?.call("DELETE", "/dashboard/sessions");
    for (const browser of browsers) assert.equal((await appsOf(browser)).status, 401);
    assert.equal((await appsOf(bystander)).status, 200);
  });

  test("a person sees nothing of a workspace in which they have no permission, not even whether it exists", async () => {
    const hidden = await server.workspace();
    const { userName } = await person(["admin"]);
    const browser = await signInAs(userName);
    const answers = await Promise.all(
      [hidden.name, "no-such-workspace"].map((name) =>
        browser.call("GET", `/admin/v1/workspaces/${name}/apps`),
      ),
    );
    assert.deepEqual(
      answers.map(({ status, body }) => [status, body.message.replace(/'.*'/, "''")]),
      Array(2).fill([403, "You lack the permission basic_access in the workspace ''."]),
    );
    const { body } = await browser.call("GET", "/dashboard/session");
    assert.deepEqual(body.workspaces, ["demo"]);
  });

  test("the audit names the person who made a change", async () => {
    const { userName, id } = await person(["manage_apps"]);
    const browser = await signInAs(userName);
    const app = "3a7c0a52-6a0e-4a3e-9d55-0c9b1f3c2d11";
    await browser.call("PUT", `/admin/v1/workspaces/demo/apps/${app}`, {
      name: "Audited",
      platform: "ios",
    });
    const { body } = await server.admin("GET", "/admin/v1/audit?limit=2");
    assert.deepEqual(
      body.entries.map((entry: any) => [entry.kind, entry.name, entry.actor, entry.actor_name]),
      [
        ["app", "Audited", "dashboard_user", userName],
        ["dashboard_session", id, "dashboard_user", userName],
      ],
    );
  });
});
