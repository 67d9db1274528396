/* The requests of identity-chaos.ts's writers: random, and the same for the same seed. */
import { ALERTS, NEWSLETTER } from "../../../harness.ts";

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

export const LABEL = "l";

export const emailOf = (index: number): string => `e${index}@example.com`;

export const phoneOf = (index: number): string => `+1415555${2_000 + index}`;

/** How many addresses and how many numbers the users share. */
export const sharedBy = (users: number): number => Math.ceil(users / 5);

const PRIORITIES = [
  ["most_recently_updated"],
  ["identified", "most_recently_updated"],
  ["unidentified", "most_recently_updated"],
  ["identified"],
];

/** The names of the attributes, events and purchases of a request, by array and index. */
export type Names = Readonly<
  Partial<Record<"attributes" | "events" | "purchases", readonly string[]>>
>;

/** The prefix of the custom attributes with unique names. */
export const ATTRIBUTE = "attribute-";

interface Operation {
  /** `import` is the administrator's. */
  readonly path: string;
  readonly body: object;
  readonly names: Names;
  readonly items: number;
}

/**
 * One request, as likely as in real life: mostly tracking, often joining, seldom deleting.
 *
 * @param platformIds ids that were read before; who has them may be gone.
 */
export function operation(
  random: Random,
  users: number,
  newName: () => string,
  platformIds: readonly string[],
): Operation {
  const user = () => `u${random.below(users)}`;
  const alias = () => ({ alias_label: LABEL, alias_name: `a${random.below(users)}` });
  const email = () => emailOf(random.below(sharedBy(users)));
  const phone = () => phoneOf(random.below(sharedBy(users)));
  const byEmail = () => ({ email: email(), prioritization: random.pick(PRIORITIES) });
  const byPhone = () => ({ phone: phone(), prioritization: random.pick(PRIORITIES) });
  const list = <Item>(most: number, make: () => Item): Item[] =>
    Array.from({ length: 1 + random.below(most) }, make);
  const state = () => random.pick(["subscribed", "unsubscribed"]);
  const plain = (path: string, body: object, items: number) => ({ path, body, names: {}, items });
  /** Now and then only asked for. */
  const dry = () => (random.below(8) === 0 ? { dry_run: true } : {});

  const track = (): Operation => {
    const identifier = () =>
      random.pick<() => object>([
        () => ({ external_id: user() }),
        () => ({ external_id: user() }),
        () => ({ user_alias: alias() }),
        () => ({ email: email() }),
        () => (random.below(3) === 0 ? { phone: phone() } : { external_id: user() }),
        () =>
          platformIds.length > 0
            ? { platform_id: random.pick(platformIds) }
            : { external_id: user() },
      ])();
    const time = new Date().toISOString();
    const events = list(4, () => ({ ...identifier(), name: `event-${newName()}`, time }));
    const product = () => ({ product_id: `product-${newName()}`, currency: "USD", price: 1.25 });
    const purchases = list(2, () => ({ ...identifier(), ...product(), time }));
    const group = () => ({ subscription_group_id: NEWSLETTER, subscription_state: state() });
    const attributeNames = list(2, () => `${ATTRIBUTE}${newName()}`);
    const attributes = attributeNames.map((name) => ({
      external_id: user(),
      [name]: true,
      ...(random.below(2) === 0 && { seen: { add: [String(random.below(9))] } }),
      ...(random.below(3) === 0 && { email: email() }),
      ...(random.below(4) === 0 && { phone: phone() }),
      ...(random.below(6) === 0 && { email: null }),
      ...(random.below(6) === 0 && { email_subscribe: random.pick(["opted_in", "subscribed"]) }),
      ...(random.below(6) === 0 && { subscription_groups: [group()] }),
    }));
    const withAttributes = random.below(2) === 0;
    const withPurchases = random.below(2) === 0;
    return {
      path: "/users/track",
      body: { events, ...(withAttributes && { attributes }), ...(withPurchases && { purchases }) },
      names: {
        events: events.map((event) => event.name),
        ...(withAttributes && { attributes: attributeNames }),
        ...(withPurchases && { purchases: purchases.map((each) => each.product_id) }),
      },
      items: events.length + (withAttributes ? attributes.length : 0),
    };
  };
  const identifier = () =>
    random.pick<() => object>([
      () => ({ external_id: user() }),
      () => ({ external_id: user() }),
      () => ({ user_alias: alias() }),
      byEmail,
      byPhone,
    ])();
  const merge = () => {
    const merge_updates = list(3, () => ({
      identifier_to_merge: identifier(),
      identifier_to_keep: identifier(),
    }));
    return plain("/users/merge", { merge_updates, ...dry() }, merge_updates.length);
  };
  const identify = () => {
    const lists = random.pick<() => object>([
      () => ({
        aliases_to_identify: list(2, () => ({ external_id: user(), user_alias: alias() })),
      }),
      () => ({
        aliases_to_identify: list(2, () => ({ external_id: user(), user_alias: alias() })),
      }),
      () => ({ emails_to_identify: [{ external_id: user(), ...byEmail() }] }),
      () => ({ phone_numbers_to_identify: [{ external_id: user(), ...byPhone() }] }),
    ])();
    const behavior = random.pick([{}, { merge_behavior: "merge" }, { merge_behavior: "none" }]);
    return plain("/users/identify", { ...lists, ...behavior, ...dry() }, 2);
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
      { phone_numbers: [byPhone()] },
      ...(platformIds.length > 0 ? [{ platform_ids: [random.pick(platformIds)] }] : []),
    ];
    return plain("/users/delete", { ...random.pick(kinds), ...dry() }, 1);
  };
  const subscribe = () => {
    const group = { subscription_group_id: random.pick([NEWSLETTER, ALERTS]) };
    const names = random.pick([
      { external_ids: list(3, user) },
      { emails: [email()] },
      { phones: [phone()] },
    ]);
    const subscription_groups = [{ ...group, subscription_state: state(), ...names }];
    return plain("/v2/subscription/status/set", { subscription_groups }, 1);
  };
  const setEmail = () => {
    const subscription_state = random.pick(["subscribed", "unsubscribed", "opted_in"]);
    return plain("/email/status", { email: email(), subscription_state }, 1);
  };
  const read = () => {
    const fields_to_export = ["platform_id"];
    return plain("/users/export/ids", { external_ids: [user()], fields_to_export }, 1);
  };
  const imported = () => {
    const sent_at = new Date().toISOString();
    const message = () => ({ message_id: newName(), channel: "email", sent_at });
    const objects = list(2, () => ({ external_id: user(), messages: [message()] }));
    return plain("import", { users: objects }, objects.length);
  };
  const often = [track, track, track, track, track, track, merge, merge, merge];
  const seldom = [
    identify,
    identify,
    newAlias,
    rename,
    remove,
    subscribe,
    setEmail,
    read,
    imported,
  ];
  return random.pick([...often, ...seldom])();
}
