/*
 * Promise 1 of the design against `kill -9`: an acknowledged write is there after the next start,
 * once; a write in flight is there as a whole or not at all, and a retry with its Idempotency-Key
 * completes it.
 */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, test } from "node:test";
import { testConfig } from "../harness.ts";
import { sized } from "../sizes.ts";
import { temporaryFolder } from "../stored-rows.ts";
import {
  type ChildServer,
  type Environment,
  post,
  startAndKill,
  startChild,
} from "./child-server.ts";

const WRITERS = 16;
const ROUNDS = sized(1, 4);
const TIME = "2026-01-01T12:00:00Z";

/** A data folder, and a database if the suite runs on PostgreSQL. */
async function place(): Promise<Environment> {
  const { databaseUrl } = await testConfig();
  return {
    DATA_DIR: await temporaryFolder(),
    ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
  };
}

/** One request: an event of its own, and one more on a counter and on a sum of money. */
interface Write {
  readonly user: string;
  readonly mark: string;
  readonly key: string;
}

const bodyOf = ({ user, mark }: Write) => ({
  attributes: [{ external_id: user, n: { inc: 1 }, marks: { add: [mark] } }],
  events: [{ external_id: user, name: mark, time: TIME }],
  purchases: [{ external_id: user, product_id: "p", currency: "EUR", price: 0.1, time: TIME }],
});

const send = (server: ChildServer, write: Write) =>
  post(`${server.url}/users/track`, server.key, bodyOf(write), { "idempotency-key": write.key });

/**
 * Writes one request after the other until the server has ended. @param onWritten called for each
 * that is acknowledged.
 */
async function writeUntilKilled(server: ChildServer, user: string, onWritten: () => void) {
  const acknowledged: Write[] = [];
  for (let number = 0; ; number++) {
    const write = { user, mark: `${user}-${number}`, key: randomUUID() };
    try {
      const answer = await send(server, write);
      assert.equal(answer.status, 201, JSON.stringify(answer.body));
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error;
      return { acknowledged, inFlight: write };
    }
    acknowledged.push(write);
    onWritten();
  }
}

async function profilesOf(server: ChildServer, external_ids: readonly string[]) {
  const answer = await post(`${server.url}/users/export/ids`, server.key, { external_ids });
  return new Map<string, any>(answer.body.users.map((user: any) => [user.external_id, user]));
}

/** Every part of each write is there exactly once, and nothing else is. */
function assertWritten(profile: any, writes: readonly Write[]): void {
  const marks = writes.map((write) => write.mark).sort();
  assert.deepEqual([...(profile?.custom_attributes.marks ?? [])].sort(), marks);
  const events = profile?.custom_events ?? [];
  assert.deepEqual(events.map((event: any) => event.name).sort(), marks);
  assert.ok(events.every((event: any) => event.count === 1));
  assert.equal(profile?.custom_attributes.n ?? 0, marks.length);
  assert.equal(profile?.purchases[0]?.count ?? 0, marks.length);
  assert.equal(profile?.total_revenue ?? 0, marks.length / 10);
}

describe("a server that is killed during concurrent writes", () => {
  test("after a crash, every acknowledged write is present exactly once, and retries complete those in flight", async () => {
    const environment = await place();
    let server = await startChild(environment);
    const { key } = server;
    let acknowledged = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const users = Array.from({ length: WRITERS }, (_, writer) => `r${round}-w${writer}`);
      let writing: Promise<Awaited<ReturnType<typeof writeUntilKilled>>[]> | undefined;
      await new Promise<void>((begun) => {
        writing = Promise.all(users.map((user) => writeUntilKilled(server, user, begun)));
      });
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 250));
      await server.end("SIGKILL");
      const written = (await writing) ?? [];

      server = await startChild(environment);
      assert.equal(server.key, key);
      const found = await profilesOf(server, users);
      for (const [index, { acknowledged: acks, inFlight }] of written.entries()) {
        const profile = found.get(users[index] ?? "");
        const isThere = profile?.custom_attributes.marks.includes(inFlight.mark) ?? false;
        assertWritten(profile, isThere ? [...acks, inFlight] : acks);
        acknowledged += acks.length;
      }

      const retries = await Promise.all(written.map(({ inFlight }) => send(server, inFlight)));
      assert.ok(retries.every((answer) => answer.status === 201));
      const completed = await profilesOf(server, users);
      for (const [index, { acknowledged: acks, inFlight }] of written.entries()) {
        assertWritten(completed.get(users[index] ?? ""), [...acks, inFlight]);
      }
    }
    assert.ok(acknowledged > 0);
    await server.end("SIGTERM");
  });
});

describe("a server that is killed during startup", () => {
  test("a server that is killed during its first starts can start normally afterwards", async () => {
    const environment = await place();
    for (const afterMs of [150, 400, 700]) await startAndKill(environment, afterMs);
    const server = await startChild(environment);
    assert.equal((await send(server, { user: "ada", mark: "m", key: randomUUID() })).status, 201);
    assert.equal((await server.end("SIGTERM")).code, 0);
  });
});
