/*
 * The cost of setting states in statements, and the fate of states when a profile is deleted. Both
 * are below HTTP: the first counts the statements that reach the engine, the second is called by
 * the features that merge and delete people.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { systemClock } from "../../../../src/core/base/clock.ts";
import type { Channel, Workspace } from "../../../../src/core/base/context/workspace.ts";
import { createAddressCache } from "../../../../src/core/people/profiles/address-cache.ts";
import { createIdCache } from "../../../../src/core/people/profiles/id-cache.ts";
import type { PersonIdentifier } from "../../../../src/core/people/profiles/identifiers.ts";
import { createPeople } from "../../../../src/core/people/profiles/people.ts";
import { savePeople } from "../../../../src/core/people/profiles/save-people.ts";
import {
  selectEmailStateChanges,
  selectGroupStateChanges,
} from "../../../../src/core/people/subscriptions/history-store.ts";
import {
  carrySubscriptionsOver,
  forgetSubscriptions,
} from "../../../../src/core/people/subscriptions/people-gone.ts";
import { setEmailStates } from "../../../../src/core/people/subscriptions/set-email-states.ts";
import {
  type GroupSet,
  setGroupStates,
  setTogether,
} from "../../../../src/core/people/subscriptions/set-group-states.ts";
import {
  readEmailStates,
  readGroupStates,
} from "../../../../src/core/people/subscriptions/states.ts";
import { openMigrated } from "../../../databases.ts";
import { contextIn, testWorkspace } from "../../../test-context.ts";
import { countingDatabase } from "../../database/counted-statements.ts";
import { peopleServices } from "../people-services.ts";

const database = await openMigrated();

let workspaces = 0;

const newWorkspace = (): Workspace =>
  testWorkspace({
    id: ++workspaces,
    groupChannels: new Map<string, Channel>([
      ["news", "email"],
      ["alerts", "sms"],
      ["chat", "whatsapp"],
    ]),
  });

const emailOf = (name: string): PersonIdentifier => ({
  kind: "email",
  value: `${name}@example.com`,
  address: `${name}@example.com`,
});

/** Makes people with an email address each, shared where two have one name. @returns their ids. */
async function people(workspace: Workspace, ...names: string[]): Promise<string[]> {
  const made = createPeople([], [], systemClock.newId);
  const ids = names.map((name) => {
    const person = made.create({ kind: "external_id", value: systemClock.newId() });
    made.setEmail(person, `${name}@example.com`);
    return person.id;
  });
  await database.transaction((tx) => savePeople(tx, workspace.id, made.changes(systemClock.now())));
  return ids;
}

const setOf = (
  groupId: string,
  state: GroupSet["state"],
  whos: readonly PersonIdentifier[],
): GroupSet => ({
  groupId,
  state,
  named: whos.map((identifier, index) => ({ identifier, place: { input_array: "test", index } })),
});

const platformId = (value: string): PersonIdentifier => ({ kind: "platform_id", value });

describe("the cost of setting subscription states", () => {
  const names = (count: number) => Array.from({ length: count }, (_, index) => `u${index}`);

  async function costOf(workspace: Workspace, sets: readonly GroupSet[]) {
    const { database: counting, counted } = countingDatabase(database);
    await setGroupStates(peopleServices(counting), contextIn(workspace), sets);
    return { transactions: counted.transactions, statements: counted.statements.length };
  }

  test("a set of 50 users in several groups takes one transaction and as many statements as one user", async () => {
    const workspace = newWorkspace();
    await people(workspace, ...names(50), ...names(25));
    const one = await costOf(workspace, [setOf("news", "subscribed", [emailOf("u7")])]);
    assert.deepEqual(one, { transactions: 1, statements: 7 });
    const whos = names(50).map(emailOf);
    const many = ["news", "alerts", "chat"].map((id) => setOf(id, "unsubscribed", whos));
    assert.deepEqual(await costOf(workspace, many), one);
  });

  test("a set that changes no state writes neither states nor history", async () => {
    const workspace = newWorkspace();
    await people(workspace, ...names(50));
    const sets = [setOf("news", "subscribed", names(50).map(emailOf))];
    const first = await costOf(workspace, sets);
    const second = await costOf(workspace, sets);
    assert.equal(second.statements, first.statements - 2);
  });

  test("requests that wait together cost as many statements as one, and users in the id cache one read", async () => {
    const workspace = newWorkspace();
    const ids = names(60).map((name) => `${workspace.id} ${name}`);
    const made = createPeople([], [], systemClock.newId);
    for (const value of ids) made.create({ kind: "external_id", value });
    const changes = made.changes(systemClock.now());
    await database.transaction((tx) => savePeople(tx, workspace.id, changes));
    const idCache = createIdCache();
    const addressCache = createAddressCache();
    idCache.expect(workspace.id, 0);
    const costOfTogether = async (requests: readonly GroupSet[]) => {
      const { database: counting, counted } = countingDatabase(database, "counted");
      const services = { ...peopleServices(counting, idCache), addressCache };
      const inContext = requests.map((set) => ({ context: contextIn(workspace), sets: [set] }));
      const notes = await setTogether(services, inContext);
      assert.deepEqual(notes.flat(), []);
      const { transactions, reads, statements } = counted;
      return { transactions, reads: reads.length, statements: statements.length };
    };
    const requestOf = (state: GroupSet["state"], some: readonly string[]) =>
      setOf(
        "news",
        state,
        some.map((value) => ({ kind: "external_id", value })),
      );
    const first = await costOfTogether([requestOf("subscribed", ids)]);
    assert.deepEqual(first, { transactions: 1, reads: 2, statements: 5 });
    const requests = Array.from({ length: 20 }, (_, index) =>
      requestOf("unsubscribed", ids.slice(3 * index, 3 * index + 3)),
    );
    const known = { transactions: 1, reads: 1, statements: 5 };
    assert.deepEqual(await costOfTogether(requests), known);
    assert.deepEqual(await costOfTogether(requests), { ...known, statements: 3 });
  });

  test("of requests that wait together each gets its own verdicts, and each change names its own call", async () => {
    const workspace = newWorkspace();
    const [one = ""] = await people(workspace, "one");
    const requestBy = (call: string, state: GroupSet["state"], ...whos: PersonIdentifier[]) => ({
      context: { ...contextIn(workspace), call },
      sets: [setOf("news", state, whos)],
    });
    const notes = await setTogether(peopleServices(database), [
      requestBy("first", "subscribed", platformId(one), emailOf("nobody")),
      requestBy("second", "subscribed", emailOf("one")),
      requestBy("third", "unsubscribed", emailOf("one")),
    ]);
    assert.deepEqual(
      notes.map((each) => each.map(({ code, index }) => `${code} ${index}`)),
      [["USER_NOT_FOUND 1"], [], []],
    );
    const filter = {
      profileIds: [one],
      emails: undefined,
      groupId: "news",
      since: undefined,
      until: undefined,
      before: undefined,
      limit: 10,
    };
    const history = await selectGroupStateChanges(database, workspace.id, filter);
    assert.deepEqual(
      history.map(({ state, context: { call } }) => `${state} by ${call}`),
      ["unsubscribed by third", "subscribed by first"],
    );
  });

  test("setting 50 email states takes one transaction and as many statements as setting one", async () => {
    const workspace = newWorkspace();
    await people(workspace, ...names(25));
    const costs = [];
    for (const addresses of [[emailOf("u1")], names(50).map(emailOf)]) {
      const { database: counting, counted } = countingDatabase(database);
      const services = peopleServices(counting);
      // A repeated refusal costs one statement more, which renews its time.
      await setEmailStates(services, contextIn(workspace), addresses, "opted_in");
      costs.push([counted.transactions, counted.statements.length]);
    }
    assert.deepEqual(costs, [
      [1, 5],
      [1, 5],
    ]);
  });
});

describe("subscriptions after a merge or a deletion", () => {
  const services = peopleServices(database);

  const set = (workspace: Workspace, groupId: string, state: GroupSet["state"], id: string) =>
    setGroupStates(services, contextIn(workspace), [setOf(groupId, state, [platformId(id)])]);

  async function statesOf(workspace: Workspace, id: string) {
    const rows = await readGroupStates(database, workspace.id, [id]);
    return rows.map((row) => `${row.groupId} ${row.state}`).sort();
  }

  const all = {
    groupId: undefined,
    since: undefined,
    until: undefined,
    before: undefined,
    limit: 100,
  };

  const historyOf = async (workspace: Workspace, id: string) => {
    const filter = { ...all, profileIds: [id], emails: undefined };
    const rows = await selectGroupStateChanges(database, workspace.id, filter);
    return rows.reverse().map((row) => `${row.groupId} ${row.state} by ${row.context.call}`);
  };

  test("a merge keeps the group states of the kept profile and adds the missing ones", async () => {
    const workspace = newWorkspace();
    const [kept = "", one = "", other = "", bystander = ""] = await people(
      workspace,
      "kept",
      "one",
      "other",
      "bystander",
    );
    await set(workspace, "news", "unsubscribed", kept);
    await set(workspace, "news", "subscribed", one);
    await set(workspace, "alerts", "subscribed", one);
    await set(workspace, "alerts", "unsubscribed", other);
    await set(workspace, "chat", "unsubscribed", other);
    await set(workspace, "chat", "subscribed", bystander);
    const context = { ...contextIn(workspace), call: "a merge" };
    const merges = [one, other].map((fromId) => ({ fromId, toId: kept, context }));
    await database.transaction((tx) =>
      carrySubscriptionsOver(tx, workspace.id, merges, systemClock),
    );
    const expected = ["alerts subscribed", "chat unsubscribed", "news unsubscribed"];
    assert.deepEqual(await statesOf(workspace, kept), expected);
    assert.deepEqual(await statesOf(workspace, one), []);
    assert.deepEqual(await statesOf(workspace, other), []);
    assert.deepEqual(await statesOf(workspace, bystander), ["chat subscribed"]);

    assert.deepEqual(await historyOf(workspace, one), []);
    const history = await historyOf(workspace, kept);
    assert.deepEqual(history.slice(0, 5), [
      "news unsubscribed by a test",
      "news subscribed by a test",
      "alerts subscribed by a test",
      "alerts unsubscribed by a test",
      "chat unsubscribed by a test",
    ]);
    // The newest entry of a group is its state.
    const resulting = expected.map((state) => `${state} by a merge`);
    assert.deepEqual(history.slice(5).sort(), resulting);
  });

  test("a merge leaves the email state with its address", async () => {
    const workspace = newWorkspace();
    const [kept = "", merged = ""] = await people(workspace, "kept", "merged");
    await setEmailStates(services, contextIn(workspace), [emailOf("merged")], "unsubscribed");
    await database.transaction((tx) =>
      carrySubscriptionsOver(
        tx,
        workspace.id,
        [{ fromId: merged, toId: kept, context: contextIn(workspace) }],
        systemClock,
      ),
    );
    const emails = ["kept@example.com", "merged@example.com"];
    const states = await readEmailStates(database, workspace.id, emails);
    assert.deepEqual(
      states.map((row) => `${row.email} ${row.state}`),
      ["merged@example.com unsubscribed"],
    );
  });

  test("a deletion removes group states and their history, and keeps the state of the address", async () => {
    const workspace = newWorkspace();
    const [gone = "", stays = ""] = await people(workspace, "gone", "stays");
    for (const id of [gone, stays]) await set(workspace, "news", "subscribed", id);
    const addresses = [emailOf("gone"), emailOf("stays")];
    await setEmailStates(services, contextIn(workspace), addresses, "unsubscribed");
    await database.transaction((tx) =>
      forgetSubscriptions(tx, workspace.id, { profileIds: [gone], emails: ["gone@example.com"] }),
    );
    assert.deepEqual(await statesOf(workspace, gone), []);
    assert.deepEqual(await historyOf(workspace, gone), []);
    assert.deepEqual(await statesOf(workspace, stays), ["news subscribed"]);
    assert.equal((await historyOf(workspace, stays)).length, 1);
    const emails = ["gone@example.com", "stays@example.com"];
    const states = await readEmailStates(database, workspace.id, emails);
    assert.deepEqual(
      states.map((row) => row.state),
      ["unsubscribed", "unsubscribed"],
    );
    const filter = { ...all, profileIds: undefined, emails };
    const changes = await selectEmailStateChanges(database, workspace.id, filter);
    assert.deepEqual(
      changes.map((change) => change.email),
      ["stays@example.com"],
    );
  });
});
