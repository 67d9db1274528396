/*
 * Clients that ask for large responses and read nothing of them: exports, previews of merges, lists
 * of users, and streams. The memory that the server holds for them is bounded, and others are
 * served meanwhile. A stream ends for a client that does not read it: after 30 seconds, and one
 * more for each 64 kB that it was given (docs/decisions/overload.md), of which the operating
 * systems of both sides buffer about 4 MB. That takes so long that only TEST_THOROUGH=1 waits for
 * it.
 */
import assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { startAttackedServer, VICTIM_KEY } from "../../lab/attack/attacked-server.ts";
import { fillLarge } from "../../lab/attack/attacks/people.ts";
import { largeRequests } from "../../lab/attack/attacks/readers.ts";
import { targetOf } from "../../lab/attack/target.ts";
import { freshDatabase } from "../core/database/fresh-database.ts";
import { ENGINE } from "../harness.ts";
import { sized } from "../sizes.ts";

const CLIENTS = 16;

/**
 * The pool of responses has at least 128 MB, and one caller gets three quarters of it. The rest is
 * garbage: 40 to 90 MB, on Node 24 up to 190.
 */
const MOST_GROWTH_MB = 350;

const HELD_MS = sized(5_000, 120_000);

/** How many requests of others are served at least meanwhile, and how long they may take together: beside other work, all take longer. */
const SERVED = HELD_MS / 1_000 + 1;
const SERVED_MS = 60_000;

/** How long a client takes to find that it was disconnected, once it reads. */
const NOTICED_MS = 5_000;

/** What holds memory is the same on both engines, so that one run of each change is enough. */
const skip = sized(ENGINE === "embedded", false) && "for each change it runs on PostgreSQL";

const EVENT = { events: [{ external_id: "ada", name: "came", time: "2026-01-01T00:00:00Z" }] };

test(`${CLIENTS} clients that read nothing take a bounded amount of memory, others are served, and a stream that nobody reads ends`, {
  skip,
}, async () => {
  let stop = async (): Promise<unknown> => undefined;
  after(() => stop());
  const server = await startAttackedServer(await freshDatabase(), { WEB_CONCURRENCY: "1" });
  stop = server.stop;
  const target = targetOf(server);
  await fillLarge(target);
  const requests = largeRequests(target);
  const before = server.memory();
  let most = before;
  const sockets: Socket[] = [];
  for (let client = 0; client < CLIENTS; client++) {
    const socket = connect(target.port, target.host)
      .on("error", () => {})
      .pause();
    socket.write(requests[client % requests.length] ?? "");
    sockets.push(socket);
  }
  const startedAt = performance.now();
  const heldMs = () => performance.now() - startedAt;
  let served = 0;
  while (heldMs() < HELD_MS || served < SERVED) {
    most = Math.max(most, server.memory());
    const options = { token: VICTIM_KEY };
    const { status, text } = await target.send("POST", "/users/track", EVENT, options);
    assert.equal(status, 201, text);
    served += 1;
    assert.ok(heldMs() < HELD_MS + SERVED_MS, `${served} requests of others were served.`);
    await sleep(100);
  }
  assert.ok(most - before < MOST_GROWTH_MB, `${before} MB, then ${most} MB`);
  const ends = await Promise.all(sockets.map(restOf));
  const streams = ends.filter((_, client) => client % requests.length === STREAM);
  const begun = streams.filter(({ text }) => text.startsWith("HTTP/1.1 200"));
  assert.ok(begun.length > 0);
  if (HELD_MS > 60_000) assert.ok(begun.every(({ isWhole }) => !isWhole));
});

/** Which of the requests asks for a stream. */
const STREAM = 3;

/**
 * The data that a client gets when it finally reads: until then a paused socket does not notice
 * that it was disconnected.
 */
async function restOf(socket: Socket): Promise<{ text: string; isWhole: boolean }> {
  let text = "";
  let isWhole = false;
  socket.on("data", (data) => {
    if (text.length < 1_000) text += data.toString("latin1");
    isWhole ||= data.includes('{"export":{"complete":true');
  });
  socket.resume();
  await sleep(NOTICED_MS);
  socket.destroy();
  return { text, isWhole };
}
