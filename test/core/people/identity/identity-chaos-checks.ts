/* Invariants after identity-chaos.ts, for any order of its requests. */
import assert from "node:assert/strict";
import type { TestServer, TestWorkspace } from "../../../harness.ts";
import type { Chaos, Log } from "./identity-chaos.ts";
import { ATTRIBUTE, emailOf, LABEL, phoneOf, sharedBy } from "./identity-chaos-operations.ts";

interface Effect {
  readonly field: string;
  readonly name?: string;
  readonly effect: string;
  readonly merged?: number;
}

interface Entry {
  readonly action: string;
  readonly platform_id: string;
  readonly merged_platform_id: string | null;
  readonly effects: readonly Effect[];
}

export async function checkEverything(
  server: Pick<TestServer, "admin">,
  workspace: Pick<TestWorkspace, "name" | "profiles">,
  { seed, users, redirects = false }: Pick<Chaos, "seed" | "users" | "redirects">,
  log: Log,
): Promise<void> {
  const told = `seed ${seed}`;
  const audit = await readAudit(server, workspace.name);
  const { people, leads } = await readPeople(workspace, users);
  checkIdentifiers(people, leads, redirects, told);
  checkNames(people, audit, log, told);
  checkMessages(people, audit, log, told);
  checkSummaries(people, told);
  await checkGone(workspace, people, audit, told);
}

async function readAudit(server: Pick<TestServer, "admin">, name: string): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (let cursor = ""; ; ) {
    const query = `limit=500${cursor && `&cursor=${cursor}`}`;
    const page = await server.admin("GET", `/admin/v1/workspaces/${name}/identity-audit?${query}`);
    entries.push(...page.body.entries);
    if (!page.body.next_cursor) return entries.reverse();
    cursor = page.body.next_cursor;
  }
}

type Person = Record<string, any>;

const FIELDS = [
  "platform_id",
  "external_id",
  "user_aliases",
  "email",
  "phone",
  "custom_attributes",
  "custom_events",
  "purchases",
  "total_revenue",
  "recent_activity",
  "message_history",
];

/** Everyone, by platform_id, and the person that each identifier identifies. */
async function readPeople(workspace: Pick<TestWorkspace, "profiles">, users: number) {
  const people = new Map<string, Person>();
  const leads = new Map<string, string[]>();
  const read = async (key: string, request: object) => {
    const found = await workspace.profiles({ ...request, fields_to_export: FIELDS });
    for (const person of found) people.set(person.platform_id, person);
    leads.set(key, found.map((person) => person.platform_id as string).sort());
  };
  for (let index = 0; index < users; index++) {
    const alias = { alias_label: LABEL, alias_name: `a${index}` };
    await read(`id u${index}`, { external_ids: [`u${index}`] });
    await read(`alias a${index}`, { user_aliases: [alias] });
  }
  for (let index = 0; index < sharedBy(users); index++) {
    await read(emailOf(index), { email_address: emailOf(index) });
    await read(phoneOf(index), { phone: phoneOf(index) });
  }
  return { people, leads };
}

/**
 * Each identifier belongs to exactly the right people; a merged external_id perhaps to another one.
 */
function checkIdentifiers(
  people: ReadonlyMap<string, Person>,
  leads: ReadonlyMap<string, string[]>,
  redirects: boolean,
  told: string,
): void {
  const holders = new Map<string, string[]>([...leads.keys()].map((key) => [key, []]));
  for (const { platform_id, external_id, user_aliases, email, phone } of people.values()) {
    const keys = [
      ...(external_id === null ? [] : [`id ${external_id}`]),
      ...user_aliases.map((alias: { alias_name: string }) => `alias ${alias.alias_name}`),
      ...(email === null ? [] : [email]),
      ...(phone === null ? [] : [phone]),
    ];
    for (const key of keys) holders.get(key)?.push(platform_id);
  }
  for (const [key, ids] of leads) {
    const own = holders.get(key)?.sort() ?? [];
    const isRedirected = redirects && key.startsWith("id ") && own.length === 0;
    if (!isRedirected) assert.deepEqual(ids, own, `${told}: ${key} leads to who has it`);
    if (/^(id|alias) /.test(key)) assert.ok(ids.length <= 1, `${told}: ${key} names one user`);
  }
}

/**
 * Each accepted item is there once, at a person or in the audit of the call that removed it;
 * nothing else is.
 */
function checkNames(
  people: ReadonlyMap<string, Person>,
  audit: readonly Entry[],
  log: Log,
  told: string,
): void {
  const places = new Map<string, string[]>();
  const put = (name: string, place: string) => {
    if (!log.foreign?.has(name)) places.set(name, [...(places.get(name) ?? []), place]);
  };
  for (const person of people.values()) {
    for (const { name, count } of [...person.custom_events, ...person.purchases]) {
      for (let each = 0; each < count; each++) put(name, `person ${person.platform_id}`);
    }
    for (const name of Object.keys(person.custom_attributes)) {
      if (name.startsWith(ATTRIBUTE)) put(name, `person ${person.platform_id}`);
    }
  }
  for (const { action, effects } of audit) {
    for (const { field, name, effect } of effects) {
      const isGone = effect === "removed" || effect === "left";
      const isNamed =
        field === "custom_events" ||
        field === "purchases" ||
        (field === "custom_attributes" && name?.startsWith(ATTRIBUTE));
      if (isGone && isNamed && name) put(name.replace(" (USD)", ""), `${action} ${effect}`);
    }
  }
  for (const name of log.taken) {
    assert.equal(places.get(name)?.length, 1, `${told}: ${name} at ${places.get(name)}`);
  }
  for (const name of log.others) {
    assert.equal(places.get(name), undefined, `${told}: ${name}, which was not taken`);
  }
  for (const name of log.inDoubt ?? []) {
    const found = places.get(name) ?? [];
    assert.ok(found.length <= 1, `${told}: ${name} at ${found}`);
  }
  const known = log.taken.size + log.others.size + (log.inDoubt?.size ?? 0);
  assert.ok(known >= places.size, `${told}: ${places.size} names, of ${known} that were sent`);
}

/** The messages of the people and of those who were deleted are all that were imported. */
function checkMessages(
  people: ReadonlyMap<string, Person>,
  audit: readonly Entry[],
  log: Log,
  told: string,
): void {
  let messages = 0;
  for (const { message_history } of people.values()) messages += message_history.length;
  for (const { field, effect, merged = 0 } of audit.flatMap(({ effects }) => effects)) {
    if (field === "message_history" && effect === "removed") messages += merged;
  }
  const atMost = log.messages + (log.messagesInDoubt ?? 0);
  const isRight = messages >= log.messages && messages <= atMost;
  assert.ok(isRight, `${told}: ${messages} messages, not ${log.messages} to ${atMost}`);
}

/** The summaries agree with the events and purchases themselves. */
function checkSummaries(people: ReadonlyMap<string, Person>, told: string): void {
  const counts = (rows: readonly Person[]) => rows.map(({ name, count }) => ({ name, count }));
  for (const { platform_id, custom_events, purchases, ...person } of people.values()) {
    const month = person.recent_activity.find(({ days }: Person) => days === 30);
    const note = `${told}: summaries of ${platform_id}`;
    assert.deepEqual(counts(custom_events), month.custom_events, note);
    assert.deepEqual(counts(purchases), counts(month.purchases), note);
    assert.equal(person.total_revenue, 1.25 * purchases.length, note);
  }
}

/** The ids of merged profiles identify the profiles with their data, the ids of deleted ones identify none. */
async function checkGone(
  workspace: Pick<TestWorkspace, "profiles">,
  people: ReadonlyMap<string, Person>,
  audit: readonly Entry[],
  told: string,
): Promise<void> {
  const keptBy = new Map<string, string>();
  const deleted = new Set<string>();
  for (const { action, platform_id, merged_platform_id } of audit) {
    if (merged_platform_id) keptBy.set(merged_platform_id, platform_id);
    if (action === "delete") deleted.add(platform_id);
  }
  const last = (id: string): string => {
    const next = keptBy.get(id);
    return next === undefined ? id : last(next);
  };
  for (const id of [...keptBy.keys(), ...deleted]) {
    const found = await workspace.profiles({
      platform_ids: [id],
      fields_to_export: ["platform_id"],
    });
    const expected = deleted.has(last(id)) ? [] : [last(id)];
    assert.deepEqual(
      found.map((person) => person.platform_id),
      expected,
      `${told}: where ${id} leads`,
    );
    assert.ok(!people.has(id), `${told}: ${id} is gone`);
  }
}
