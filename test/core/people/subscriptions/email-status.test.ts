import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startServer } from "../../../harness.ts";
import {
  emailStateOf,
  emailStatus,
  historyOf,
  PHONE,
  users,
  workspaceWithGroups,
} from "./subscription-calls.ts";

const server = await startServer();

const newWorkspace = () => workspaceWithGroups(server);

const STATES = ["subscribed", "unsubscribed", "opted_in"];

describe("POST /email/status", () => {
  test("POST /email/status sets the given state over any previous state", async () => {
    const workspace = await newWorkspace();
    await users(workspace, { external_id: "ada", email: "Ada@example.com" });
    for (const before of STATES) {
      for (const after of STATES) {
        await emailStatus(workspace, "ada@example.com", before);
        const answer = await emailStatus(workspace, "ADA@EXAMPLE.COM", after);
        assert.equal(answer.status, 201);
        assert.deepEqual(answer.body, { message: "success" });
        assert.equal(await emailStateOf(workspace, "ada"), after);
      }
    }
  });

  test("a user without a recorded email state is subscribed", async () => {
    const workspace = await newWorkspace();
    await users(
      workspace,
      { external_id: "ada", email: "ada@example.com" },
      { external_id: "bob" },
    );
    assert.equal(await emailStateOf(workspace, "ada"), "subscribed");
    assert.equal(await emailStateOf(workspace, "bob"), "subscribed");
    assert.deepEqual(await historyOf(server, workspace), []);
  });

  test("POST /email/status accepts one address or a list of 1 to 50", async () => {
    const workspace = await newWorkspace();
    const addresses = Array.from({ length: 51 }, (_, index) => `u${index}@example.com`);
    await workspace.track({
      attributes: addresses.slice(0, 50).map((email) => ({ external_id: email, email })),
    });
    assert.equal((await emailStatus(workspace, addresses[0], "opted_in")).status, 201);
    assert.equal(await emailStateOf(workspace, "u0@example.com"), "opted_in");
    const fits = await emailStatus(workspace, addresses.slice(0, 50), "unsubscribed");
    assert.equal(fits.status, 201);
    for (const id of ["u0@example.com", "u49@example.com"]) {
      assert.equal(await emailStateOf(workspace, id), "unsubscribed");
    }
    const over = await emailStatus(workspace, addresses, "subscribed");
    assert.equal(over.status, 400);
    assert.match(over.body.message, /'email' must have at most 50 items/);
    const none = await emailStatus(workspace, [], "subscribed");
    assert.equal(none.status, 400);
    assert.equal(await emailStateOf(workspace, "u0@example.com"), "unsubscribed");
  });

  test("POST /email/status requires valid addresses, and one invalid address refuses all", async () => {
    const workspace = await newWorkspace();
    await users(workspace, { external_id: "ada", email: "ada@example.com" });
    for (const email of [undefined, null, 5, {}, [5], "", "ada", ["ada@example.com", "ada@"]]) {
      const answer = await emailStatus(workspace, email, "unsubscribed");
      assert.equal(answer.status, 400, JSON.stringify(email));
      assert.match(answer.body.message, /'email(\[\d\])?'/);
    }
    const named = await emailStatus(workspace, ["ada@example.com", "ada@"], "unsubscribed");
    assert.equal(named.body.errors[0].code, "EMAIL_BAD_FORMAT");
    assert.equal(named.body.errors[0].index, 1);
    for (const text of ["a\u0000@example.com", "\ud800@example.com"]) {
      const answer = await emailStatus(workspace, text, "unsubscribed");
      assert.equal(answer.status, 400);
      assert.equal(answer.body.code, "INVALID_TEXT");
    }
    assert.equal(await emailStateOf(workspace, "ada"), "subscribed");
  });

  test("POST /email/status requires subscription_state to be subscribed, unsubscribed or opted_in", async () => {
    const workspace = await newWorkspace();
    await users(workspace, { external_id: "ada", email: "ada@example.com" });
    await emailStatus(workspace, "ada@example.com", "opted_in");
    for (const state of [undefined, null, "Subscribed", "opted in", "", 1, ["subscribed"]]) {
      const answer = await emailStatus(workspace, "ada@example.com", state);
      assert.equal(answer.status, 400, JSON.stringify(state));
      assert.match(answer.body.message, /subscription_state/);
    }
    assert.equal(await emailStateOf(workspace, "ada"), "opted_in");
  });

  test("POST /email/status and email_subscribe write the same state, and the last write wins", async () => {
    const workspace = await newWorkspace();
    await users(workspace, {
      external_id: "ada",
      email: "ada@example.com",
      email_subscribe: "opted_in",
    });
    await emailStatus(workspace, "ada@example.com", "unsubscribed");
    assert.equal(await emailStateOf(workspace, "ada"), "unsubscribed");
    await users(workspace, { external_id: "ada", email_subscribe: "subscribed" });
    assert.equal(await emailStateOf(workspace, "ada"), "subscribed");
  });

  test("an email state applies to every user with the address", async () => {
    const workspace = await newWorkspace();
    await users(
      workspace,
      { external_id: "ada", email: "home@example.com" },
      { external_id: "bob", email: "Home@example.com" },
      { external_id: "cy", email: "cy@example.com" },
    );
    await emailStatus(workspace, "home@example.com", "unsubscribed");
    assert.equal(await emailStateOf(workspace, "ada"), "unsubscribed");
    assert.equal(await emailStateOf(workspace, "bob"), "unsubscribed");
    assert.equal(await emailStateOf(workspace, "cy"), "subscribed");
  });

  test("setting the state of an address makes its user the most recently updated one", async () => {
    const workspace = await newWorkspace();
    await users(workspace, { external_id: "ada", email: "ada@example.com", phone: PHONE });
    await users(workspace, { external_id: "bob", phone: PHONE });
    await emailStatus(workspace, "ada@example.com", "opted_in");
    await workspace.track({ events: [{ phone: PHONE, name: "seen", time: "2026-01-01" }] });
    const ada = await workspace.profile({ external_ids: ["ada"] });
    assert.equal(ada.custom_events.length, 1);
  });
});

describe("an address without a user", () => {
  test("the state of an address without a user is stored and creates no profile", async () => {
    const workspace = await newWorkspace();
    const answer = await emailStatus(workspace, "later@example.com", "unsubscribed");
    assert.equal(answer.status, 201);
    assert.deepEqual(answer.body, { message: "success" });
    assert.deepEqual(await workspace.profiles({ email_address: "later@example.com" }), []);
    const [stored] = await historyOf(server, workspace, { email: "later@example.com" });
    assert.equal(stored?.subscription_state, "unsubscribed");
  });

  test("the state of an address applies as soon as track links the address to a user", async () => {
    const workspace = await newWorkspace();
    await users(workspace, { external_id: "known" });
    await emailStatus(workspace, ["new@example.com", "known@example.com"], "unsubscribed");
    await emailStatus(workspace, "alone@example.com", "opted_in");
    await users(
      workspace,
      { external_id: "new", email: "New@example.com" },
      { external_id: "known", email: "known@example.com" },
      { email: "alone@example.com", first_name: "Al" },
    );
    assert.equal(await emailStateOf(workspace, "new"), "unsubscribed");
    assert.equal(await emailStateOf(workspace, "known"), "unsubscribed");
    const alone = await workspace.profile({ email_address: "alone@example.com" });
    assert.equal(alone.email_subscribe, "opted_in");
  });

  test("a user who changes the address has the state of the new address", async () => {
    const workspace = await newWorkspace();
    await users(workspace, { external_id: "ada", email: "old@example.com" });
    await emailStatus(workspace, "old@example.com", "unsubscribed");
    await users(workspace, { external_id: "ada", email: "new@example.com" });
    assert.equal(await emailStateOf(workspace, "ada"), "subscribed");
    await users(workspace, { external_id: "ada", email: "old@example.com" });
    assert.equal(await emailStateOf(workspace, "ada"), "unsubscribed");
  });
});

describe("DELETE /admin/v1/workspaces/{name}/email-states/{email}", () => {
  test("erasing the state of an address also erases its history, and nothing else", async () => {
    const workspace = await newWorkspace();
    await users(workspace, { external_id: "ada", email: "a/b+c@example.com", first_name: "Ada" });
    await emailStatus(workspace, ["a/b+c@example.com", "bob@example.com"], "unsubscribed");
    const path = (email: string) =>
      `/admin/v1/workspaces/${workspace.name}/email-states/${encodeURIComponent(email)}`;
    const answer = await server.admin("DELETE", path("A/B+C@example.com"));
    assert.deepEqual([answer.status, answer.body], [200, { erased: true, message: "success" }]);
    assert.equal(await emailStateOf(workspace, "ada"), "subscribed");
    assert.equal((await workspace.profile({ external_ids: ["ada"] })).first_name, "Ada");
    const left = await historyOf(server, workspace);
    assert.deepEqual(
      left.map((change) => change.email),
      ["bob@example.com"],
    );
    const again = await server.admin("DELETE", path("a/b+c@example.com"));
    assert.deepEqual(again.body, { erased: false, message: "success" });
  });

  test("erasing an email state requires a valid address, a known workspace and the admin token", async () => {
    const workspace = await newWorkspace();
    const path = (name: string, email: string) =>
      `/admin/v1/workspaces/${name}/email-states/${email}`;
    assert.equal((await server.admin("DELETE", path(workspace.name, "ada"))).status, 400);
    assert.equal((await server.admin("DELETE", path(workspace.name, "%00@x.com"))).status, 400);
    assert.equal((await server.admin("DELETE", path("nowhere", "a@example.com"))).status, 404);
    const mine = await workspace.call("DELETE", path(workspace.name, "a@example.com"));
    assert.equal(mine.status, 401);
  });
});
