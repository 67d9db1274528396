/* Passkeys of dashboard users, with an authenticator of the tests; in a browser: test/browser/colleagues.test.ts. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createAuthenticator } from "../../authenticator.ts";
import { addColleague, type Colleague, choosePassword, enter, isIn } from "../../colleagues.ts";
import { continueSession, cookieIn, type SignedIn } from "../../dashboard-users/signed-in.ts";
import { startOwnServer, type TestServer } from "../../harness.ts";

const ORIGIN = "https://rapport.example";
const server = await startOwnServer({ publicUrl: ORIGIN });

type Authenticator = ReturnType<typeof createAuthenticator>;

/** The options for a new passkey. */
async function begin(browser: SignedIn) {
  const { status, body } = await browser.call("POST", "/dashboard/passkeys/options", {});
  assert.equal(status, 200, JSON.stringify(body));
  return body.options;
}

const add = (browser: SignedIn, response: object, name = "Laptop") =>
  browser.call("POST", "/dashboard/passkeys", { name, response });

interface Equipped extends Colleague {
  readonly browser: SignedIn;
  readonly authenticator: Authenticator;
}

/** A colleague with a passkey. */
async function withPasskey(): Promise<Equipped> {
  const colleague = await addColleague(server);
  const browser = await enter(server, colleague);
  const authenticator = createAuthenticator(colleague.id);
  const { challenge } = await begin(browser);
  const { status, body } = await add(browser, authenticator.create({ challenge, origin: ORIGIN }));
  assert.equal(status, 200, JSON.stringify(body));
  return { ...colleague, browser, authenticator };
}

async function newChallenge(on: TestServer = server): Promise<string> {
  const { status, body } = await on.send("POST", "/dashboard/session/passkey/options", {});
  assert.equal(status, 200, JSON.stringify(body));
  assert.equal(body.options.allowCredentials, undefined);
  return body.options.challenge;
}

const send = (response: object) => server.send("POST", "/dashboard/session/passkey", { response });

describe("passkeys", () => {
  test("a passkey that a person added signs them in, and its use is shown", async () => {
    const grace = await withPasskey();
    const challenge = await newChallenge();
    const answer = await send(grace.authenticator.get({ challenge, origin: ORIGIN }));
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    assert.equal(answer.body.person.user_name, grace.userName);
    const browser = await continueSession(server, cookieIn(answer));
    const { body } = await browser.call("GET", "/dashboard/credentials");
    assert.equal(body.passkeys_work, true);
    assert.deepEqual(
      body.passkeys.map(({ name, last_used_at }: any) => [name, last_used_at !== null]),
      [["Laptop", true]],
    );
  });

  test("what a passkey says is accepted once, soon, for this site, and from the authenticator of the person alone", async () => {
    const [grace, other] = [await withPasskey(), await withPasskey()];
    const used = await newChallenge();
    const first = grace.authenticator.get({ challenge: used, origin: ORIGIN });
    assert.equal((await send(first)).status, 200);
    const challenge = await newChallenge();
    const asked = { challenge, origin: ORIGIN };
    const good = () => grace.authenticator.get(asked);
    const refused: Record<string, object> = {
      "sent again": first,
      "for the same challenge": grace.authenticator.get({ challenge: used, origin: ORIGIN }),
      "for a challenge of its own": grace.authenticator.get({ challenge: "AAAA", origin: ORIGIN }),
      "for a changed challenge": grace.authenticator.get({
        challenge: `${challenge.slice(0, -2)}AA`,
        origin: ORIGIN,
      }),
      "for another site": grace.authenticator.get({ challenge, origin: "https://evil.example" }),
      "at another site": grace.authenticator.get({ ...asked, rpId: "evil.example" }),
      "without a finger": grace.authenticator.get({ ...asked, isVerified: false }),
      "as another person": grace.authenticator.get(asked, other.id),
      "with the id of another": {
        ...good(),
        id: other.authenticator.id,
        rawId: other.authenticator.id,
      },
      "of nobody": { ...good(), id: "AAAA", rawId: "AAAA" },
    };
    const messages = new Set<string>();
    for (const [what, response] of Object.entries(refused)) {
      const { status, body, headers } = await send(response);
      assert.equal(status, 401, what);
      assert.equal(headers.getSetCookie().length, 0);
      messages.add(body.message);
    }
    assert.equal(messages.size, 1);
    assert.equal((await send(good())).status, 200);
  });

  test("a passkey is added only with the challenge of the same session, and only once", async () => {
    const grace = await addColleague(server);
    const [own, other] = [
      await enter(server, grace),
      await enter(server, await addColleague(server)),
    ];
    const authenticator = createAuthenticator(grace.id);
    const foreign = await begin(other);
    const asked = { challenge: foreign.challenge, origin: ORIGIN };
    assert.equal((await add(own, authenticator.create(asked))).status, 400);
    const signIn = { challenge: await newChallenge(), origin: ORIGIN };
    assert.equal((await add(own, authenticator.create(signIn))).status, 400);
    const { challenge } = await begin(own);
    const response = authenticator.create({ challenge, origin: ORIGIN });
    assert.equal((await add(own, response)).status, 200);
    assert.equal((await add(own, response)).status, 409);
    const otherAsked = { challenge: (await begin(other)).challenge, origin: ORIGIN };
    assert.equal((await add(other, authenticator.create(otherAsked))).status, 409);
  });

  test("a person has at most twenty passkeys, however many they begin at once", async () => {
    const grace = await addColleague(server);
    const browser = await enter(server, grace);
    const begun = await Promise.all(Array.from({ length: 24 }, () => begin(browser)));
    const statuses = await Promise.all(
      begun.map(async ({ challenge }) => {
        const made = createAuthenticator(grace.id).create({ challenge, origin: ORIGIN });
        return (await add(browser, made)).status;
      }),
    );
    assert.deepEqual(
      [200, 409].map((status) => statuses.filter((each) => each === status).length),
      [20, 4],
    );
    const { body } = await browser.call("GET", "/dashboard/credentials");
    assert.equal(body.passkeys.length, 20);
  });

  test("a passkey with a certificate or a broken form is refused without a look at it", async () => {
    const browser = await enter(server, await addColleague(server));
    const { challenge } = await begin(browser);
    const authenticator = createAuthenticator("x");
    const asked = { challenge, origin: ORIGIN };
    for (const format of ["android-key", "tpm", "fido-u2f", "apple", "x"]) {
      assert.equal((await add(browser, authenticator.create(asked, format))).status, 400, format);
    }
    const good = authenticator.create(asked);
    for (const attestationObject of ["", "AAAA", "oA", "_____w", "A".repeat(32_768)]) {
      const response = { ...good, response: { ...good.response, attestationObject } };
      assert.equal((await add(browser, response)).status, 400);
    }
    for (const body of [
      {},
      { name: "x" },
      { name: "", response: good },
      { name: "x", response: [] },
    ]) {
      assert.equal((await browser.call("POST", "/dashboard/passkeys", body)).status, 400);
    }
  });

  test("there are no passkeys at an IP address or over http, and passwords work there", async () => {
    const own = await startOwnServer();
    const { status, body } = await own.send("POST", "/dashboard/session/passkey/options", {});
    assert.equal(status, 409);
    assert.match(body.message, /https and on localhost/);
    const browser = await enter(own, await addColleague(own));
    assert.equal((await browser.call("POST", "/dashboard/passkeys/options", {})).status, 409);
    const { body: credentials } = await browser.call("GET", "/dashboard/credentials");
    assert.equal(credentials.passkeys_work, false);
    await choosePassword(browser);
  });

  test("a removed passkey, and those of a deactivated person, sign in no more", async () => {
    const [grace, left] = [await withPasskey(), await withPasskey()];
    const path = `/dashboard/passkeys/${grace.authenticator.id}`;
    assert.equal((await left.browser.call("DELETE", path, {})).status, 404);
    assert.equal((await grace.browser.call("DELETE", path, {})).status, 200);
    await server.admin("PATCH", `/admin/v1/dashboard-users/${left.id}`, { active: false });
    for (const { authenticator } of [grace, left]) {
      const challenge = await newChallenge();
      assert.equal((await send(authenticator.get({ challenge, origin: ORIGIN }))).status, 401);
    }
    assert.equal(await isIn(left.browser), false);
    const rows = await server.database.query(
      "select passkey_id from dashboard_passkeys where user_id = any($1::uuid[])",
      [[grace.id, left.id]],
    );
    assert.equal(rows.length, 0);
  });
});
