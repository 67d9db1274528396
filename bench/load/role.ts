import type { RoleMain } from "../processes/child.ts";
import { createRandom } from "../workloads/random.ts";
import { createUserPicker } from "../workloads/users.ts";
import { bodiesOf, workloadNamed } from "../workloads/workloads.ts";
import { generate, type Load } from "./generate.ts";

export interface LoadSettings {
  readonly workload: string;
  readonly users: number;
}

const SEED = 1;

/** Makes the bodies of a workload when it starts, and sends them when it is called. */
export const playLoad: RoleMain<LoadSettings, Load> = async ({ workload: name, users }) => {
  const workload = workloadNamed(name);
  const random = createRandom(SEED);
  const pick = createUserPicker(workload.distribution, users, random);
  const bodies = Array.from({ length: bodiesOf(workload, users) }, (_, index) =>
    Buffer.from(JSON.stringify(workload.body(random, pick, index))),
  );
  const isFaulty = (answer: Buffer) => workload.faults.some((text) => answer.includes(text));
  /** Of each receiver, so that a floor does not use up what the server is to get. */
  const sent = new Map<string, number>();
  const nextBody = (url: string) => () => {
    const next = sent.get(url) ?? 0;
    sent.set(url, next + 1);
    return bodies[next % bodies.length] as Buffer;
  };
  return { call: (load) => generate(load, nextBody(load.url), isFaulty) };
};
