/* Attempts to sign in as another person: look-alike names, forged attempts, links of others. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { freePort } from "../../free-port.ts";
import { startOwnServer } from "../../harness.ts";
import { declare, scimClient } from "../../scim-client.ts";
import { startProvider, visit } from "../identity-provider.ts";
import { continueSession, cookieIn, type SignedIn } from "../signed-in.ts";

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

describe("a sign-in as somebody else", () => {
  test("an address with letters that look alike or fold to others is another one, in a sign-in and in SCIM", async () => {
    await scim.user({ userName: "kate.irwin@acme.example" });
    for (const lookAlike of [
      "\u212Aate.irwin@acme.example",
      "kate.\u0130rwin@acme.example",
      "kate.irw\u0131n@acme.example",
    ]) {
      provider.signsIn({ email: lookAlike, email_verified: true });
      const { status, cookie } = await visit(server, BEGIN);
      assert.equal(status, 403, lookAlike);
      assert.doesNotMatch(cookie, /session/);
      const filter = `userName eq "${lookAlike}"`;
      assert.equal((await scim.list({ filter })).body.totalResults, 0, lookAlike);
      await scim.user({ userName: lookAlike });
      assert.equal((await scim.list({ filter })).body.totalResults, 1, lookAlike);
    }
    const { body } = await scim.list({ filter: 'userName eq "KATE.IRWIN@acme.example"' });
    assert.equal(body.totalResults, 1);
  });

  test("a letter with a mark is the same however it is composed", async () => {
    const { userName } = await scim.user({ userName: "zo\u00EB@acme.example" });
    const browser = await signInAs("Zoe\u0308@acme.example");
    const { body } = await browser.call("GET", "/dashboard/session");
    assert.equal(body.person.user_name, userName);
  });

  test("a claim that cannot be a user name signs nobody in and is not repeated", async () => {
    for (const email of [
      "ada\0@acme.example",
      `${"a".repeat(200_000)}@acme.example`,
      "\uD800@x.y",
    ]) {
      provider.signsIn({ email, email_verified: true });
      const { status, text } = await visit(server, BEGIN);
      assert.equal(status, 403);
      assert.match(text, /with the name that the identity provider gives you/);
      assert.ok(text.length < 5_000, `${text.length}`);
    }
  });

  test("a cookie that no server signed, or that is edited, makes the server ask no provider", async () => {
    const begun = await fetch(server.url + BEGIN, { redirect: "manual" });
    const [pair = ""] = begun.headers.getSetCookie()[0]?.split(";") ?? [];
    const signed = decodeURIComponent(pair.slice(pair.indexOf("=") + 1));
    const [content = "", signature = ""] = signed.split(".");
    const attempt = JSON.parse(Buffer.from(content, "base64url").toString());
    const edited = Buffer.from(JSON.stringify({ ...attempt, state: "x" })).toString("base64url");
    const before = provider.asked.length;
    for (const cookie of [
      JSON.stringify(attempt),
      edited,
      `${edited}.${signature}`,
      `${edited}.`,
    ]) {
      const response = await fetch(`${server.url}/dashboard/sign-in/callback?code=x&state=x`, {
        redirect: "manual",
        headers: { cookie: `rapport-sign-in=${encodeURIComponent(cookie)}` },
      });
      assert.equal(response.status, 403);
    }
    assert.equal(provider.asked.length, before);
  });

  test("an address with failed sign-ins makes the server ask the provider no more for a minute", async () => {
    const ownPort = await freePort();
    const tenant = await startProvider(ownPort);
    const own = await startOwnServer({ port: ownPort, oidc: tenant.settings, maxFailedAuth: 3 });
    const statuses: number[] = [];
    for (let turn = 0; turn < 6; turn++) {
      const begun = await fetch(own.url + BEGIN, { redirect: "manual" });
      const state = new URL(begun.headers.get("location") ?? "").searchParams.get("state");
      const [cookie = ""] = begun.headers.getSetCookie()[0]?.split(";") ?? [];
      const back = `${own.url}/dashboard/sign-in/callback?code=x&state=${state}&iss=${tenant.settings.issuer}`;
      statuses.push((await fetch(back, { redirect: "manual", headers: { cookie } })).status);
    }
    assert.deepEqual(statuses, [403, 403, 403, 429, 429, 429]);
    assert.equal(tenant.asked.filter(({ pathname }) => pathname === "/token").length, 3);
  });

  test("a link that a dashboard user made signs in that user, and ends with their removal", async () => {
    const { userName, id } = await person([], { companyPermissions: ["admin"] });
    const browser = await signInAs(userName);
    const newLink = async () =>
      new URL((await browser.call("POST", "/admin/v1/sign-in-links")).body.url);
    const follow = ({ pathname, search }: URL) =>
      fetch(server.url + pathname + search, {
        method: "POST",
        redirect: "manual",
        headers: { "content-type": "application/x-www-form-urlencoded" },
      });
    const [used, left] = [await newLink(), await newLink()];
    const followed = await continueSession(server, cookieIn(await follow(used)));
    const { body } = await followed.call("GET", "/dashboard/session");
    assert.deepEqual([body.person.id, body.person.user_name], [id, userName]);
    assert.equal((await appsOf(followed)).status, 200);
    await scim.users("DELETE", `/${id}`);
    assert.equal((await appsOf(followed)).status, 401);
    assert.equal((await follow(left)).status, 401);
    const audit = await server.admin("GET", "/admin/v1/audit?kind=dashboard_session&limit=5");
    assert.ok(audit.body.entries.every(({ name }: { name: string }) => name !== "administrator"));
  });
});
