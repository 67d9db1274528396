/*
 * A dry run previews the same request: random requests, one after the other, each previewed and
 * then made. RAPPORT_TEST_SEED and RAPPORT_TEST_OPERATIONS change the run; a failure prints its
 * seed.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { EXPORT_FIELDS } from "../../../../../src/features/export/profile-view.ts";
import type { IdentityAnswer } from "../../../../core/people/identity/identity-calls.ts";
import {
  emailOf,
  LABEL,
  operation,
  phoneOf,
  randomFrom,
  sharedBy,
} from "../../../../core/people/identity/identity-chaos-operations.ts";
import { startServer, type TestWorkspace } from "../../../../harness.ts";
import { sized } from "../../../../sizes.ts";

const SEED = Number(process.env.RAPPORT_TEST_SEED ?? 1);

const REQUESTS = Number(process.env.RAPPORT_TEST_OPERATIONS ?? sized(50, 80));

const USERS = 8;

const DRY = /^\/users\/(alias\/new|alias\/update|identify|merge|delete)$/;

const server = await startServer();

/** Everyone with all data, except what only time changes. */
async function everybody(workspace: TestWorkspace): Promise<Map<string, Record<string, any>>> {
  const numbers = Array.from({ length: USERS }, (_, index) => index);
  const asked: object[] = [
    {
      external_ids: numbers.map((index) => `u${index}`),
      user_aliases: numbers.map((index) => ({ alias_label: LABEL, alias_name: `a${index}` })),
    },
    ...numbers
      .slice(0, sharedBy(USERS))
      .flatMap((index) => [{ email_address: emailOf(index) }, { phone: phoneOf(index) }]),
  ];
  const people = new Map<string, Record<string, any>>();
  for (const each of asked) {
    const found = await workspace.profiles({ ...each, fields_to_export: EXPORT_FIELDS });
    for (const { recent_activity: _, ...person } of found) people.set(person.platform_id, person);
  }
  return people;
}

/** The newest entries of the audit, in the order they were made. */
async function lastEntries(name: string, count: number): Promise<Record<string, any>[]> {
  if (count === 0) return [];
  const path = `/admin/v1/workspaces/${name}/identity-audit?limit=${count}`;
  return (await server.admin("GET", path)).body.entries.reverse();
}

const audited = ({ field, name, effect }: Record<string, any>) => ({
  field,
  ...(name !== undefined && field !== "devices" && { name }),
  effect,
});

/** The preview of an item, as the audit of the request itself has to report it. */
const expectedEntry = ({ outcome, kept, merged, user, effects }: Record<string, any>) => ({
  isDeletion: outcome === "deleted",
  platform_id: (kept ?? user).platform_id,
  merged_platform_id: merged?.platform_id ?? null,
  effects: effects.map(audited),
});

const entryOf = (entry: Record<string, any>) => ({
  isDeletion: entry.action === "delete",
  platform_id: entry.platform_id,
  merged_platform_id: entry.merged_platform_id,
  effects: entry.effects.map(audited),
});

/** Fields that an export shows as an effect reports them. */
const PLAIN = ["external_id", "user_aliases", "email", "phone", "first_name", "push_tokens"];

/** The kept user has the previewed data. */
function checkResults(effects: readonly Record<string, any>[], kept: Record<string, any>): void {
  for (const { field, name, effect, result } of effects) {
    if (PLAIN.includes(field)) assert.deepEqual(kept[field], result, field);
    if (field === "custom_attributes" && effect !== "left") {
      assert.deepEqual(kept.custom_attributes[name], result, name);
    }
    if (field === "custom_events" && effect !== "left") {
      const event = kept.custom_events.find((each: { name: string }) => each.name === name);
      assert.deepEqual({ ...result, name }, event);
    }
    if (field === "message_history") assert.equal(kept.message_history.length, result);
    if (field === "purchase_amount_cents") assert.equal(kept.total_revenue * 100, result);
  }
}

test("a dry run changes nothing and reports what the real request does", async (t) => {
  t.diagnostic(`seed ${SEED}`);
  const workspace = await server.workspace();
  const random = randomFrom(SEED);
  let last = 0;
  let compared = 0;
  const admin = { key: server.adminToken };
  for (let done = 0; done < REQUESTS; done++) {
    const sent = operation(random, USERS, () => `${++last}`, []);
    const { dry_run: _, ...body } = sent.body as Record<string, unknown>;
    if (!DRY.test(sent.path)) {
      const path =
        sent.path === "import" ? `/admin/v1/workspaces/${workspace.name}/import` : sent.path;
      await workspace.call("POST", path, body, sent.path === "import" ? admin : {});
      continue;
    }
    const before = await everybody(workspace);
    const asked = await workspace.call<IdentityAnswer>("POST", sent.path, {
      ...body,
      dry_run: true,
    });
    const told = `seed ${SEED}, request ${done}: ${JSON.stringify(body)}`;
    assert.deepEqual(await everybody(workspace), before, told);

    const answer = await workspace.call<IdentityAnswer>("POST", sent.path, body);
    const { results = [], dry_run: __, ...promised } = asked.body;
    assert.deepEqual([asked.status, promised], [answer.status, answer.body], told);
    const changes = results.filter((each) => each.effects !== undefined);
    const entries = await lastEntries(workspace.name, changes.length);
    assert.deepEqual(entries.map(entryOf), changes.map(expectedEntry), told);
    const [only, another] = changes;
    const kept = only?.kept && (await everybody(workspace)).get(only.kept.platform_id);
    if (kept && !another) checkResults(only.effects, kept);
    compared += changes.length;
  }
  assert.ok(compared > REQUESTS / 12, `${compared} changes were compared`);
});
