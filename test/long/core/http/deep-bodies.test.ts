/*
 * Bodies that are nested deeper than an engine can read, at every place of the sample request of every endpoint.
 * An engine's parser of JSON ends its process, or never returns, where ours has no trouble.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { keyOf, pathsOf } from "../../../../src/core/http/endpoint.ts";
import { contracts, credentialOf, optionsOf, sampleIn } from "../../../core/http/endpoint-walk.ts";
import { startOwnServer } from "../../../harness.ts";
import { placesIn, withValue } from "../../../places-in-values.ts";
import { pathOf, sampleRequests, sampleWorkspace } from "../../../sample-requests.ts";
import { oneIn } from "../../../sizes.ts";

const server = await startOwnServer();
const own = await server.workspace(sampleWorkspace());
const samples = await sampleRequests(server, own);

/** The text of lists and objects in each other. */
function nested(levels: number): string {
  const half = Math.floor(levels / 2);
  return `${'[{"a":'.repeat(half)}1${"}]".repeat(half)}`;
}

const MARK = "the place of what is nested";

const LEVELS = [102, 3_000, 40_000];

/** One of this many bodies is sent, different ones in each run; in the night all. */
const isTried = oneIn(3);

describe("a body that is nested too deep", () => {
  for (const contract of contracts) {
    if (!contract.body) continue;
    test(`${keyOf(contract)} refuses it at every place, or takes it as data`, async () => {
      const sample = await sampleIn(samples, contract);
      if (sample.body === undefined) return;
      const key = credentialOf(contract, server, own);
      const path = pathOf(pathsOf(contract)[0] ?? "", own.name, sample);
      for (const { place } of placesIn(sample.body)) {
        const text = JSON.stringify(withValue(sample.body, place, MARK));
        for (const levels of LEVELS) {
          if (!isTried()) continue;
          const raw = text.replace(JSON.stringify(MARK), nested(levels));
          const answer = await server.send(contract.method, path, undefined, {
            ...optionsOf(sample),
            key,
            raw,
          });
          assert.ok(answer.status < 500, `${levels} in ${place}: ${JSON.stringify(answer.body)}`);
        }
      }
      const { status } = await server.send("GET", "/health/ready");
      assert.equal(status, 200);
    });
  }
});
