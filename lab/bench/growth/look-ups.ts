import { type Histogram, percentile, record } from "../load/histogram.ts";
import { ADMIN_TOKEN, type ServerProcess } from "../processes/server.ts";
import { createRandom, type Random } from "../workloads/random.ts";
import { externalIdOf } from "../workloads/users.ts";

/*
 * The look-ups of a person who searches users, one request at a time: how long each takes among
 * many users.
 */

export interface LookUp {
  readonly name: string;
  readonly requests: number;
  readonly p50: number;
  readonly p99: number;
}

const REQUESTS = 200;
const WARM_UP = 20;
const WORKSPACE = "/admin/v1/workspaces/bench";

/** Reads the settings of the workspace: the cost of a request that looks nobody up. */
const CONTROL = "control";

export async function measureLookUps(server: ServerProcess, users: number): Promise<LookUp[]> {
  const random = createRandom(2);
  const idOf = async (user: number) => {
    const path = `${WORKSPACE}/users?query=${externalIdOf(user)}&match=exact`;
    const { users: found } = await ask<{ users: { platform_id: string }[] }>(server, path);
    return found[0]?.platform_id as string;
  };
  const ids: string[] = [];
  for (let n = 0; n < REQUESTS; n++) ids.push(await idOf(random.below(users)));
  const search = (text: string) => `${WORKSPACE}/users?query=${encodeURIComponent(text)}`;
  const someUser = () => externalIdOf(random.below(users));
  const paths: Record<string, (n: number) => string> = {
    [CONTROL]: () => WORKSPACE,
    "search, a whole external_id": () => search(someUser()),
    "search, the beginning of many": () => search(someUser().slice(0, 7)),
    "search, the beginning of an address": () => search(`${someUser()}@ex`),
    "search, one letter": () => search(lettersOf(random)),
    "search, nothing found": () => search(`nobody-${random.below(users)}`),
    record: (n) => `${WORKSPACE}/users/${ids[n]}`,
    "timeline, first page": (n) => `${WORKSPACE}/users/${ids[n]}/timeline`,
    "timeline, 5 entries": (n) => `${WORKSPACE}/users/${ids[n]}/timeline?limit=5`,
  };
  const measured: LookUp[] = [];
  for (const [name, pathOf] of Object.entries(paths)) {
    const latencies: Histogram = [];
    for (let n = -WARM_UP; n < REQUESTS; n++) {
      const path = pathOf(Math.max(0, n));
      const startedAt = performance.now();
      await ask(server, path);
      if (n >= 0) record(latencies, performance.now() - startedAt);
    }
    measured.push({
      name,
      requests: REQUESTS,
      p50: percentile(latencies, 0.5),
      p99: percentile(latencies, 0.99),
    });
  }
  return measured;
}

/** A first letter of identifiers, or one that no identifier begins with. */
const lettersOf = (random: Random): string => "uz".charAt(random.below(2));

async function ask<Body>(server: ServerProcess, path: string): Promise<Body> {
  const response = await fetch(server.url + path, {
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as Body;
}
