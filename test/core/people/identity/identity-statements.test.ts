/*
 * The cost of requests about identities in statements, for any number of items. Below HTTP, because
 * it counts what reaches the engine. Nothing is timed: speed is measured by benchmarks.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { systemClock } from "../../../../src/core/base/clock.ts";
import type { Database } from "../../../../src/core/database/database.ts";
import { deleteUsers } from "../../../../src/core/people/identity/delete-users.ts";
import { identifyUsers } from "../../../../src/core/people/identity/identify-users.ts";
import { mergeUsers } from "../../../../src/core/people/identity/merge-users.ts";
import { addAliases } from "../../../../src/core/people/identity/new-aliases.ts";
import { selectAuditEntries } from "../../../../src/core/people/identity/store.ts";
import { createPeople, setAttribute } from "../../../../src/core/people/profiles/people.ts";
import { savePeople } from "../../../../src/core/people/profiles/save-people.ts";
import { openMigrated } from "../../../databases.ts";
import { contextIn, testWorkspace } from "../../../test-context.ts";
import { countingDatabase } from "../../database/counted-statements.ts";
import { identityServices } from "../people-services.ts";
import { alias, byAlias, id, many } from "./identity-calls.ts";

const database = await openMigrated();

const workspace = testWorkspace();

const context = contextIn(workspace);

let last = 0;

/** Creates users with unique external ids, and a note of so many characters. @returns the ids. */
async function makeUsers(count: number, characters = 0): Promise<string[]> {
  const names = many(count, () => `user ${++last}`);
  const people = createPeople([], [], systemClock.newId);
  for (const value of names) {
    const person = people.create({ kind: "external_id", value });
    if (characters > 0) setAttribute(person, "custom", "note", "x".repeat(characters));
  }
  const changes = people.changes(systemClock.now());
  await database.transaction((tx) => savePeople(tx, workspace.id, changes));
  return names;
}

/** How many statements the work sends to the engine. */
async function statementsOf(work: (counting: Database) => Promise<unknown>): Promise<number> {
  const { database: counting, counted } = countingDatabase(database);
  await work(counting);
  return counted.statements.length;
}

async function mergePairs(count: number, characters = 0): Promise<number> {
  const names = await makeUsers(2 * count, characters);
  const updates = many(count, (index) => ({
    identifier_to_merge: id(names[2 * index] as string),
    identifier_to_keep: id(names[2 * index + 1] as string),
  }));
  return statementsOf(async (counting) => {
    const notes = await mergeUsers(identityServices(counting), context, updates);
    assert.equal(notes.skipped, undefined);
  });
}

async function mergeChain(count: number): Promise<number> {
  const names = await makeUsers(count + 1);
  const updates = many(count, (index) => ({
    identifier_to_merge: id(names[index] as string),
    identifier_to_keep: id(names[index + 1] as string),
  }));
  return statementsOf((counting) => mergeUsers(identityServices(counting), context, updates));
}

async function identifyNew(count: number): Promise<number> {
  const aliases = many(count, () => alias(`alias ${++last}`));
  await addAliases(identityServices(database), context, aliases);
  const names = await makeUsers(count);
  const aliases_to_identify = many(count, (index) => ({
    ...id(names[index] as string),
    ...byAlias(aliases[index]?.alias_name as string),
  }));
  return statementsOf(async (counting) => {
    const request = { aliases_to_identify };
    const { notes } = await identifyUsers(identityServices(counting), context, request);
    assert.equal(notes.skipped, undefined);
  });
}

async function deleteSome(count: number): Promise<number> {
  const external_ids = await makeUsers(count);
  return statementsOf((counting) =>
    deleteUsers(identityServices(counting), context, { external_ids }),
  );
}

async function nameSome(count: number): Promise<number> {
  const aliases = many(count, () => alias(`alias ${++last}`));
  return statementsOf((counting) => addAliases(identityServices(counting), context, aliases));
}

describe("50 identity changes in one request take no more statements than one", () => {
  const requests: [what: string, run: (count: number) => Promise<number>, most: number][] = [
    ["merges of different users", mergePairs, 27],
    ["merges of users with a kilobyte of attributes", (count) => mergePairs(count, 1_000), 27],
    ["a chain of merges", mergeChain, 27],
    ["identified aliases", identifyNew, 34],
    ["deleted users", deleteSome, 26],
    ["new aliases", nameSome, 5],
  ];
  for (const [what, run, most] of requests) {
    test(what, async () => {
      const one = await run(1);
      const fifty = await run(50);
      assert.equal(fifty, one);
      assert.ok(one <= most, `${one} statements`);
    });
  }
});

describe("merges that wait together", () => {
  /** A request with one merge, in a separate call. */
  const requestOf = (call: string, merged: string, kept: string) => ({
    context: { ...context, call },
    updates: [{ identifier_to_merge: id(merged), identifier_to_keep: id(kept) }],
  });

  async function sendTogether(requests: readonly ReturnType<typeof requestOf>[]) {
    const { database: counting, counted } = countingDatabase(database);
    const services = identityServices(counting);
    const notes = await Promise.all(
      requests.map((each) => mergeUsers(services, each.context, each.updates)),
    );
    return { notes, transactions: counted.transactions, statements: counted.statements.length };
  }

  test("share one transaction with as many statements as a request alone", async () => {
    const names = await makeUsers(20);
    const alone = await mergePairs(1);
    const requests = many(10, (index) =>
      requestOf("a call", names[2 * index] as string, names[2 * index + 1] as string),
    );
    const { notes, transactions, statements } = await sendTogether(requests);
    assert.deepEqual(
      notes,
      many(10, () => ({})),
    );
    assert.deepEqual([transactions, statements], [1, alone]);
  });

  test("get their own verdicts, in their order, and the audit names the call of each", async () => {
    const [a, b, c] = (await makeUsers(3)) as [string, string, string];
    const { notes } = await sendTogether([
      requestOf("first", a, b),
      requestOf("second", a, c),
      requestOf("third", b, c),
    ]);
    assert.deepEqual(
      notes.map(({ skipped = [] }) => skipped.map(({ code }) => code)),
      [[], ["USER_NOT_FOUND"], []],
    );
    const newest = { beforeId: undefined, profileId: undefined, limit: 2 };
    const entries = await selectAuditEntries(database, workspace.id, newest);
    assert.deepEqual(
      entries.map(({ call }) => call),
      ["third", "first"],
    );
    assert.equal(entries[0]?.mergedProfileId, entries[1]?.profileId);
  });

  test("are written alone if one of them cannot be written", async () => {
    const [a, b] = (await makeUsers(2)) as [string, string];
    const services = identityServices(database);
    const refusal = new Error("refused");
    const failing = {
      place: { array: "a test", index: 0 },
      names: [],
      apply: () => {
        throw refusal;
      },
    };
    const { updates } = requestOf("a call", a, b);
    const [failed, merged] = await Promise.allSettled([
      services.mergeQueue.merge(database, context, [failing]),
      mergeUsers(services, context, updates),
    ]);
    assert.deepEqual(failed, { status: "rejected", reason: refusal });
    assert.deepEqual(merged, { status: "fulfilled", value: {} });
  });
});
