/* Exact counts against `kill -9`: the server that starts next, or another one, finishes all that wait. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { testConfig } from "../../harness.ts";
import { sized } from "../../sizes.ts";
import { temporaryFolder } from "../../stored-rows.ts";
import { type ChildServer, post, startChild } from "../../system/child-server.ts";

const TOKEN = "admin-token-of-the-count-crash-test";
const USERS = sized(1_000, 4_000);
const COUNTS = sized(6, 12);

test("exact counts of a killed server are finished by the next one, each with the right number", async () => {
  const { databaseUrl } = await testConfig();
  const environment = {
    DATA_DIR: await temporaryFolder(),
    ADMIN_TOKEN: TOKEN,
    JOB_LEASE_SECONDS: "1",
    ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
  };
  const server = await startChild(environment);
  for (let first = 0; first < USERS; first += 50) {
    const attributes = Array.from({ length: 50 }, (_, index) => ({
      external_id: `u${first + index}`,
      score: (first + index) % COUNTS,
    }));
    assert.equal((await post(`${server.url}/users/track`, server.key, { attributes })).status, 201);
  }
  const counts: { readonly id: string; readonly expected: number }[] = [];
  for (let score = 0; score < COUNTS; score++) {
    const filter = { custom_attribute: "score", at_least: score };
    const body = { filter, exact: true, wait_s: 0 };
    const answer = await post(pathOf(server, "count"), TOKEN, body);
    assert.equal(answer.status, 202);
    const expected = Array.from({ length: USERS }).filter((_, user) => user % COUNTS >= score);
    counts.push({ id: answer.body.count_id, expected: expected.length });
  }
  await server.end("SIGKILL");
  const next = await startChild(environment);
  for (const { id, expected } of counts) {
    const { status, counted, matching } = await whenEnded(next, id);
    assert.deepEqual([status, counted, matching], ["finished", USERS, expected]);
  }
  await next.end("SIGTERM");
});

const pathOf = ({ url }: ChildServer, what: string) =>
  `${url}/admin/v1/workspaces/demo/segments/${what}`;

async function whenEnded(server: ChildServer, id: string) {
  for (;;) {
    const response = await fetch(pathOf(server, `counts/${id}`), {
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    const count = (await response.json()) as any;
    if (count.status !== "running") return count;
    await sleep(50);
  }
}
