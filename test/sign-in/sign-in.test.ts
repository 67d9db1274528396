/* Signing in to the dashboard: the admin token, links that work once, cookies, and how sessions end. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createSettableClock, later } from "../../src/core/base/clock.ts";
import { continueSession, cookieIn, signIn } from "../dashboard-users/signed-in.ts";
import { lastingDatabase } from "../databases.ts";
import { startOwnServer } from "../harness.ts";

const server = await startOwnServer();
const strict = await startOwnServer({ maxFailedAuth: 3 });
/** For what counts all sessions of the administrator. */
const counted = await startOwnServer();
const workspace = await server.workspace();

const post = (admin_token: unknown, headers: Record<string, string> = {}) =>
  server.send("POST", "/dashboard/session", { admin_token }, { headers });

const open = (path: string, headers: Record<string, string> = {}) =>
  fetch(server.url + path, { redirect: "manual", headers });

/** As the button of the page does. */
const follow = (path: string, headers: Record<string, string> = {}) =>
  fetch(server.url + path, {
    method: "POST",
    redirect: "manual",
    headers: { ...FORM, ...headers },
  });

const FORM = { "content-type": "application/x-www-form-urlencoded" };

const newLink = async (): Promise<string> => {
  const { status, body } = await server.admin("POST", "/admin/v1/sign-in-links");
  assert.equal(status, 201);
  return body.url.slice(server.url.length);
};

describe("signing in with the admin token", () => {
  test("the admin token begins a session of the administrator, who may do everything", async () => {
    const { status, body } = await post(server.adminToken);
    assert.equal(status, 200);
    assert.deepEqual(body.person, {
      user_name: "administrator",
      display_name: "Administrator",
      id: null,
    });
    assert.equal(body.administrator, true);
    assert.ok(body.workspaces.includes(workspace.name));
    assert.ok(body.permissions.workspaces[workspace.name].includes("view_pii"));
    assert.ok(body.permissions.company.includes("admin"));
  });

  test("a visitor without a session learns how to sign in, and is not counted as an attacker", async () => {
    for (let turn = 0; turn < 6; turn++) {
      const { status, body } = await strict.send("GET", "/dashboard/session");
      assert.equal(status, 401);
      assert.deepEqual(body, {
        message: "You are not signed in.",
        sign_in: { oidc: null, local: true },
      });
    }
  });
});

describe("the cookie of a session", () => {
  test("over http the cookie is hidden from scripts and from requests of other sites", async () => {
    const [cookie = ""] = (await post(server.adminToken)).headers.getSetCookie();
    assert.match(cookie, /^rapport-session=session_[\w-]{43};/);
    assert.match(cookie, /; Path=\/(;|$)/);
    assert.match(cookie, /; HttpOnly(;|$)/);
    assert.match(cookie, /; SameSite=Lax(;|$)/);
    assert.match(cookie, /; Expires=/);
    assert.doesNotMatch(cookie, /Domain/);
  });

  test("over https the cookie is Secure and has the prefix that binds it to the host", async () => {
    const own = await startOwnServer({ publicUrl: "https://rapport.example" });
    const right = { admin_token: own.adminToken };
    const [cookie = ""] = (
      await own.send("POST", "/dashboard/session", right)
    ).headers.getSetCookie();
    assert.match(cookie, /^__Host-rapport-session=session_/);
    assert.match(cookie, /; Secure(;|$)/);
    const [pair = ""] = cookie.split(";");
    const read = (value: string) =>
      own.send("GET", "/dashboard/session", undefined, { headers: { cookie: value } });
    assert.equal((await read(pair)).status, 200);
    // A cookie without the prefix may come from another host of the domain.
    assert.equal((await read(pair.replace("__Host-", ""))).status, 401);
  });

  test("the database holds the hash of a session's secret and of a link, never the secret", async () => {
    const { cookie } = await signIn(server);
    const link = await newLink();
    const secrets = [cookie.split("=")[1] ?? "", link.split("token=")[1] ?? ""];
    const { body } = await server.admin("GET", "/admin/v1/audit?limit=1000");
    for (const secret of secrets) assert.ok(!JSON.stringify(body).includes(secret));
  });

  test("no cache keeps a response for an administrator", async () => {
    const browser = await signIn(server);
    for (const path of ["/dashboard/session", "/admin/v1/workspaces"]) {
      const { headers } = await browser.call("GET", path);
      assert.equal(headers.get("cache-control"), "no-store");
    }
  });
});

describe("a link that signs in once", () => {
  test("a sign-in link begins a session and opens the dashboard, without the token in the address", async () => {
    const response = await follow(await newLink());
    assert.equal(response.status, 303);
    assert.equal(response.headers.get("location"), "/dashboard/");
    const browser = await continueSession(server, cookieIn(response));
    const { body } = await browser.call("GET", "/dashboard/session");
    assert.equal(body.administrator, true);
  });

  test("a sign-in link works once, even if it is opened twice at the same time", async () => {
    const path = await newLink();
    const responses = await Promise.all([follow(path), follow(path), follow(path)]);
    assert.deepEqual(responses.map(({ status }) => status).sort(), [303, 401, 401]);
    const refused = responses.find(({ status }) => status === 401);
    assert.match((await refused?.text()) ?? "", /was used or has expired/);
    assert.equal(refused?.headers.getSetCookie().length, 0);
  });

  test("a sign-in link is not used up by HEAD or a preview, and no other site can follow it", async () => {
    const path = await newLink();
    for (const method of ["HEAD", "GET", "GET"]) {
      const response = await fetch(server.url + path, { method });
      assert.equal(response.status, 200);
      assert.equal(response.headers.getSetCookie().length, 0);
    }
    const page = await (await open(path)).text();
    assert.match(
      page,
      /<form method="post" action="\?token=link_[\w-]+"><button>Sign in<\/button>/,
    );
    assert.equal((await follow(path, { origin: "https://evil.example" })).status, 403);
    const { origin } = new URL(server.url);
    assert.equal((await follow(path, { origin, "sec-fetch-site": "same-origin" })).status, 303);
  });

  test("the audit names the link of a session as it named the link when it was made", async () => {
    await follow(await newLink());
    const { body } = await server.admin("GET", "/admin/v1/audit?limit=10");
    const [started, created] = body.entries.filter(({ kind }: { kind: string }) =>
      ["dashboard_session", "sign_in_link"].includes(kind),
    );
    assert.match(created.details.link, /^[0-9a-f]{16}$/);
    assert.deepEqual(started.details, { way: "link", link: created.details.link });
  });

  test("a sign-in link that was guessed opens nothing", async () => {
    for (const token of ["", "x", "link_guessed", "a".repeat(128)]) {
      assert.equal((await follow(`/dashboard/sign-in?token=${token}`)).status, 401);
    }
    assert.equal((await open("/dashboard/sign-in")).status, 400);
    assert.equal((await open(`/dashboard/sign-in?token=${"a".repeat(129)}`)).status, 400);
  });
});

describe("session fixation", () => {
  test("every sign-in begins a new session, whichever cookie the browser brings", async () => {
    const planted = (await signIn(server)).cookie;
    const again = await post(server.adminToken, { cookie: planted });
    const chosen = await post(server.adminToken, { cookie: "rapport-session=session_chosen" });
    const followed = await follow(await newLink(), { cookie: planted });
    const cookies = [planted, cookieIn(again), cookieIn(chosen), cookieIn(followed)];
    assert.equal(new Set(cookies).size, 4);
    const { status } = await server.send("GET", "/dashboard/session", undefined, {
      headers: { cookie: "rapport-session=session_chosen" },
    });
    assert.equal(status, 401);
  });
});

describe("requests of other sites", () => {
  const apps = `/admin/v1/workspaces/${workspace.name}/apps/9f1c0a52-6a0e-4a3e-9d55-0c9b1f3c2d11`;
  const app = { name: "App", platform: "web" };

  test("a change needs the CSRF token of the session itself", async () => {
    const browser = await signIn(server);
    const other = await signIn(server);
    const put = (headers: Record<string, string>) =>
      server.send("PUT", apps, app, { headers: { cookie: browser.cookie, ...headers } });
    for (const headers of [{}, { "x-csrf-token": "" }, { "x-csrf-token": other.csrfToken }]) {
      const { status, body } = await put(headers as Record<string, string>);
      assert.equal(status, 403);
      assert.match(body.message, /X-CSRF-Token/);
    }
    assert.equal((await put({ "x-csrf-token": browser.csrfToken })).status, 200);
  });

  test("a request that another site sends is refused even with the cookie and the CSRF token", async () => {
    const browser = await signIn(server);
    const own = new URL(server.url).origin;
    for (const headers of [
      { origin: "https://evil.example" },
      { origin: "null" },
      { origin: `${own}.evil.example` },
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" },
      { origin: own, "sec-fetch-site": "cross-site" },
    ]) {
      for (const [method, path, body] of [
        ["PUT", apps, app],
        ["GET", apps],
        ["DELETE", "/dashboard/session"],
      ] as const) {
        const sent = await browser.call(method, path, body, {
          headers: headers as Record<string, string>,
        });
        assert.equal(sent.status, 403, `${method} ${JSON.stringify(headers)}`);
      }
    }
    const fine = { origin: own, "sec-fetch-site": "same-origin" };
    assert.equal((await browser.call("PUT", apps, app, { headers: fine })).status, 200);
  });

  test("no other site can sign a browser in", async () => {
    for (const headers of [
      { origin: "https://evil.example" },
      { "sec-fetch-site": "cross-site" },
    ]) {
      const answer = await post(server.adminToken, headers as Record<string, string>);
      assert.equal(answer.status, 403);
      assert.equal(answer.headers.getSetCookie().length, 0);
    }
    const form = await fetch(`${server.url}/dashboard/session`, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: `admin_token=${server.adminToken}`,
    });
    assert.equal(form.status, 415);
  });

  test("a request with the admin token needs neither cookie nor CSRF token, and a cookie beside it counts for nothing", async () => {
    const { cookie } = await signIn(server);
    const options = { key: server.adminToken, headers: { cookie } };
    assert.equal((await server.send("PUT", apps, app, options)).status, 200);
    const wrong = { key: "wrong", headers: { cookie } };
    assert.equal((await server.send("GET", apps, undefined, wrong)).status, 401);
  });
});

describe("the end of a session", () => {
  test("a session goes idle while an open page asks by itself, and not while a person is there", async () => {
    const clock = createSettableClock();
    const own = await startOwnServer({ clock, sessionIdleMinutes: 3 });
    const [alone, attended] = [await signIn(own), await signIn(own)];
    const unattended = { headers: { "x-rapport-unattended": "1" } };
    const statuses = { alone: 200, attended: 200 };
    for (let turn = 0; turn < 10; turn++) {
      clock.set(later(clock.now(), { seconds: 30 }));
      const [one, other] = [
        await alone.call("GET", "/dashboard/session", undefined, unattended),
        await attended.call("GET", "/dashboard/session"),
      ];
      [statuses.alone, statuses.attended] = [one.status, other.status];
    }
    assert.deepEqual(statuses, { alone: 401, attended: 200 });
  });

  test("a person has at most 100 sessions: another sign-in ends the one that was used least recently", async () => {
    const [first, second] = [await signIn(counted), await signIn(counted)];
    const begin = async () => {
      const body = { admin_token: counted.adminToken };
      assert.equal((await counted.send("POST", "/dashboard/session", body)).status, 200);
    };
    const isOpen = async (browser: typeof first) =>
      (await browser.call("GET", "/dashboard/session")).status === 200;
    for (let sessions = 2; sessions < 100; sessions++) await begin();
    assert.deepEqual([await isOpen(first), await isOpen(second)], [true, true]);
    for (let more = 0; more < 3; more++) {
      await begin();
      const [row] = await counted.database.query<{ sessions: number }>(
        "select count(*)::int as sessions from dashboard_sessions",
      );
      assert.equal(row?.sessions, 100);
      assert.deepEqual([await isOpen(first), await isOpen(second)], [false, more === 0]);
    }
  });

  test("signing out ends the session of this browser alone", async () => {
    const [one, other] = [await signIn(server), await signIn(server)];
    const answer = await one.call("DELETE", "/dashboard/session");
    assert.match(
      answer.headers.getSetCookie()[0] ?? "",
      /^rapport-session=;.*Expires=Thu, 01 Jan 1970/,
    );
    assert.equal((await one.call("GET", "/dashboard/session")).status, 401);
    assert.equal((await one.call("GET", "/admin/v1/workspaces")).status, 401);
    assert.equal((await other.call("GET", "/dashboard/session")).status, 200);
  });

  test("a session of the administrator outlives a restart, and ends when the admin token changes", async () => {
    const lasting = await lastingDatabase();
    const first = await startOwnServer({}, undefined, lasting);
    const { cookie } = await signIn(first);
    await first.stop();
    const statusAt = async (adminToken: string): Promise<number> => {
      const again = await startOwnServer({ adminToken }, undefined, lasting);
      const { status } = await again.send("GET", "/dashboard/session", undefined, {
        headers: { cookie },
      });
      await again.stop();
      return status;
    };
    assert.equal(await statusAt(first.adminToken), 200);
    assert.equal(await statusAt("another-admin-token-of-the-tests"), 401);
  });

  test("signing out everywhere ends every session of the person, and sign-ins and sign-outs are audited", async () => {
    await (await signIn(counted)).call("DELETE", "/dashboard/sessions");
    const [one, other] = [await signIn(counted), await signIn(counted)];
    await one.call("DELETE", "/dashboard/sessions");
    assert.equal((await other.call("GET", "/dashboard/session")).status, 401);
    const { body } = await counted.admin("GET", "/admin/v1/audit?kind=dashboard_session&limit=3");
    assert.deepEqual(
      body.entries.map(({ action, name, details }: any) => [action, name, details]),
      [
        ["ended", "administrator", { sessions: 2 }],
        ["started", "administrator", { way: "admin_token" }],
        ["started", "administrator", { way: "admin_token" }],
      ],
    );
  });
});

test("a wrong admin token begins no session and is throttled like other wrong secrets", async () => {
  const statuses: number[] = [];
  for (let turn = 0; turn < 5; turn++) {
    const answer = await strict.send("POST", "/dashboard/session", { admin_token: "wrong" });
    assert.equal(answer.headers.getSetCookie().length, 0);
    statuses.push(answer.status);
  }
  assert.deepEqual(statuses, [401, 401, 401, 429, 429]);
  // Guessing locks the address: the right token waits for the window as well.
  const right = { admin_token: strict.adminToken };
  assert.equal((await strict.send("POST", "/dashboard/session", right)).status, 429);
});
