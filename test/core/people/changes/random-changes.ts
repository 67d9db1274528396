/* Random calls of every kind that changes users, for the checks of the change feed. */
import { ALERTS, NEWSLETTER } from "../../../harness.ts";

export interface RandomCall {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
}

/** The same numbers from 0 to 1 for the same seed (Mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** @param random from 0 to 1. @param users how many external ids there are. */
export function randomCall(random: () => number, users: number): RandomCall {
  const number = (below: number) => Math.floor(random() * below);
  const oneOf = <One>(...many: One[]) => many[number(many.length)] as One;
  const id = () => `${number(10) === 0 ? "renamed" : "user"}-${number(users)}`;
  const alias = () => ({ alias_name: `name-${number(users)}`, alias_label: "crm" });
  const email = () => `${oneOf("Mail", "mail")}-${number(users)}@example.com`;
  const named = () =>
    oneOf<() => Record<string, unknown>>(
      () => ({ external_id: id() }),
      () => ({ external_id: id() }),
      () => ({ external_id: id() }),
      () => ({ user_alias: alias() }),
      () => ({ email: email() }),
    )();
  const time = () => new Date(Date.now() - number(1_000_000)).toISOString();
  const attributes = () => ({
    ...named(),
    ...oneOf<Record<string, unknown>>(
      { plan: oneOf("free", "pro", null) },
      { score: { inc: 1 } },
      { first_name: oneOf("Ada", "Bob", null) },
      { phone: `+4930123456${number(100)}` },
      { email_subscribe: oneOf("opted_in", "unsubscribed", "subscribed") },
      { tags: { add: [oneOf("a", "b")] } },
      {
        subscription_groups: [
          {
            subscription_group_id: NEWSLETTER,
            subscription_state: oneOf("subscribed", "unsubscribed"),
          },
        ],
      },
    ),
  });
  const post = (path: string, body: unknown): RandomCall => ({ method: "POST", path, body });
  const list = <One>(make: () => One): One[] => Array.from({ length: 1 + number(3) }, make);
  const track = () =>
    post("/users/track", {
      attributes: list(attributes),
      events: list(() => ({ ...named(), name: oneOf("a", "b"), time: time() })),
      purchases: list(() => ({
        ...named(),
        product_id: oneOf("p", "q"),
        currency: "EUR",
        price: number(1_000) / 100,
        quantity: 1 + number(3),
        time: time(),
      })),
    });
  const setEmail = () =>
    post("/users/track", { attributes: [{ external_id: id(), email: oneOf(email(), null) }] });
  return oneOf(
    track,
    track,
    track,
    track,
    setEmail,
    () => post("/users/alias/new", { user_aliases: [{ ...alias(), external_id: id() }] }),
    () => post("/users/alias/new", { user_aliases: [alias()] }),
    () =>
      post("/users/identify", {
        aliases_to_identify: [{ external_id: id(), user_alias: alias() }],
        merge_behavior: oneOf("merge", "none"),
      }),
    () =>
      post("/users/merge", {
        merge_updates: [
          { identifier_to_merge: { external_id: id() }, identifier_to_keep: { external_id: id() } },
        ],
      }),
    () => post("/users/delete", { external_ids: [id()] }),
    () =>
      post("/users/external_ids/rename", {
        external_id_renames: [
          { current_external_id: id(), new_external_id: `renamed-${number(users)}` },
        ],
      }),
    () =>
      post("/v2/subscription/status/set", {
        subscription_groups: [
          {
            subscription_group_id: oneOf(NEWSLETTER, ALERTS),
            subscription_state: oneOf("subscribed", "unsubscribed"),
            external_ids: [id(), id()],
          },
        ],
      }),
    () =>
      post("/email/status", {
        email: email(),
        subscription_state: oneOf("subscribed", "unsubscribed"),
      }),
  )();
}
