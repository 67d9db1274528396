/*
 * Invitations: links that sign a colleague in once. Who can make them, what ends them, and what an attacker tries with them.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createSettableClock, later } from "../../../src/core/base/clock.ts";
import {
  addColleague,
  choosePassword,
  enter,
  follow,
  inviteColleague,
  isIn,
  pathOf,
  permissionsOf,
  signInWith,
} from "../../colleagues.ts";
import { continueSession, cookieIn, signIn } from "../../dashboard-users/signed-in.ts";
import { startOwnServer } from "../../harness.ts";
import { sendsMails, startMailServer } from "../../mail-server.ts";
import { declare, scimClient } from "../../scim-client.ts";

const clock = createSettableClock();
const server = await startOwnServer({ clock });
await declare(server);
const scim = scimClient(server);

const PEOPLE = "/admin/v1/dashboard-users";

const change = async (id: string, body: object) => {
  const answer = await server.admin("PATCH", `${PEOPLE}/${id}`, body);
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
};

/** Someone who may see colleagues, with further permissions of the company. */
const MANAGER = { company: ["manage_company_settings"], workspaces: { demo: ["basic_access"] } };

const LITTLE = { workspaces: { demo: ["basic_access"] } };

describe("a link that invites a colleague", () => {
  test("an invitation signs in the colleague, once, and moves the last sign-in", async () => {
    const grace = await addColleague(server, { roles: { demo: "marketer" } });
    const path = await inviteColleague(server, grace);
    const response = await follow(server, path);
    assert.equal(response.status, 303);
    assert.match(response.headers.get("location") ?? "", /^\/dashboard\/account/);
    const browser = await continueSession(server, cookieIn(response));
    const { body } = await browser.call("GET", "/dashboard/session");
    assert.equal(body.person.user_name, grace.userName);
    assert.equal(body.administrator, false);
    assert.ok(body.permissions.workspaces.demo.includes("edit_segments"));
    assert.ok(!body.permissions.workspaces.demo.includes("dev_console"));
    const again = await follow(server, path);
    assert.equal(again.status, 401);
    assert.equal(again.headers.getSetCookie().length, 0);
    const { body: shown } = await server.admin("GET", `${PEOPLE}/${grace.id}`);
    assert.notEqual(shown.person.last_sign_in_at, null);
  });

  test("previews of an invitation use nothing up, and of several clicks at once one signs in", async () => {
    const path = await inviteColleague(server, await addColleague(server));
    for (const method of ["GET", "HEAD", "GET"]) {
      const { status, headers } = await fetch(server.url + path, { method });
      assert.deepEqual([status, headers.getSetCookie().length], [200, 0]);
    }
    const clicks = await Promise.all([1, 2, 3].map(() => follow(server, path)));
    assert.deepEqual(clicks.map(({ status }) => status).sort(), [303, 401, 401]);
  });

  test("an invitation works for seven days, and a new one ends it", async () => {
    const grace = await addColleague(server);
    const [first, second] = [
      await inviteColleague(server, grace),
      await inviteColleague(server, grace),
    ];
    assert.equal((await follow(server, first)).status, 401);
    const begun = clock.now();
    clock.set(later(begun, { days: 7, seconds: -1 }));
    assert.equal((await follow(server, second)).status, 303);
    const third = await inviteColleague(server, grace);
    clock.set(later(clock.now(), { days: 7 }));
    assert.equal((await follow(server, third)).status, 401);
    clock.set(begun);
  });

  test("the database holds only the hash of an invitation, and no read shows it again", async () => {
    const grace = await addColleague(server);
    const token = (await inviteColleague(server, grace)).split("token=")[1] ?? "";
    const rows = await server.database.query("select * from sign_in_links");
    const { body } = await server.admin("GET", `${PEOPLE}/${grace.id}/credentials`);
    const audit = await server.admin("GET", "/admin/v1/audit?limit=100");
    assert.notEqual(body.invitation_until, null);
    for (const shown of [rows, body, audit.body]) {
      assert.ok(!JSON.stringify(shown).includes(token));
    }
  });

  test("the audit names the maker of an invitation, the invited, and the session that it began", async () => {
    const chief = await addColleague(server, { company: ["admin"] });
    const grace = await addColleague(server);
    const browser = await enter(server, chief);
    const { body } = await browser.call("POST", `${PEOPLE}/${grace.id}/invitations`);
    await follow(server, pathOf(body.url));
    const { body: audit } = await server.admin("GET", `/admin/v1/audit?name=${grace.id}`);
    const [started, created] = audit.entries;
    assert.deepEqual(
      [created.kind, created.actor_name, created.label],
      ["invitation", chief.userName, grace.userName],
    );
    assert.deepEqual([started.actor, started.actor_name], ["dashboard_user", grace.userName]);
    assert.deepEqual(started.details, {
      way: "invitation",
      link: created.details.link,
      user_name: grace.userName,
    });
  });

  test("an invitation is mailed if there is a mail server, and a mail server that refuses it stops nothing", async () => {
    const mails = await startMailServer();
    const own = await startOwnServer(
      sendsMails({ SMTP_URL: mails.url, SMTP_FROM: "Rapport <rapport@acme.example>" }),
    );
    const grace = await addColleague(own);
    const invite = () => own.admin("POST", `${PEOPLE}/${grace.id}/invitations`);
    const { body } = await invite();
    assert.equal(body.mailed, true);
    const [mail] = await mails.mails(1);
    assert.deepEqual(mail?.to, [grace.userName]);
    // Quoted-printable breaks lines and writes = as =3D.
    const text = (mail?.text ?? "").replaceAll("=\r\n", "").replaceAll("=3D", "=");
    assert.ok(text.includes(body.url), text);
    mails.refuseNext(550);
    const refused = await invite();
    assert.deepEqual([refused.status, refused.body.mailed], [201, false]);
    assert.equal((await follow(own, pathOf(refused.body.url))).status, 303);
  });
});

describe("who can invite", () => {
  const invite = async (maker: { id: string; userName: string }, id: string) =>
    (await enter(server, maker)).call("POST", `${PEOPLE}/${id}/invitations`);

  test("a person who has every permission of the colleague can invite them, and one who lacks one cannot", async () => {
    const maker = await addColleague(server, MANAGER);
    const [less, same, more, other, chief] = [
      await addColleague(server, { workspaces: { demo: ["basic_access"] } }),
      await addColleague(server, MANAGER),
      await addColleague(server, { workspaces: { demo: ["basic_access", "view_pii"] } }),
      await addColleague(server, { roles: { demo: "marketer" } }),
      await addColleague(server, { company: ["admin"] }),
    ];
    const browser = await enter(server, maker);
    const statusOf = async ({ id }: { id: string }) =>
      (await browser.call("POST", `${PEOPLE}/${id}/invitations`)).status;
    assert.deepEqual([await statusOf(less), await statusOf(same)], [201, 201]);
    assert.deepEqual(
      [await statusOf(more), await statusOf(other), await statusOf(chief)],
      [403, 403, 403],
    );
  });

  test("nobody invites themselves, an unknown person, or a deactivated one", async () => {
    const maker = await addColleague(server, { company: ["admin"] });
    assert.equal((await invite(maker, maker.id)).status, 403);
    assert.equal((await invite(maker, "00000000-0000-7000-8000-000000000000")).status, 404);
    const left = await addColleague(server);
    await change(left.id, { active: false });
    assert.equal((await invite(maker, left.id)).status, 409);
  });

  test("an invitation ends when its maker loses a permission, is deactivated, or when the colleague gets more than the maker has", async () => {
    const endings = [
      (maker: string) =>
        change(maker, { permissions: permissionsOf({ company: ["manage_company_settings"] }) }),
      (maker: string) => change(maker, { active: false }),
      (maker: string) => server.admin("DELETE", `${PEOPLE}/${maker}`),
      (_maker: string, colleague: string) =>
        change(colleague, { permissions: permissionsOf({ ...LITTLE, company: ["admin"] }) }),
      (_maker: string, colleague: string) => change(colleague, { active: false }),
      (_maker: string, colleague: string) => change(colleague, { permissions: permissionsOf({}) }),
    ];
    for (const [index, end] of endings.entries()) {
      const maker = await addColleague(server, MANAGER);
      const colleague = await addColleague(server, { workspaces: { demo: ["basic_access"] } });
      const { body } = await invite(maker, colleague.id);
      await end(maker.id, colleague.id);
      const { status } = await follow(server, pathOf(body.url));
      assert.equal(status, 401, `ending ${index}`);
    }
  });

  test("an invitation that the administrator made ends with the admin token", async () => {
    const grace = await addColleague(server);
    const path = await inviteColleague(server, grace);
    await server.database.query(
      "update sign_in_links set admin_print = 'of another token' where user_id = $1",
      [grace.id],
    );
    assert.equal((await follow(server, path)).status, 401);
  });
});

describe("a colleague who leaves", () => {
  test("deactivating, removing and SCIM end links, passwords and sessions at once, and reactivating brings none back", async () => {
    const deactivations = [
      (id: string) => change(id, { active: false }),
      (id: string) => scim.patch(id, { op: "replace", path: "active", value: false }),
      (id: string) => scim.users("DELETE", `/${id}`),
    ];
    for (const leave of deactivations) {
      const grace = await addColleague(server);
      const browser = await enter(server, grace);
      await choosePassword(browser);
      const path = await inviteColleague(server, grace);
      await leave(grace.id);
      assert.equal(await isIn(browser), false);
      assert.equal((await follow(server, path)).status, 401);
      assert.equal((await signInWith(server, grace.userName)).status, 401);
      const left = await server.database.query(
        `select user_id from dashboard_passwords where user_id = $1
         union all select user_id from sign_in_links where user_id = $1
         union all select user_id from dashboard_sessions where user_id = $1`,
        [grace.id],
      );
      assert.equal(left.length, 0);
    }
  });

  test("a reactivated colleague needs a new invitation", async () => {
    const grace = await addColleague(server);
    await choosePassword(await enter(server, grace));
    await change(grace.id, { active: false });
    await change(grace.id, { active: true });
    assert.equal((await signInWith(server, grace.userName)).status, 401);
    assert.equal(await isIn(await enter(server, grace)), true);
  });

  test("a password that is being set while its owner is deactivated is not kept", async () => {
    const grace = await addColleague(server);
    const browser = await enter(server, grace);
    const [answer] = await Promise.all([
      browser.call("PUT", "/dashboard/password", { password: "seven green umbrellas" }),
      change(grace.id, { active: false }),
    ]);
    const rows = await server.database.query(
      "select user_id from dashboard_passwords where user_id = $1",
      [grace.id],
    );
    assert.equal(rows.length, 0, String(answer.status));
  });

  test("a link that is followed while all ways in are removed opens nothing afterwards", async () => {
    for (let round = 0; round < 10; round++) {
      const grace = await addColleague(server);
      const path = await inviteColleague(server, grace);
      const [response, removed] = await Promise.all([
        follow(server, path),
        server.admin("DELETE", `${PEOPLE}/${grace.id}/credentials`),
      ]);
      assert.equal(removed.status, 200);
      assert.ok([303, 401].includes(response.status), String(response.status));
      const headers = { cookie: cookieIn(response) };
      const session = await server.send("GET", "/dashboard/session", undefined, { headers });
      assert.equal(session.status, 401, `round ${round}`);
    }
  });

  test("an administrator removes all ways in, or one session, of a colleague who lost a device", async () => {
    const chief = await signIn(server);
    const grace = await addColleague(server);
    const [lost, kept] = [await enter(server, grace), await enter(server, grace)];
    const { body } = await chief.call("GET", `${PEOPLE}/${grace.id}/credentials`);
    assert.equal(body.sessions.length, 2);
    const { body: own } = await lost.call("GET", "/dashboard/credentials");
    const current = own.sessions.find((each: any) => each.current);
    const ended = await chief.call("DELETE", `${PEOPLE}/${grace.id}/sessions/${current.id}`);
    assert.equal(ended.status, 200);
    assert.deepEqual([await isIn(lost), await isIn(kept)], [false, true]);
    await choosePassword(kept);
    await chief.call("DELETE", `${PEOPLE}/${grace.id}/credentials`);
    assert.equal(await isIn(kept), false);
    assert.equal((await signInWith(server, grace.userName)).status, 401);
  });
});
