import type { RoleMain } from "../processes/child.ts";
import { createRandom } from "../workloads/random.ts";
import { createUserPicker } from "../workloads/users.ts";
import { workloadNamed } from "../workloads/workloads.ts";
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
  const bodies = Array.from({ length: workload.bodies }, (_, index) =>
    Buffer.from(JSON.stringify(workload.body(random, pick, index))),
  );
  const isFaulty = (answer: Buffer) => workload.faults.some((text) => answer.includes(text));
  let next = 0;
  const nextBody = () => bodies[next++ % bodies.length] as Buffer;
  return { call: (load) => generate(load, nextBody, isFaulty) };
};
