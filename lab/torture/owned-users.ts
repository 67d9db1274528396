/* Writers with their own users, one request after the other: the model therefore knows every value exactly. */
import assert from "node:assert/strict";
import { randomFrom } from "../../test/core/people/identity/identity-chaos-operations.ts";
import { NEWSLETTER } from "../../test/harness.ts";
import type { Load, Scene } from "./scene.ts";

const WRITERS = 4;

const STATES = ["subscribed", "unsubscribed"] as const;

/** The expected state of a user. */
interface Model {
  readonly id: string;
  readonly email: string;
  /** Undefined: there is no such user. */
  count: number | undefined;
  group: string | undefined;
  emailState: string;
  hasState: boolean;
  /** Changes of the email state in the history. */
  changes: number;
  writes: number;
}

export function ownedUsers(scene: Scene): Load {
  const models = Array.from({ length: WRITERS }, (_, writer) => newModel(`owned-${writer}`));

  async function write(model: Model, writer: number): Promise<void> {
    const random = randomFrom(scene.seed * 1_000 + 500 + writer);
    while (scene.goesOn()) {
      const dice = random.below(10);
      if (model.count === undefined || dice < 5) await track(scene, model);
      else if (dice < 7) await setGroup(scene, model, random.pick(STATES));
      else if (dice < 9) await setEmail(scene, model, random.pick(STATES));
      else await remove(scene, model);
      model.writes++;
    }
  }

  return {
    run: async () => void (await Promise.all(models.map(write))),
    check: async () => void (await Promise.all(models.map((model) => check(scene, model)))),
    items: () => models.reduce((sum, { writes }) => sum + writes, 0),
  };
}

const newModel = (id: string): Model => ({
  id,
  email: `${id}@example.com`,
  count: undefined,
  group: undefined,
  emailState: "subscribed",
  hasState: false,
  changes: 0,
  writes: 0,
});

async function track(scene: Scene, model: Model): Promise<void> {
  const { id, email } = model;
  const time = new Date().toISOString();
  const { status, body } = await scene.call("/users/track", {
    attributes: [{ external_id: id, email, n: { inc: 1 } }],
    events: [{ external_id: id, name: "tick", time }],
    purchases: [{ external_id: id, product_id: "p", currency: "EUR", price: 0.1, time }],
  });
  assert.equal(status, 201, JSON.stringify(body));
  model.count = (model.count ?? 0) + 1;
}

async function setGroup(scene: Scene, model: Model, state: string): Promise<void> {
  const group = { subscription_group_id: NEWSLETTER, subscription_state: state };
  const subscription_groups = [{ ...group, external_ids: [model.id] }];
  const { status, body } = await scene.call("/v2/subscription/status/set", { subscription_groups });
  assert.equal(status, 201, JSON.stringify(body));
  model.group = state;
}

/** The state belongs to the address and outlives the user; its history does not. */
async function setEmail(scene: Scene, model: Model, state: string): Promise<void> {
  const { email } = model;
  const { status, body } = await scene.call("/email/status", { email, subscription_state: state });
  assert.equal(status, 201, JSON.stringify(body));
  // The first explicit state of an address is a change, even if it is the default.
  if (model.emailState !== state || !model.hasState) model.changes++;
  model.emailState = state;
  model.hasState = true;
}

async function remove(scene: Scene, model: Model): Promise<void> {
  const { status, body } = await scene.call("/users/delete", { external_ids: [model.id] });
  assert.equal(status, 201, JSON.stringify(body));
  model.count = undefined;
  model.group = undefined;
  model.changes = 0;
}

async function check(scene: Scene, model: Model): Promise<void> {
  const { id, email } = model;
  const [found] = await scene.profiles({ external_ids: [id] });
  const stored = found && {
    n: found.custom_attributes.n,
    ticks: found.custom_events[0]?.count,
    purchases: found.purchases[0]?.count,
    email: found.email_subscribe,
  };
  const { count } = model;
  const expected = count && { n: count, ticks: count, purchases: count, email: model.emailState };
  assert.deepEqual(stored, expected, `${scene.name}: ${id}`);
  if (model.group !== undefined) {
    const path = "/subscription/status/get";
    const query = `subscription_group_id=${NEWSLETTER}&external_id=${id}`;
    const { body } = await scene.read(`${path}?${query}`);
    assert.equal(body.status[id].toLowerCase(), model.group, `${scene.name}: group of ${id}`);
  }
  const history = await scene.client.admin(
    "GET",
    `/admin/v1/workspaces/${scene.name}/subscription-history?email=${email}&limit=500`,
  );
  const changes = history.body.changes.filter((each: any) => !each.subscription_group_id);
  assert.equal(changes.length, Math.min(model.changes, 500), `${scene.name}: history of ${email}`);
}
