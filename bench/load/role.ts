import type { RoleMain } from "../processes/child.ts";
import { createRandom } from "../workloads/random.ts";
import { createUserPicker } from "../workloads/users.ts";
import { workloadNamed } from "../workloads/workloads.ts";
import { generate, type Load, type Prepared } from "./generate.ts";

export interface LoadSettings {
  readonly workload: string;
  readonly users: number;
}

const SEED = 1;

/** Makes the requests of a workload when it starts, and sends them when it is called. */
export const playLoad: RoleMain<LoadSettings, Load> = async ({ workload: name, users }) => {
  const workload = workloadNamed(name);
  const random = createRandom(SEED);
  const pick = createUserPicker(workload.distribution, users, random);
  const requests = Array.from({ length: workload.bodies }, (_, index): Prepared => {
    const path = workload.pathOf?.(random, pick);
    if (path !== undefined) return { method: "GET", path };
    const body = Buffer.from(JSON.stringify(workload.body(random, pick, index)));
    return { method: "POST", body };
  });
  const isFaulty = (answer: Buffer) => workload.faults.some((text) => answer.includes(text));
  let sent = 0;
  const next = () => requests[sent++ % requests.length] as Prepared;
  return { call: (load) => generate(load, next, isFaulty) };
};
