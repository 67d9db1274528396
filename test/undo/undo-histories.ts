/*
 * Random histories of a few users, for the model of undo.
 *
 * What a call names are users by place (0, 1, …), each by its own identifier, so that the same calls can be sent to a second
 * workspace in which nobody was merged.
 */
import assert from "node:assert/strict";
import { ALERTS, NEWSLETTER, type TestServer, type TestWorkspace, WEB_APP } from "../harness.ts";

/** From 0 to below a number, the same for the same seed (Mulberry32). */
export function randomOf(seed: number) {
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
    oneOf: <Item>(...items: readonly Item[]): Item => items[below(items.length)] as Item,
    chance: (percent: number): boolean => below(100) < percent,
  };
}

export type Random = ReturnType<typeof randomOf>;

export interface Call {
  readonly path: string;
  readonly body: object;
  /** With the admin token, below the workspace. */
  readonly isAdmins?: true;
}

/** A user: identified, or known by an alias alone. */
export interface HistoryUser {
  readonly place: number;
  readonly alias: string;
  readonly externalId: string | null;
}

const DAY = 86_400_000;
const NOW = Date.parse("2026-03-01T00:00:00.000Z");

export const aliasOf = (name: string) => ({ alias_name: name, alias_label: "l" });

/** How a user is named in track. */
export const nameOf = ({ externalId, alias }: HistoryUser): Record<string, unknown> =>
  externalId === null
    ? { user_alias: aliasOf(alias), _update_existing_only: false }
    : { external_id: externalId };

export const identifierOf = ({ externalId, alias }: HistoryUser): object =>
  externalId === null ? { user_alias: aliasOf(alias) } : { external_id: externalId };

/** Users, some of whom are known by an alias alone. */
export const makeUsers = (random: Random, prefix: string, count: number): HistoryUser[] =>
  Array.from({ length: count }, (_, place) => ({
    place,
    alias: `${prefix}-a${place}`,
    externalId: random.chance(25) ? null : `${prefix}-${place}`,
  }));

const timeIn = (random: Random): string =>
  new Date(NOW - random.below(60) * DAY - random.below(DAY)).toISOString();

const eventOf = (random: Random, user: HistoryUser) => {
  const { _update_existing_only, ...name } = nameOf(user);
  return { ...name, name: random.oneOf("a", "b", "c"), time: timeIn(random), properties: { n: 1 } };
};

const purchaseOf = (random: Random, user: HistoryUser) => {
  const { _update_existing_only, ...name } = nameOf(user);
  return {
    ...name,
    product_id: random.oneOf("p", "q"),
    currency: random.oneOf("EUR", "USD"),
    price: random.below(1_000) / 100,
    quantity: 1 + random.below(3),
    time: timeIn(random),
  };
};

const list = <One>(random: Random, most: number, make: () => One): One[] =>
  Array.from({ length: random.below(most + 1) }, make);

/** What makes users as they are before the first merge. Everybody exists afterwards. */
export function beginning(random: Random, prefix: string, users: readonly HistoryUser[]): Call[] {
  const attributes = users.map((user) => ({
    ...nameOf(user),
    here: true,
    ...(random.chance(50) && { first_name: random.oneOf("Ada", "Bob", "Eve") }),
    ...(random.chance(40) && { home_city: random.oneOf("Bonn", "Rome") }),
    ...(random.chance(40) && { plan: random.oneOf("free", "pro") }),
    ...(random.chance(30) && { tags: [random.oneOf("x", "y"), "z"] }),
    ...(random.chance(20) && { score: random.below(10) }),
    ...(random.chance(40) && { email: `${prefix}-${random.below(3)}@Example.com` }),
    ...(random.chance(30) && { phone: `+4930123456${10 + random.below(80)}` }),
    ...(random.chance(30) && {
      email_subscribe: random.oneOf("opted_in", "unsubscribed", "subscribed"),
    }),
    ...(random.chance(30) && {
      push_tokens: [
        { app_id: WEB_APP, token: random.oneOf("t1", "t2", "t3"), device_id: "device-1" },
      ],
    }),
    ...(random.chance(40) && {
      subscription_groups: [
        {
          subscription_group_id: random.oneOf(NEWSLETTER, ALERTS),
          subscription_state: random.oneOf("subscribed", "unsubscribed"),
        },
      ],
    }),
  }));
  const calls: Call[] = [{ path: "/users/track", body: { attributes } }];
  const user = () => users[random.below(users.length)] as HistoryUser;
  calls.push({
    path: "/users/track",
    body: {
      attributes: [{ ...nameOf(users[0] as HistoryUser), here: true }],
      events: list(random, 8, () => eventOf(random, user())),
      purchases: list(random, 5, () => purchaseOf(random, user())),
    },
  });
  const imported = users.map((each) => {
    const { _update_existing_only, ...name } = nameOf(each);
    return {
      ...name,
      ...(random.chance(40) && {
        apps: [
          {
            app_id: WEB_APP,
            version: random.oneOf("1", "2"),
            sessions: 1 + random.below(9),
            first_used: timeIn(random),
            last_used: new Date(NOW + random.below(DAY)).toISOString(),
          },
        ],
      }),
      ...(random.chance(40) && {
        devices: [{ device_id: random.oneOf("d1", "d2"), model: random.oneOf("m", "n") }],
      }),
      ...(random.chance(40) && {
        campaigns_received: [
          {
            name: "c",
            api_campaign_id: random.oneOf("c1", "c2"),
            last_received: timeIn(random),
            engaged: { opened_email: random.chance(50) },
            converted: random.chance(50),
          },
        ],
      }),
      ...(random.chance(40) && { cards_clicked: [{ name: random.oneOf("k1", "k2") }] }),
      ...(random.chance(40) && {
        messages: [random.oneOf("m1", "m2"), `m-${each.place}`].map((message_id) => ({
          message_id,
          channel: "email",
          sent_at: timeIn(random),
        })),
      }),
      ...(random.chance(30) && { engagement_times: { last_opened_email_at: timeIn(random) } }),
    };
  });
  calls.push({ path: "import", body: { users: imported }, isAdmins: true });
  const aliases = users
    .filter(({ externalId }) => externalId !== null && random.chance(40))
    .map(({ externalId, alias }) => ({ external_id: externalId, ...aliasOf(alias) }));
  if (aliases.length > 0) calls.push({ path: "/users/alias/new", body: { user_aliases: aliases } });
  return calls;
}

/** Users who share addresses, numbers and groups, some of which have a history. */
export function sharing(random: Random, users: readonly HistoryUser[]): Call[] {
  const attributes = (place: number) =>
    users.map((user) => ({
      ...nameOf(user),
      here: place,
      ...(place === 0 && {
        email: random.oneOf("One@example.com", "two@example.com", null),
        phone: random.oneOf("+14155552671", null),
      }),
      ...(random.chance(40) && { email_subscribe: random.oneOf("opted_in", "unsubscribed") }),
      ...(random.chance(40) && {
        subscription_groups: [
          {
            subscription_group_id: random.oneOf(NEWSLETTER, ALERTS),
            subscription_state: random.oneOf("subscribed", "unsubscribed"),
          },
        ],
      }),
    }));
  return [0, 1].map((place) => ({
    path: "/users/track",
    body: { attributes: attributes(place) },
  }));
}

/**
 * What a user does after a merge, by a name of its own. No value is one that a merge can have brought: a field that has the
 * value that was taken goes back, whoever wrote it last.
 *
 * @param turn makes values unique.
 */
export function afterwards(random: Random, user: HistoryUser, turn: number): Call {
  const { _update_existing_only, ...name } = nameOf(user);
  const attributes = [
    {
      ...name,
      ...random.oneOf<object>(
        { first_name: `name ${turn}` },
        { home_city: `city ${turn}` },
        { plan: `plan ${turn}` },
        { [`own_${turn % 5}`]: turn },
        { first_name: null },
        { plan: null },
      ),
    },
  ];
  return {
    path: "/users/track",
    body: {
      attributes,
      events: list(random, 3, () => eventOf(random, user)),
      purchases: list(random, 2, () => purchaseOf(random, user)),
    },
  };
}

export async function send(
  server: { admin(method: string, path: string, body?: unknown): Promise<any> },
  workspace: TestWorkspace,
  { path, body, isAdmins }: Call,
): Promise<any> {
  const answer = isAdmins
    ? await server.admin("POST", `/admin/v1/workspaces/${workspace.name}/${path}`, body)
    : await workspace.call("POST", path, body);
  if (answer.status >= 300) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
  return answer.body;
}

/** Asserts that every address and number in a profile identifies it, and that no other does. */
export async function consistentIdentifiers(
  { database }: Pick<TestServer, "database">,
  { name }: Pick<TestWorkspace, "name">,
  told: string,
): Promise<void> {
  const wrong = await database.query(
    `with own as (
       select profile_id, lower(email) as value, 'email' as kind from profiles join workspaces using (workspace_id)
         where name = $1 and email is not null
       union all select profile_id, phone, 'phone' from profiles join workspaces using (workspace_id)
         where name = $1 and phone is not null
     ), named as (
       select profile_id, value, kind::text from identifiers join workspaces using (workspace_id)
         where name = $1 and kind in ('email', 'phone')
     )
     (select 'no identifier' as what, o.* from (table own except table named) o)
     union all (select 'no field', n.* from (table named except table own) n)`,
    [name],
  );
  assert.deepEqual([...wrong], [], told);
}
