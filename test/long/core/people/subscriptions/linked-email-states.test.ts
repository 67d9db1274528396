/*
 * A state that a user without an address was given, once an address is linked: it is compared with
 * the state that the address has (docs/decisions/email-state.md).
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { id, merge, succeeds } from "../../../../core/people/identity/identity-calls.ts";
import {
  emailStateOf,
  emailStatus,
  historyOf,
  users,
} from "../../../../core/people/subscriptions/subscription-calls.ts";
import { startServer, type TestWorkspace } from "../../../../harness.ts";

const server = await startServer();

const EMAIL = "ada@example.com";

/** Runs the steps with time passing between them. */
async function inOrder(...steps: (() => Promise<unknown>)[]): Promise<void> {
  for (const step of steps) {
    await step();
    await wait(3);
  }
}

const give = (workspace: TestWorkspace, name: string, attributes: object) => () =>
  users(workspace, { external_id: name, ...attributes });

const store = (workspace: TestWorkspace, state: string) => () =>
  emailStatus(workspace, EMAIL, state);

/** The ways in which the address and the state of one user come together. */
const LINKS: [title: string, link: (workspace: TestWorkspace) => Promise<unknown>][] = [
  ["track gives the user the address", (workspace) => give(workspace, "w", { email: EMAIL })()],
  [
    "the user is merged into a user who has the address",
    async (workspace) => {
      await give(workspace, "k", { email: EMAIL })();
      await succeeds(merge(workspace, [[id("w"), id("k")]]));
    },
  ],
  [
    "a user who has the address is merged into the user",
    async (workspace) => {
      await give(workspace, "m", { email: EMAIL })();
      await succeeds(merge(workspace, [[id("m"), id("w")]]));
    },
  ],
];

const stateOfAddress = async (workspace: TestWorkspace) => {
  await give(workspace, "reader", { email: EMAIL })();
  return emailStateOf(workspace, "reader");
};

for (const [title, link] of LINKS) {
  describe(title, () => {
    test("a newer unsubscribe of the user prevails over the older state of the address", async () => {
      const workspace = await server.workspace();
      const waiting = give(workspace, "w", { email_subscribe: "unsubscribed" });
      await inOrder(store(workspace, "opted_in"), waiting, () => link(workspace));
      assert.equal(await stateOfAddress(workspace), "unsubscribed");
      const [newest] = await historyOf(server, workspace, { email: EMAIL });
      assert.equal(newest?.subscription_state, "unsubscribed");
    });

    test("an older opt-in of the user does not override a newer unsubscribe of the address", async () => {
      const workspace = await server.workspace();
      const waiting = give(workspace, "w", { email_subscribe: "opted_in" });
      await inOrder(waiting, store(workspace, "unsubscribed"), () => link(workspace));
      assert.equal(await stateOfAddress(workspace), "unsubscribed");
      assert.equal((await historyOf(server, workspace, { email: EMAIL })).length, 1);
    });

    test("an opt-in older than a repeated unsubscribe of the address does not override it", async () => {
      const workspace = await server.workspace();
      const refuse = store(workspace, "unsubscribed");
      const waiting = give(workspace, "w", { email_subscribe: "opted_in" });
      await inOrder(refuse, waiting, refuse, () => link(workspace));
      assert.equal(await stateOfAddress(workspace), "unsubscribed");
      assert.equal((await historyOf(server, workspace, { email: EMAIL })).length, 1);
    });

    test("a newer opt-in of the user prevails over an older unsubscribe of the address", async () => {
      const workspace = await server.workspace();
      const waiting = give(workspace, "w", { email_subscribe: "opted_in" });
      await inOrder(store(workspace, "unsubscribed"), waiting, () => link(workspace));
      assert.equal(await stateOfAddress(workspace), "opted_in");
    });
  });
}

describe("several email states", () => {
  test("of two users who get one address in one request, the newer state prevails", async () => {
    for (const [first, second] of [
      ["a", "b"],
      ["b", "a"],
    ] as const) {
      const workspace = await server.workspace();
      await inOrder(
        give(workspace, first, { email_subscribe: "opted_in" }),
        give(workspace, second, { email_subscribe: "unsubscribed" }),
      );
      const both = ["a", "b"].map((external_id) => ({ external_id, email: EMAIL }));
      await users(workspace, ...both);
      assert.equal(await stateOfAddress(workspace), "unsubscribed");
    }
  });

  test("of two merged users without an address, the newer email state is kept", async () => {
    const workspace = await server.workspace();
    await inOrder(
      give(workspace, "k", { email_subscribe: "opted_in" }),
      give(workspace, "m", { email_subscribe: "unsubscribed" }),
    );
    await succeeds(merge(workspace, [[id("m"), id("k")]]));
    assert.equal(await emailStateOf(workspace, "k"), "unsubscribed");
  });

  for (const [first, second] of [
    ["unsubscribed", "opted_in"],
    ["opted_in", "unsubscribed"],
  ]) {
    test(`of two email states in one request, the later one is kept: ${first}, ${second}`, async () => {
      const [set, waits] = [await server.workspace(), await server.workspace()];
      const waiting = (email_subscribe?: string) => ({ external_id: "w", email_subscribe });
      const onAddress = (email_subscribe?: string) => ({
        external_id: "k",
        email: EMAIL,
        email_subscribe,
      });
      const link = { external_id: "w", email: EMAIL };
      await users(set, waiting(first), onAddress(second), link);
      assert.equal(await stateOfAddress(set), second);
      await users(waits, onAddress(first), waiting(second), link);
      assert.equal(await stateOfAddress(waits), second);
    });
  }

  test("a repeated opt-in of an address does not override an unsubscribe that waited to be linked", async () => {
    const workspace = await server.workspace();
    await give(workspace, "k", { email: EMAIL, email_subscribe: "opted_in" })();
    await users(
      workspace,
      { external_id: "w", email_subscribe: "unsubscribed" },
      { external_id: "k", email: EMAIL, email_subscribe: "opted_in" },
      { external_id: "w", email: EMAIL },
    );
    assert.equal(await stateOfAddress(workspace), "unsubscribed");
  });

  test("a state sent together with the address prevails over the earlier state of the user", async () => {
    const workspace = await server.workspace();
    await give(workspace, "w", { email_subscribe: "unsubscribed" })();
    await give(workspace, "w", { email: EMAIL, email_subscribe: "opted_in" })();
    assert.equal(await stateOfAddress(workspace), "opted_in");
  });
});
