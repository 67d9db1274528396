/*
 * A request with an Idempotency-Key is applied as a whole or not at all; repeated, it gets its
 * first response again and changes nothing. crash.test.ts has the effects of a killed server.
 */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, test } from "node:test";
import { systemClock } from "../../../src/core/base/clock.ts";
import type { Database } from "../../../src/core/database/database.ts";
import { createIdempotency } from "../../../src/core/http/idempotency.ts";
import { lastingDatabase } from "../../databases.ts";
import {
  type Answer,
  ENGINE,
  startOwnServer,
  startServer,
  type TestServer,
  type TestWorkspace,
} from "../../harness.ts";
import { until } from "../../until.ts";

const server = await startServer();

const EVENT = { external_id: "ada", name: "opened", time: "2026-01-01T12:00:00Z" };
const BODY = { attributes: [{ external_id: "ada", n: { inc: 1 } }], events: [EVENT] };

const withKey = (key: string) => ({ headers: { "idempotency-key": key } });

/** How often BODY was applied. */
async function timesApplied(workspace: TestWorkspace): Promise<number> {
  const [ada] = await workspace.profiles({ external_ids: ["ada"] });
  if (!ada) return 0;
  assert.equal(ada.custom_attributes.n, ada.custom_events[0].count);
  return ada.custom_attributes.n;
}

const isReplayed = (answer: Answer<unknown>): boolean =>
  answer.headers.get("idempotency-replayed") === "true";

describe("a request repeated with its Idempotency-Key", () => {
  test("a request repeated with its Idempotency-Key is applied once and gets the first response again", async () => {
    const workspace = await server.workspace();
    const key = randomUUID();
    const first = await workspace.track(BODY, withKey(key));
    assert.deepEqual([first.status, isReplayed(first)], [201, false]);
    for (let round = 0; round < 3; round++) {
      const again = await workspace.track(BODY, withKey(key));
      assert.deepEqual([again.status, again.body, isReplayed(again)], [201, first.body, true]);
    }
    assert.equal(await timesApplied(workspace), 1);
  });

  test("a response replayed for an Idempotency-Key includes its errors and skipped objects", async () => {
    const workspace = await server.workspace();
    const body = {
      ...BODY,
      purchases: [{}],
      events: [EVENT, { ...EVENT, external_id: "eve", _update_existing_only: true }],
    };
    const first = await workspace.track(body, withKey("partly"));
    assert.deepEqual([first.body.errors?.length, first.body.skipped?.length], [1, 1]);
    const again = await workspace.track(body, withKey("partly"));
    assert.deepEqual([again.status, again.body, isReplayed(again)], [201, first.body, true]);
  });

  test("a request repeated without an Idempotency-Key is applied each time", async () => {
    const workspace = await server.workspace();
    for (let round = 0; round < 3; round++) await workspace.track(BODY);
    assert.equal(await timesApplied(workspace), 3);
  });

  test("the same Idempotency-Key identifies separate requests in separate workspaces", async () => {
    for (const workspace of [await server.workspace(), await server.workspace()]) {
      const answer = await workspace.track(BODY, withKey("of-both"));
      assert.deepEqual([answer.status, isReplayed(answer)], [201, false]);
      assert.equal(await timesApplied(workspace), 1);
    }
  });

  const refusals: Record<string, unknown> = {
    "every object is bad": { events: [{}] },
    "every object is bad once it is applied": {
      attributes: [{ external_id: "x", a: { inc: "" } }],
    },
    "there are too many objects": { events: Array(51).fill(EVENT) },
    "there are no objects": {},
    "a field has the wrong type": { events: "none" },
    "the body is no object": [],
  };
  for (const [why, body] of Object.entries(refusals)) {
    test(`a refusal is replayed for its Idempotency-Key if ${why}`, async () => {
      const workspace = await server.workspace();
      const first = await workspace.track(body, withKey("refused"));
      assert.deepEqual([first.status, isReplayed(first)], [400, false]);
      const again = await workspace.track(body, withKey("refused"));
      assert.deepEqual([again.status, again.body, isReplayed(again)], [400, first.body, true]);
      assert.equal((await workspace.track(BODY, withKey("refused"))).status, 422);
    });
  }

  test("a read request with an Idempotency-Key always returns current data", async () => {
    const workspace = await server.workspace();
    for (let count = 1; count <= 2; count++) {
      await workspace.track(BODY);
      const wanted = { external_ids: ["ada"] };
      const answer = await workspace.call<any>("POST", "/users/export/ids", wanted, withKey("k"));
      assert.deepEqual([answer.status, isReplayed(answer)], [201, false]);
      assert.equal(answer.body.users[0].custom_events[0].count, count);
    }
  });
});

describe("a used Idempotency-Key", () => {
  test("an Idempotency-Key reused with a different request is refused with 422 and changes nothing", async () => {
    const workspace = await server.workspace();
    await workspace.track(BODY, withKey("used"));
    const others = [
      await workspace.track({ ...BODY, partner: "x" }, withKey("used")),
      await workspace.track({ events: [EVENT] }, withKey("used")),
      await workspace.call("POST", "/users/track?x=1", BODY, withKey("used")),
    ];
    for (const answer of others) {
      assert.equal(answer.status, 422);
      assert.match(String(answer.body.message), /Idempotency-Key was used with another request/);
    }
    assert.equal(await timesApplied(workspace), 1);
  });

  test("an Idempotency-Key of a running request is refused with 409 and later replays its response", async () => {
    const workspace = await server.workspace();
    let refused = 0;
    let rounds = 0;
    // The first of sixteen nearly always still runs when the second arrives.
    while (refused === 0 && rounds < 50) {
      const key = `running-${++rounds}`;
      const answers = await Promise.all(
        Array.from({ length: 16 }, () => workspace.track(BODY, withKey(key))),
      );
      const conflicts = answers.filter((answer) => answer.status === 409);
      refused += conflicts.length;
      for (const { body } of conflicts) assert.match(body.message, /is still running/);
      const taken = answers.filter((answer) => answer.status === 201);
      assert.equal(taken.length + conflicts.length, 16);
      assert.equal(taken.filter((answer) => !isReplayed(answer)).length, 1);
      assert.equal(isReplayed(await workspace.track(BODY, withKey(key))), true);
    }
    assert.ok(refused > 0);
    assert.equal(await timesApplied(workspace), rounds);
  });

  test("an Idempotency-Key can be reused after its request was refused with 401 or 429", async () => {
    const workspace = await server.workspace({
      settings: { rate_limits: { "users.track": { requests: 1, per_seconds: 1 } } },
    });
    const unknown = await workspace.track(BODY, { ...withKey("free"), key: "wrong-key" });
    assert.equal(unknown.status, 401);
    await workspace.track(BODY, withKey("takes the one request of this second"));
    const answer = await until(async () => {
      const tried = await workspace.track(BODY, withKey("free"));
      return tried.status !== 429 && tried;
    });
    assert.deepEqual([answer.status, isReplayed(answer)], [201, false]);
  });

  for (const key of ["", "x".repeat(256)]) {
    test(`an Idempotency-Key has 1 to 255 characters; one with ${key.length} is refused`, async () => {
      const workspace = await server.workspace();
      const answer = await workspace.track(BODY, withKey(key));
      assert.equal(answer.status, 400);
      assert.match(answer.body.message, /Idempotency-Key/);
      assert.equal((await workspace.track(BODY, withKey("x".repeat(255)))).status, 201);
    });
  }
});

describe("the retention of Idempotency-Keys", () => {
  /** Lets time pass for the one answer that a server has recorded. */
  async function age(database: Database, minutes: number): Promise<void> {
    const [row] = await database.query<{ at: Date }>(
      "select created_at as at from idempotency_keys",
    );
    const earlier = new Date((row?.at.getTime() ?? 0) - minutes * 60_000);
    await database.query("update idempotency_keys set created_at = $1", [earlier]);
  }

  test("an Idempotency-Key is kept for 24 hours across restarts; then it can be reused and is swept", async () => {
    const lasting = await lastingDatabase();
    const { database } = lasting;
    let running = await startOwnServer({}, undefined, lasting);
    const workspace = await running.workspace();
    const repeat = () =>
      running.send("POST", "/users/track", BODY, { key: workspace.key, ...withKey("old") });
    const restartAfter = async (minutes: number) => {
      await running.stop();
      await age(database, minutes);
      running = await startOwnServer({}, undefined, lasting);
    };
    await repeat();
    await restartAfter(24 * 60 - 1);
    assert.equal(isReplayed(await repeat()), true);
    await restartAfter(2);
    const fresh = await repeat();
    assert.deepEqual([fresh.status, isReplayed(fresh)], [201, false]);
    assert.equal(isReplayed(await repeat()), true);

    await running.stop();
    const rows = () => database.query("select 1 from idempotency_keys");
    const sweepAt = (time: number) =>
      createIdempotency({
        database,
        clock: { ...systemClock, now: () => new Date(time) },
      }).sweep();
    await sweepAt(Date.now());
    assert.equal((await rows()).length, 1);
    await sweepAt(Date.now() + 24 * 3_600 * 1_000 + 1);
    assert.equal((await rows()).length, 0);
  });
});

describe("two servers on one database", { skip: ENGINE !== "postgres" }, () => {
  test("two servers on one database apply a request with an Idempotency-Key only once", async () => {
    const other = await startOwnServer({ databaseUrl: server.config.databaseUrl });
    const workspace = await server.workspace();
    const ROUNDS = 20;
    for (let round = 0; round < ROUNDS; round++) {
      const key = randomUUID();
      const answers = await Promise.all(
        [server, other, server, other].map((each) =>
          each.send("POST", "/users/track", BODY, { key: workspace.key, ...withKey(key) }),
        ),
      );
      for (const { status, body } of answers.filter((answer) => answer.status !== 409)) {
        assert.deepEqual([status, body.events_processed, body.attributes_processed], [201, 1, 1]);
      }
      const fresh = answers.filter((answer) => answer.status === 201 && !isReplayed(answer));
      assert.equal(fresh.length, 1);
    }
    assert.equal(await timesApplied(workspace), ROUNDS);
  });

  test("an Idempotency-Key taken by another server does not affect the other requests of a batch", async () => {
    const other = await startOwnServer({ databaseUrl: server.config.databaseUrl });
    const workspace = await server.workspace();
    const keys = Array.from({ length: 8 }, () => randomUUID());
    const send = (to: TestServer, options: object) =>
      to.send("POST", "/users/track", BODY, { key: workspace.key, ...options });
    const answers = await Promise.all(
      [server, other].flatMap((to) => [
        ...keys.map((key) => send(to, withKey(key))),
        ...keys.map(() => send(to, {})),
      ]),
    );
    assert.ok(answers.every((answer) => answer.status === 201));
    assert.equal(await timesApplied(workspace), keys.length + 2 * keys.length);
  });
});
