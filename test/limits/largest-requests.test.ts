/*
 * Sends the largest body that every endpoint reads, with one place of its sample request made as large as fits: wide,
 * deep, long, with many entries that differ or that are all the same. Valid or not, none takes more than a second of
 * processor time, of this process, which is client and server.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { budgetsOf } from "../../src/core/base/work.ts";
import { pathsOf } from "../../src/core/http/endpoint.ts";
import { ENDPOINTS } from "../../src/server/assembled.ts";
import { startOwnServer } from "../harness.ts";
import { sampleRequests, sampleWorkspace } from "../sample-requests.ts";
import { oneIn } from "../sizes.ts";
import { growing, timeOf } from "./growing-requests.ts";

const MOST_MS = 1_000;

/** Bodies of more values are refused before they are read. */
const MOST_VALUES_SHARE = 0.95;

/** Members without a value are in no body, so that no number of them makes it large. */
const MOST_FACTOR = 200;

/** One of this many places and shapes is measured, different ones in each run. */
const isTried = oneIn(40);

const server = await startOwnServer();
const workspace = await server.workspace(sampleWorkspace());
const samples = await sampleRequests(server, workspace);

const valuesIn = (text: string): number => text.split(/[,[{:]/).length;

describe("the largest body", () => {
  for (const { contract } of ENDPOINTS) {
    const name = `${contract.method} ${pathsOf(contract)[0]}`;
    test(`${name} takes at most a second of processor time for the largest body`, async (t) => {
      const sample = (await samples[name]?.()) ?? {};
      const most = Math.min(budgetsOf(contract).bytesIn, 4_194_304) - 1_000;
      for (const { what, request } of growing(contract, sample, workspace.name)) {
        if (!isTried()) continue;
        const { raw } = request(1);
        if (raw === undefined) continue;
        const isText = typeof sample.raw === "string";
        const factor = Math.min(
          MOST_FACTOR,
          most / raw.length,
          isText
            ? Number.POSITIVE_INFINITY
            : (MOST_VALUES_SHARE * budgetsOf(contract).valuesIn) / valuesIn(raw),
        );
        const large = request(factor);
        let took = await timeOf(server, workspace, contract, large);
        if (took > MOST_MS) took = await timeOf(server, workspace, contract, large);
        if (took > MOST_MS / 3) t.diagnostic(`${what}: ${Math.round(took)} ms`);
        assert.ok(took <= MOST_MS, `${what}: ${Math.round(took)} ms`);
      }
    });
  }
});
