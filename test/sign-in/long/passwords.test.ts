/* Passwords of dashboard users: which are accepted, how they are stored, and what an attacker learns and may try. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createPasswordGuesses } from "../../../src/features/sign-in/passwords.ts";
import { readConfig } from "../../../src/server/config.ts";
import {
  addColleague,
  type Colleague,
  choosePassword,
  enter,
  enterWith,
  isIn,
  PASSWORD,
  signInWith,
} from "../../colleagues.ts";
import { continueSession, cookieIn } from "../../dashboard-users/signed-in.ts";
import { startOwnServer, type TestServer } from "../../harness.ts";

const server = await startOwnServer();
const strict = await startOwnServer({ maxFailedAuth: 3 });

/** A colleague with a password, and the browser in which it was set. */
async function withPassword(on = server) {
  const colleague = await addColleague(on);
  const browser = await enter(on, colleague);
  await choosePassword(browser);
  return { ...colleague, browser };
}

async function hashesOf(
  { database }: TestServer,
  ...people: readonly Colleague[]
): Promise<string[]> {
  const rows = await database.query<{ hash: string }>(
    "select hash from dashboard_passwords where user_id = any($1::uuid[])",
    [people.map(({ id }) => id)],
  );
  return rows.map(({ hash }) => hash);
}

describe("choosing a password", () => {
  test("a password has 12 to 128 characters, is not one letter repeated, and is not the email address", async () => {
    const grace = await addColleague(server);
    const browser = await enter(server, grace);
    const refusals: readonly (readonly [string, RegExp])[] = [
      ["short", /at least 12 characters/],
      ["eleven_char", /at least 12 characters/],
      ["🐢".repeat(11), /at least 12 characters/],
      ["ab".repeat(30), /different characters/],
      [grace.userName, /email address/],
      [`${grace.userName.split("@")[0]}1234`, /email address/],
      [`long ${"0123456789".repeat(13)}`, /at most 128 characters/],
    ];
    for (const [password, why] of refusals) {
      const { status, body } = await browser.call("PUT", "/dashboard/password", { password });
      assert.equal(status, 400, password);
      assert.match(body.message, why);
    }
    for (const password of [1, null, "x".repeat(257), undefined]) {
      const { status } = await browser.call("PUT", "/dashboard/password", { password });
      assert.equal(status, 400);
    }
    for (const password of [
      "twelve chars",
      "🐢🦊🐻🐼🐨🐯🦁🐮🐷🐸🐵🐔",
      `${"a".repeat(123)}bcdef`,
    ]) {
      assert.equal((await browser.call("PUT", "/dashboard/password", { password })).status, 200);
      const again = await enterWith(server, grace, password);
      assert.equal(await isIn(again), true);
    }
  });

  test("the database holds a salted scrypt hash, and no response, audit entry or export of the person has the password", async () => {
    const [one, other] = [await withPassword(), await withPassword()];
    const hashes = await hashesOf(server, one, other);
    assert.equal(new Set(hashes).size, 2);
    for (const hash of hashes) assert.match(hash, /^scrypt:10:8:1:[\w-]{22}:[\w-]{43}$/);
    const shown = [
      await server.admin("GET", "/admin/v1/audit?limit=100"),
      await server.admin("GET", `/admin/v1/dashboard-users/${one.id}`),
      await server.admin("GET", `/admin/v1/dashboard-users/${one.id}/credentials`),
      await one.browser.call("GET", "/dashboard/credentials"),
    ];
    for (const { body } of shown) {
      assert.ok(!JSON.stringify(body).includes(PASSWORD));
      assert.ok(!JSON.stringify(body).includes("scrypt"));
    }
  });

  test("a server that is not started by a test hashes passwords with the cost that OWASP names for scrypt", async () => {
    const inProduction = await startOwnServer({ passwordCost: undefined });
    const hashes = await hashesOf(inProduction, await withPassword(inProduction));
    assert.deepEqual(
      hashes.map((hash) => hash.split(":", 4).join(":")),
      ["scrypt:15:8:3"],
    );
    assert.equal(readConfig({}).passwordCost, undefined);
  });

  test("who has a password says it before it changes, unless the session began with an invitation", async () => {
    const grace = await withPassword();
    const browser = await enterWith(server, grace);
    const set = (current_password?: string) =>
      browser.call("PUT", "/dashboard/password", {
        password: "another long password",
        current_password,
      });
    assert.deepEqual([(await set()).status, (await set("wrong password")).status], [403, 403]);
    assert.equal((await browser.call("DELETE", "/dashboard/password", {})).status, 403);
    assert.equal((await set(PASSWORD)).status, 200);
    assert.equal((await signInWith(server, grace.userName)).status, 401);
    const invited = await enter(server, grace);
    await choosePassword(invited);
    assert.equal((await signInWith(server, grace.userName)).status, 200);
  });

  test("a changed password ends the person's other sessions and keeps the one that changed it", async () => {
    const grace = await withPassword();
    const [thief, own] = [await enterWith(server, grace), await enterWith(server, grace)];
    const body = { password: "another long password", current_password: PASSWORD };
    assert.equal((await own.call("PUT", "/dashboard/password", body)).status, 200);
    assert.deepEqual(
      [await isIn(thief), await isIn(grace.browser), await isIn(own)],
      [false, false, true],
    );
  });

  test("composed and decomposed letters are the same password", async () => {
    const grace = await addColleague(server);
    await choosePassword(await enter(server, grace), "Zürich grüßt Söhne".normalize("NFD"));
    const { status } = await signInWith(
      server,
      grace.userName,
      "Zürich grüßt Söhne".normalize("NFC"),
    );
    assert.equal(status, 200);
  });

  test("the administrator of the admin token has no password and no passkey", async () => {
    const { body, headers } = await server.send("POST", "/dashboard/session", {
      admin_token: server.adminToken,
    });
    assert.equal(body.administrator, true);
    const browser = await continueSession(server, cookieIn({ headers }));
    const { status } = await browser.call("PUT", "/dashboard/password", { password: PASSWORD });
    assert.equal(status, 403);
  });
});

describe("signing in with a password", () => {
  test("each sign-in begins a new session, whichever cookie the browser brings, and the old one stays what it was", async () => {
    const grace = await withPassword();
    const planted = (await enterWith(server, await withPassword())).cookie;
    const answer = await signInWith(server, grace.userName, PASSWORD, { cookie: planted });
    assert.equal(answer.status, 200);
    assert.notEqual(cookieIn(answer), planted);
    const { body } = await server.send("GET", "/dashboard/session", undefined, {
      headers: { cookie: planted },
    });
    assert.notEqual(body.person.user_name, grace.userName);
  });

  test("a page of another site cannot sign a browser in", async () => {
    const grace = await withPassword();
    const answer = await signInWith(server, grace.userName, PASSWORD, {
      origin: "https://evil.example",
    });
    assert.deepEqual([answer.status, answer.headers.getSetCookie().length], [403, 0]);
  });

  test("nothing in a refusal tells whether a person exists, has a password, or is deactivated", async () => {
    const [known, without, left] = [
      await withPassword(),
      await addColleague(server),
      await withPassword(),
    ];
    await server.admin("PATCH", `/admin/v1/dashboard-users/${left.id}`, { active: false });
    const names = [
      known.userName,
      without.userName,
      left.userName,
      "nobody@acme.example",
      "",
      "é@K",
    ];
    const refusals = await Promise.all(
      names.map(async (name) => {
        const { status, body, headers } = await signInWith(server, name, "a wrong password");
        const shown = [...headers.keys()].filter((each) => each !== "date").sort();
        return JSON.stringify([status, body, shown]);
      }),
    );
    assert.equal(new Set(refusals).size, 1, refusals.join("\n"));
  });

  test("a name that no database can hold is refused by the name of the field", async () => {
    const { status, body } = await signInWith(server, "grace\0@acme.example");
    assert.equal(status, 400);
    assert.match(body.message, /'user_name'/);
  });
});

describe("guessing a password", () => {
  test("an address with too many wrong passwords is refused, also with the right one", async () => {
    const grace = await addColleague(strict);
    await choosePassword(await enter(strict, grace));
    const statuses: number[] = [];
    for (let tries = 0; tries < 4; tries++) {
      statuses.push((await signInWith(strict, `${tries}@acme.example`, "a wrong password")).status);
    }
    statuses.push((await signInWith(strict, grace.userName)).status);
    assert.deepEqual(statuses, [401, 401, 401, 429, 429]);
  });

  test("one person's password can be guessed twenty times an hour from all addresses together, known or not", () => {
    let now = 0;
    const guesses = createPasswordGuesses(() => now);
    const triesOf = (name: string): number => {
      for (let tries = 0; tries < 100; tries++) {
        try {
          guesses.count(name);
        } catch {
          return tries;
        }
      }
      return 100;
    };
    assert.equal(triesOf("Grace@acme.example"), 20);
    assert.equal(triesOf("grace@acme.example"), 0);
    assert.equal(triesOf("other@acme.example"), 20);
    now += 30 * 60_000;
    assert.equal(triesOf("grace@acme.example"), 10);
    guesses.forget("grace@acme.example");
    assert.equal(triesOf("grace@acme.example"), 20);
  });
});

describe("one's own sessions", () => {
  test("a person sees where they are signed in, and ends one of their sessions but none of another person", async () => {
    const grace = await withPassword();
    const answer = await signInWith(server, grace.userName, PASSWORD, {
      "user-agent":
        "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:130.0) Gecko/20100101 Firefox/130.0",
    });
    const other = await enter(server, await addColleague(server));
    const { body } = await grace.browser.call("GET", "/dashboard/credentials");
    const [firefox, current] = [
      body.sessions.find((each: any) => each.browser === "Firefox on Windows"),
      body.sessions.find((each: any) => each.current),
    ];
    assert.deepEqual([firefox.way, current.way], ["password", "invitation"]);
    const end = (browser: typeof other, id: string) =>
      browser.call("DELETE", `/dashboard/sessions/${id}`);
    assert.equal((await end(other, firefox.id)).status, 404);
    assert.equal((await end(grace.browser, firefox.id)).status, 200);
    const { status } = await server.send("GET", "/dashboard/session", undefined, {
      headers: { cookie: cookieIn(answer) },
    });
    assert.equal(status, 401);
    assert.equal(await isIn(grace.browser), true);
  });
});
