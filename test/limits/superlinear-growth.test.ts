/*
 * Looks for work that grows faster than its input. Every endpoint gets its sample request with one place of the
 * body, the path or the query made large, once and twice as large: wide, deep, long, with many entries that differ
 * or that are all the same. The second must not take more than about twice the processor time of the first.
 *
 * The processor time of this process is measured, which is client and server; the client's share grows with the input.
 * Small times are noise, and harmless: only what takes more than FREE_MS is compared.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Contract, pathsOf } from "../../src/core/http/endpoint.ts";
import { ENDPOINTS } from "../../src/server/assembled.ts";
import { startOwnServer } from "../harness.ts";
import { sampleRequests, sampleWorkspace } from "../sample-requests.ts";
import { oneIn, sized } from "../sizes.ts";
import { type Growing, growing, timeOf } from "./growing-requests.ts";

/** How much longer twice the input may take: quadratic work takes four times as long, linear work two. */
const MOST_GROWTH = 3;

const FREE_MS = sized(30, 60);

/** A pair over the limit is measured again: other processes and the garbage collector add to a time, never less. */
const TRIES = 6;

const server = await startOwnServer();
const workspace = await server.workspace(sampleWorkspace());
const samples = await sampleRequests(server, workspace);

/** One of this many places and shapes is measured, different ones in each run. */
const isTried = oneIn(12);

/**
 * @returns the times of a request and of one that is twice as large, the best of a few if they
 * differ much.
 */
async function timesOf(contract: Contract, { request }: Growing): Promise<[number, number]> {
  const [small, large] = [request(1), request(2)];
  let two = await timeOf(server, workspace, contract, large);
  // Fast enough, regardless of the other one.
  if (two <= FREE_MS) return [0, two];
  let one = await timeOf(server, workspace, contract, small);
  for (let tries = 1; tries < TRIES && isOver(one, two); tries++) {
    one = Math.min(one, await timeOf(server, workspace, contract, small));
    two = Math.min(two, await timeOf(server, workspace, contract, large));
  }
  return [one, two];
}

const isOver = (one: number, two: number): boolean => two > FREE_MS && two > MOST_GROWTH * one;

describe("twice the input takes at most about twice the processor time", () => {
  for (const { contract } of ENDPOINTS) {
    const name = `${contract.method} ${pathsOf(contract)[0]}`;
    test(`${name} takes no more than ${MOST_GROWTH} times as long for twice the input`, async () => {
      const sample = (await samples[name]?.()) ?? {};
      for (const each of growing(contract, sample, workspace.name)) {
        if (!isTried()) continue;
        const [one, two] = await timesOf(contract, each);
        const times = `${one.toFixed(0)} ms, then ${two.toFixed(0)} ms`;
        assert.ok(!isOver(one, two), `${each.what}: ${times}`);
      }
    });
  }
});
