import { generate, type Load, type LoadResult, type Prepared } from "../load/generate.ts";
import type { RoleMain } from "../processes/child.ts";
import { createRandom } from "../workloads/random.ts";
import { createUserPicker } from "../workloads/users.ts";
import { CONTENDERS, type ContenderName } from "./contenders.ts";
import { updatesOf } from "./updates.ts";

export interface PeerLoadSettings {
  readonly contender: ContenderName;
  readonly users: number;
  readonly updatesPerRequest: number;
  /** How many requests are prepared; they are sent in turn, and again from the first. */
  readonly requests: number;
}

export interface PeerLoadResult extends LoadResult {
  /** How many events the acknowledged requests held. */
  readonly acknowledgedEvents: number;
  /** How many users have had attributes in an acknowledged request, since the load was started. */
  readonly usersChanged: number;
}

const SEED = 1;

/** The load of one contender: the same updates for each, in the contender's own requests. */
export const playPeerLoad: RoleMain<PeerLoadSettings, Load> = async (settings) => {
  const { contender, users, updatesPerRequest } = settings;
  const { requestOf, faults } = CONTENDERS[contender].dialect;
  const random = createRandom(SEED);
  const pick = createUserPicker("uniform", users, random);
  const contents = new Map<
    Prepared,
    { readonly users: readonly number[]; readonly events: number }
  >();
  for (let index = 0; index < settings.requests; index++) {
    const updates = updatesOf(random, pick, updatesPerRequest, index);
    const named = updates.attributes.map(({ user }) => user);
    contents.set(requestOf(updates), { users: named, events: updates.events.length });
  }
  const requests = [...contents.keys()];
  let sent = 0;
  const next = () => requests[sent++ % requests.length] as Prepared;
  const isFaulty = (answer: Buffer) => faults.some((text) => answer.includes(text));
  const changed = new Set<number>();
  let acknowledgedEvents = 0;
  const onWhole = (request: Prepared) => {
    const content = contents.get(request);
    for (const user of content?.users ?? []) changed.add(user);
    acknowledgedEvents += content?.events ?? 0;
  };
  return {
    async call(load): Promise<PeerLoadResult> {
      acknowledgedEvents = 0;
      const result = await generate(load, next, isFaulty, onWhole);
      return { ...result, acknowledgedEvents, usersChanged: changed.size };
    },
  };
};
