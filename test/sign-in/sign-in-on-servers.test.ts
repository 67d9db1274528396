/* Sign-in with several servers on one database: what one of them begins or ends holds on all. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  addColleague,
  choosePassword,
  enter,
  enterWith,
  follow,
  inviteColleague,
  isIn,
  signInWith,
} from "../colleagues.ts";
import { continueSession } from "../dashboard-users/signed-in.ts";
import { ENGINE, startOwnServer, testConfig } from "../harness.ts";

const skip = ENGINE === "embedded" ? "An embedded database has one server." : false;

describe("sign-in with several servers on one database", { skip }, async () => {
  if (skip) return;
  const { databaseUrl } = await testConfig();
  const one = await startOwnServer({ databaseUrl });
  const other = await startOwnServer({ databaseUrl, adminToken: one.adminToken });

  test("an invitation of one server works on another, and once on both together", async () => {
    const grace = await addColleague(one);
    const path = await inviteColleague(one, grace);
    const answers = await Promise.all([one, other, one, other].map((each) => follow(each, path)));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [303, 401, 401, 401]);
  });

  test("a session and a password hold on every server, and end on every server with the next request", async () => {
    const grace = await addColleague(one);
    const browser = await enter(one, grace);
    await choosePassword(browser);
    const there = await continueSession(other, browser.cookie);
    const second = await enterWith(other, grace);
    assert.deepEqual(await Promise.all([browser, there, second].map(isIn)), [true, true, true]);
    const left = await inviteColleague(other, grace);
    const path = `/admin/v1/dashboard-users/${grace.id}`;
    assert.equal((await other.admin("PATCH", path, { active: false })).status, 200);
    assert.deepEqual(await Promise.all([browser, there, second].map(isIn)), [false, false, false]);
    assert.equal((await follow(one, left)).status, 401);
    assert.equal((await signInWith(one, grace.userName)).status, 401);
  });
});
