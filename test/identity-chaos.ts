/*
 * Many writers at once on a few people, and a check of what must hold whatever order their requests
 * were carried out in.
 *
 * Every event that is sent has a name of its own. So at the end each event that was acknowledged must
 * either stand at exactly one living profile, exactly once, or be named by exactly one entry of the
 * audit: that of the deletion (or of the identification that leaves data behind) which took it. An
 * event that was lost, doubled, or came back to life breaks this, whoever was faster.
 */
import assert from "node:assert/strict";
import type { Answer, TestServer, TestWorkspace } from "./harness.ts";

/** Small, quick and the same everywhere: mulberry32. */
export function randomFrom(seed: number) {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (count: number): number => Math.floor(next() * count);
  return {
    below,
    pick: <Item>(items: readonly Item[]): Item => items[below(items.length)] as Item,
  };
}

type Random = ReturnType<typeof randomFrom>;

const LABEL = "l";

const PRIORITIES = [
  ["most_recently_updated"],
  ["identified", "most_recently_updated"],
  ["unidentified", "most_recently_updated"],
  ["identified"],
];

export interface Chaos {
  readonly seed: number;
  readonly users: number;
  readonly writers: number;
  readonly operations: number;
  /** Whether merged external ids lead to the kept users. */
  readonly redirects?: boolean;
}

/** What one run sent and was told. */
interface Log {
  /** Events that were acknowledged and not skipped. */
  readonly events: Set<string>;
  /** Every other event that was sent. */
  readonly others: Set<string>;
  /** Requests that were answered with anything but a success. */
  readonly failures: string[];
}

/**
 * Lets the writers loose, each through one of the clients in turn, and then checks everything.
 *
 * @param clients the same workspace as several servers give it.
 */
export async function runChaos(
  server: TestServer,
  clients: readonly TestWorkspace[],
  chaos: Chaos,
): Promise<void> {
  const log: Log = { events: new Set(), others: new Set(), failures: [] };
  const each = Math.ceil(chaos.operations / chaos.writers);
  await Promise.all(
    Array.from({ length: chaos.writers }, (_, writer) =>
      write(clients[writer % clients.length] as TestWorkspace, chaos, writer, each, log),
    ),
  );
  const [client] = clients;
  assert.deepEqual(log.failures.slice(0, 5), [], `seed ${chaos.seed}`);
  if (client) await checkEverything(server, client, chaos, log);
}

async function write(
  workspace: TestWorkspace,
  chaos: Chaos,
  writer: number,
  operations: number,
  log: Log,
): Promise<void> {
  const random = randomFrom(chaos.seed * 1_000 + writer);
  let lastEvent = 0;
  const newEvent = () => `event-${writer}-${++lastEvent}`;
  for (let done = 0; done < operations; ) {
    const { path, body, names, items } = operation(random, chaos.users, newEvent);
    // A repeated key would be answered without doing anything, so each is used once.
    const headers =
      random.below(10) === 0 ? { "idempotency-key": `${writer}-${done}-${chaos.seed}` } : {};
    const answer = await workspace.call("POST", path, body, { headers });
    done += items;
    noteAnswer(log, path, answer, names);
  }
}

function noteAnswer(
  log: Log,
  path: string,
  { status, body }: Answer,
  names: readonly string[],
): void {
  if (status >= 300) log.failures.push(`${path}: ${status} ${JSON.stringify(body)}`);
  const { skipped = [], errors = [] } = body as {
    skipped?: { input_array: string; index: number }[];
    errors?: { input_array: string; index: number }[];
  };
  const left = new Set(
    [...skipped, ...errors]
      .filter((note) => note.input_array === "events")
      .map(({ index }) => index),
  );
  for (const [index, name] of names.entries()) {
    const isTaken = status < 300 && !left.has(index);
    (isTaken ? log.events : log.others).add(name);
  }
}

interface Operation {
  readonly path: string;
  readonly body: object;
  /** The names of the events in it, by index. */
  readonly names: readonly string[];
  readonly items: number;
}

/** One request, as likely as in real life: mostly tracking, often joining, seldom deleting. */
function operation(random: Random, users: number, newEvent: () => string): Operation {
  const user = () => `u${random.below(users)}`;
  const alias = () => ({ alias_label: LABEL, alias_name: `a${random.below(users)}` });
  const email = () => `e${random.below(Math.ceil(users / 5))}@example.com`;
  const byEmail = () => ({ email: email(), prioritization: random.pick(PRIORITIES) });
  const list = <Item>(most: number, make: () => Item): Item[] =>
    Array.from({ length: 1 + random.below(most) }, make);
  const plain = (path: string, body: object, items: number) => ({ path, body, names: [], items });

  const track = (): Operation => {
    const who = () =>
      random.pick([
        () => ({ external_id: user() }),
        () => ({ external_id: user() }),
        () => ({ user_alias: alias() }),
        () => ({ email: email() }),
      ])();
    const events = list(4, () => ({ ...who(), name: newEvent(), time: new Date().toISOString() }));
    const attributes = list(2, () => ({
      external_id: user(),
      seen: { add: [String(random.below(9))] },
      ...(random.below(3) === 0 && { email: email() }),
      ...(random.below(6) === 0 && { email: null }),
    }));
    const withAttributes = random.below(2) === 0;
    return {
      path: "/users/track",
      body: { events, ...(withAttributes && { attributes }) },
      names: events.map((event) => event.name),
      items: events.length + (withAttributes ? attributes.length : 0),
    };
  };
  const identifier = () =>
    random.pick<() => object>([
      () => ({ external_id: user() }),
      () => ({ external_id: user() }),
      () => ({ user_alias: alias() }),
      byEmail,
    ])();
  const merge = () => {
    const merge_updates = list(3, () => ({
      identifier_to_merge: identifier(),
      identifier_to_keep: identifier(),
    }));
    return plain("/users/merge", { merge_updates }, merge_updates.length);
  };
  const identify = () => {
    const aliases_to_identify = list(2, () => ({ external_id: user(), user_alias: alias() }));
    const emails_to_identify = list(1, () => ({ external_id: user(), ...byEmail() }));
    const behavior = random.pick([{}, { merge_behavior: "merge" }, { merge_behavior: "none" }]);
    const lists = random.below(3) > 0 ? { aliases_to_identify } : { emails_to_identify };
    return plain("/users/identify", { ...lists, ...behavior }, Object.values(lists).flat().length);
  };
  const newAlias = () => {
    const user_aliases = list(3, () => ({
      ...alias(),
      ...(random.below(2) === 0 && { external_id: user() }),
    }));
    return plain("/users/alias/new", { user_aliases }, user_aliases.length);
  };
  const rename = () => {
    const alias_updates = list(2, () => ({
      alias_label: LABEL,
      old_alias_name: alias().alias_name,
      new_alias_name: alias().alias_name,
    }));
    return plain("/users/alias/update", { alias_updates }, alias_updates.length);
  };
  const remove = () => {
    const kinds = [
      { external_ids: [user()] },
      { user_aliases: [alias()] },
      { email_addresses: [byEmail()] },
    ];
    return plain("/users/delete", random.pick(kinds), 1);
  };
  const likely = [track, track, track, track, merge, merge, identify, newAlias, rename, remove];
  return random.pick(likely)();
}

interface Effect {
  readonly field: string;
  readonly name?: string;
  readonly effect: string;
}

interface Entry {
  readonly action: string;
  readonly platform_id: string;
  readonly merged_platform_id: string | null;
  readonly effects: readonly Effect[];
}

async function checkEverything(
  server: TestServer,
  workspace: TestWorkspace,
  { seed, users, redirects = false }: Chaos,
  log: Log,
): Promise<void> {
  const told = `seed ${seed}`;
  const audit = await readAudit(server, workspace.name);
  const { people, leads } = await readPeople(workspace, users);
  checkIdentifiers(people, leads, redirects, told);
  checkEvents(people, audit, log, told);
  checkSummaries(people, told);
  await checkGone(workspace, people, audit, told);
}

async function readAudit(server: TestServer, name: string): Promise<Entry[]> {
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

/** Everybody, by platform_id, and whom each identifier leads to. */
async function readPeople(workspace: TestWorkspace, users: number) {
  const people = new Map<string, Person>();
  const fields_to_export = [
    "platform_id",
    "external_id",
    "user_aliases",
    "email",
    "custom_events",
    "recent_activity",
  ];
  const read = async (request: object) => {
    const found = await workspace.profiles({ ...request, fields_to_export });
    for (const person of found) people.set(person.platform_id, person);
    return found.map((person) => person.platform_id as string).sort();
  };
  const leads = new Map<string, string[]>();
  for (let index = 0; index < users; index++) {
    const alias = { alias_label: LABEL, alias_name: `a${index}` };
    leads.set(`id u${index}`, await read({ external_ids: [`u${index}`] }));
    leads.set(`alias a${index}`, await read({ user_aliases: [alias] }));
    const email = `e${index}@example.com`;
    if (index < Math.ceil(users / 5)) leads.set(email, await read({ email_address: email }));
  }
  return { people, leads };
}

/** Each identifier leads to exactly those who have it; a merged external_id perhaps to another one. */
function checkIdentifiers(
  people: ReadonlyMap<string, Person>,
  leads: ReadonlyMap<string, string[]>,
  redirects: boolean,
  told: string,
): void {
  const holders = new Map<string, string[]>([...leads.keys()].map((key) => [key, []]));
  for (const { platform_id, external_id, user_aliases, email } of people.values()) {
    const keys = [
      ...(external_id === null ? [] : [`id ${external_id}`]),
      ...user_aliases.map((alias: { alias_name: string }) => `alias ${alias.alias_name}`),
      ...(email === null ? [] : [email]),
    ];
    for (const key of keys) holders.get(key)?.push(platform_id);
  }
  for (const [key, ids] of leads) {
    const own = holders.get(key)?.sort() ?? [];
    const isRedirected = redirects && key.startsWith("id ") && own.length === 0;
    if (!isRedirected) assert.deepEqual(ids, own, `${told}: ${key} leads to who has it`);
    if (!key.includes("@")) assert.ok(ids.length <= 1, `${told}: ${key} names one user`);
  }
}

/** Each acknowledged event stands once, at a person or in the audit of what took it; no other does. */
function checkEvents(
  people: ReadonlyMap<string, Person>,
  audit: readonly Entry[],
  log: Log,
  told: string,
): void {
  const places = new Map<string, string[]>();
  const put = (name: string, place: string) =>
    places.set(name, [...(places.get(name) ?? []), place]);
  for (const person of people.values()) {
    for (const { name, count } of person.custom_events) {
      for (let each = 0; each < count; each++) put(name, `person ${person.platform_id}`);
    }
  }
  for (const { action, effects } of audit) {
    for (const { field, name, effect } of effects) {
      const isGone = field === "custom_events" && (effect === "removed" || effect === "left");
      if (isGone && name) put(name, `${action} ${effect}`);
    }
  }
  for (const name of log.events) {
    assert.equal(places.get(name)?.length, 1, `${told}: ${name} at ${places.get(name)}`);
  }
  for (const name of log.others) {
    assert.equal(places.get(name), undefined, `${told}: ${name}, which was not taken`);
  }
  const known = log.events.size + log.others.size;
  assert.ok(known >= places.size, `${told}: ${places.size} events, of ${known} that were sent`);
}

/** The summaries say what the events themselves say. */
function checkSummaries(people: ReadonlyMap<string, Person>, told: string): void {
  for (const { platform_id, custom_events, recent_activity } of people.values()) {
    const summary = custom_events.map(({ name, count }: Person) => ({ name, count }));
    const month = recent_activity.find(({ days }: Person) => days === 30);
    assert.deepEqual(summary, month.custom_events, `${told}: summaries of ${platform_id}`);
  }
}

/** The ids of merged profiles lead to where their data is, those of deleted ones nowhere. */
async function checkGone(
  workspace: TestWorkspace,
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
