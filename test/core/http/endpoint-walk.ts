/*
 * A walk over every endpoint on a server of its own. Beside the workspace `own`, to which the requests of a walk go, it has
 * `other`: filled with what the samples make and name, which must neither be seen nor changed.
 */
import assert from "node:assert/strict";
import { type Contract, keyOf, pathsOf } from "../../../src/core/http/endpoint.ts";
import { ENDPOINTS } from "../../../src/server/assembled.ts";
import { documentationEndpoints } from "../../../src/server/reference/documentation.ts";
import { lastingDatabase } from "../../databases.ts";
import {
  type Answer,
  type CallOptions,
  startOwnServer,
  type TestServer,
  type TestWorkspace,
} from "../../harness.ts";
import {
  pathOf,
  type Sample,
  type Samples,
  SCIM_TOKEN,
  sampleRequests,
  sampleWorkspace,
} from "../../sample-requests.ts";
import { MARK, markPeople, rowsAfterStopOf } from "./another-workspace.ts";

export const contracts: readonly Contract[] = [...ENDPOINTS, ...documentationEndpoints()].map(
  ({ contract }) => contract,
);

export interface Walk {
  readonly server: TestServer;
  readonly own: TestWorkspace;
  /** The requests that work in `own`. */
  readonly samples: Samples;
  /** A platform_id of the other workspace. */
  readonly foreignId: string;
  /** Fails if a response shows anything of the other workspace. */
  assertShowsNothing(endpoint: string, answer: Answer<unknown>): void;
  /** Fails unless a response of every endpoint was searched. */
  assertAllSearched(): void;
  /** Stops the server, and fails if a row of the other workspace is not as it was before the walk. */
  assertNothingChanged(): Promise<void>;
}

export const sampleIn = async (samples: Samples, contract: Contract): Promise<Sample> =>
  (await samples[keyOf(contract)]?.()) ?? {};

export const optionsOf = ({ raw, headers }: Sample): CallOptions => ({
  ...(raw !== undefined && { raw }),
  ...(headers && { headers }),
});

/** The credentials with which an endpoint is called in a workspace. */
export const credentialOf = (
  { access }: Contract,
  server: TestServer,
  { key }: TestWorkspace,
): string | null =>
  ({ key, scim: SCIM_TOKEN, administrator: server.adminToken, session: null, anybody: null })[
    access.by
  ];

/** Sends every sample in the other workspace, and marks all users whom one names. */
async function fill(server: TestServer, other: TestWorkspace): Promise<void> {
  const samples = await sampleRequests(server, other);
  const sent: Sample[] = [];
  for (const contract of contracts) {
    const key = credentialOf(contract, server, other);
    for (const declaredPath of pathsOf(contract)) {
      const sample = await sampleIn(samples, contract);
      const path = pathOf(declaredPath, other.name, sample);
      await server.send(contract.method, path, sample.body, { ...optionsOf(sample), key });
      sent.push(sample);
    }
  }
  await markPeople(other, sent);
}

/** Starts a walk; `declared` is laid over what the workspace `own` has. */
export async function startWalk(declared: Record<string, unknown> = {}): Promise<Walk> {
  const lasting = await lastingDatabase();
  const first = await startOwnServer({}, undefined, lasting);
  const other = await first.workspace(sampleWorkspace());
  const own = await first.workspace({ ...sampleWorkspace(), ...declared });
  await fill(first, other);
  const [marked] = await other.profiles({ external_ids: ["ada"] });
  const before = await rowsAfterStopOf(first, lasting, other);
  assert.ok(Object.values(before).flat().length > 5, "there is something to change");
  assert.ok(JSON.stringify(before).includes(MARK), "and something to see");

  const server = await startOwnServer(first.config, undefined, lasting);
  const searched = new Set<string>();
  return {
    server,
    own,
    samples: await sampleRequests(server, own),
    foreignId: marked?.platform_id ?? marked?.braze_id,
    assertShowsNothing(endpoint, { body, headers }) {
      searched.add(endpoint);
      const shown = JSON.stringify([body, [...headers]]);
      assert.ok(!shown.includes(MARK), `${endpoint} shows another workspace: ${shown}`);
      // An administrator sees every workspace.
      if (!/\/(admin|dashboard)\//.test(endpoint)) assert.ok(!shown.includes(other.name), endpoint);
    },
    assertAllSearched() {
      const missing = contracts.map(keyOf).filter((name) => !searched.has(name));
      assert.deepEqual(missing, []);
    },
    async assertNothingChanged() {
      assert.deepEqual(await rowsAfterStopOf(server, lasting, other), before);
    },
  };
}
