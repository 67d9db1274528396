import type { RoleMain } from "../processes/child.ts";
import { createRandom } from "../workloads/random.ts";
import { createUserPicker } from "../workloads/users.ts";
import { bodiesOf, workloadNamed } from "../workloads/workloads.ts";
import { generate, type Load, type Prepared } from "./generate.ts";

export interface LoadSettings {
  readonly workload: string;
  readonly users: number;
  /** How many bodies are prepared; undefined for the workload's default. */
  readonly bodies?: number;
}

const SEED = 1;

/** Makes the requests of a workload when it starts, and sends them when it is called. */
export const playLoad: RoleMain<LoadSettings, Load> = async ({ workload: name, users, bodies }) => {
  const workload = workloadNamed(name);
  const random = createRandom(SEED);
  const pick = createUserPicker(workload.distribution, users, random);
  const { method = "POST" } = workload;
  const requests = Array.from(
    { length: bodies ?? bodiesOf(workload, users) },
    (_, index): Prepared => {
      const path = workload.pathOf?.(random, pick) ?? workload.path;
      if (method === "GET") return { method, path, body: null };
      return {
        method,
        path,
        body: Buffer.from(JSON.stringify(workload.body(random, pick, index))),
      };
    },
  );
  const isFaulty = (answer: Buffer) => workload.faults.some((text) => answer.includes(text));
  /** For each receiver, so that a floor does not use up the server's bodies. */
  const sent = new Map<string, number>();
  const nextTo = (url: string) => () => {
    const next = sent.get(url) ?? 0;
    sent.set(url, next + 1);
    return requests[next % requests.length] as Prepared;
  };
  return { call: (load) => generate(load, nextTo(load.url), isFaulty) };
};
