/*
 * Which jobs run at the same time, and which end because they fail by their own fault.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { JobKind, PlaceKind } from "../../../../../src/core/admin/jobs/job.ts";
import { enqueue } from "../../../../../src/core/admin/jobs/queue.ts";
import { type Clock, systemClock } from "../../../../../src/core/base/clock.ts";
import { openRig } from "../../../../core/admin/jobs/jobs-rig.ts";
import { until } from "../../../../until.ts";

const { add, database, finish, newKind, start } = await openRig();

describe("places for jobs", () => {
  /** Jobs that run until the test ends, and a look at which have begun. */
  function heldJobs(takes: PlaceKind) {
    const name = newKind();
    const begun: number[] = [];
    const kind: JobKind<object> = {
      name,
      takes,
      async run(_services, job) {
        begun.push(job.workspaceId);
        await new Promise((_resolve, reject) => {
          job.signal.addEventListener("abort", () => reject(new Error("stopped")));
        });
      },
    };
    const addOf = (workspaceId: number, count: number) =>
      database.transaction(async (tx) => {
        for (let subject = 0; subject < count; subject++) {
          await enqueue(tx, systemClock, { workspaceId, kind: name, subject: `${subject}` });
        }
      });
    return { kind, begun, addOf };
  }

  for (const takes of ["work", "transfer", "wait"] as const) {
    test(`two workspaces with any number of jobs leave a third a place to ${takes}`, async () => {
      const held = heldJobs(takes);
      let looks = 0;
      const look: JobKind<object> = {
        name: newKind(),
        takes: takes === "wait" ? "work" : "wait",
        async run(_services, job) {
          await finish(job);
          looks++;
        },
      };
      const worker = await start([held.kind, look]);
      for (const [workspaceId, count] of [
        [1, 60],
        [2, 60],
        [3, 1],
      ] as const) {
        await held.addOf(workspaceId, count);
        // Due jobs start together, so all of these for which there is a place have started with this one.
        const before = looks;
        await add(look.name);
        worker.wake();
        await until(() => looks > before);
        assert.ok(held.begun.includes(workspaceId), `${workspaceId}`);
      }
    });
  }

  test("jobs that wait for hosts take no place from those that work on the database", async () => {
    const [waiting, working] = [heldJobs("wait"), heldJobs("work")];
    for (let workspaceId = 1; workspaceId <= 10; workspaceId++)
      await waiting.addOf(workspaceId, 40);
    const worker = await start([waiting.kind, working.kind]);
    worker.wake();
    await until(() => waiting.begun.length === 30);
    await working.addOf(11, 1);
    worker.wake();
    await until(() => working.begun.length === 1);
  });
});

describe("a job that fails by its own fault", () => {
  /** Runs a kind until it has ended; each pause passes at once. */
  async function runOut(kind: JobKind<object>, isOver: () => boolean): Promise<void> {
    let aheadMs = 0;
    const clock: Clock = { ...systemClock, now: () => new Date(Date.now() + aheadMs) };
    await add(kind.name, "s", clock);
    const worker = await start(kind, clock);
    await until(async () => {
      aheadMs += 60_000;
      worker.wake();
      return isOver();
    });
  }

  /** A kind that fails with the errors one after the other, the last one from then on. */
  function failing(errors: readonly Error[], isPeriodic = false) {
    const name = newKind();
    const seen = { runs: 0, reason: undefined as string | undefined };
    const kind: JobKind<object> = {
      name,
      async run() {
        throw errors[Math.min(seen.runs++, errors.length - 1)];
      },
      ...(!isPeriodic && {
        async giveUp(_services, job, reason) {
          await finish(job);
          seen.reason = reason;
        },
      }),
    };
    return { kind, seen };
  }

  const sqlError = (code: string) => Object.assign(new Error(`It says ${code}.`), { code });

  test("a job that fails five times in the same way ends as failed, with the reason", async () => {
    const { kind, seen } = failing([sqlError("22012")]);
    await runOut(kind, () => seen.reason !== undefined);
    assert.equal(seen.runs, 5);
    assert.equal(
      seen.reason,
      "It failed 5 times in the same way. Rapport failed (SQLSTATE 22012): its log says why.",
    );
    assert.equal(await faultsOf(kind.name), undefined);
  });

  test("a job whose statement takes too long or too much memory, while the database responds, ends as failed", async () => {
    for (const [code, reason] of [
      ["57014", "Its statement took too long."],
      ["53200", "Its statement needed more memory than the database has."],
    ] as const) {
      const { kind, seen } = failing([sqlError(code)]);
      await runOut(kind, () => seen.reason !== undefined);
      assert.equal(seen.runs, 5, code);
      assert.ok(seen.reason?.endsWith(reason), seen.reason);
    }
  });

  test("a fault of another kind starts the count again", async () => {
    const [one, other] = [sqlError("22012"), sqlError("22003")];
    const { kind, seen } = failing([one, one, one, one, other, one]);
    await runOut(kind, () => seen.reason !== undefined);
    assert.equal(seen.runs, 10);
  });

  test("an outage of the database never counts", async () => {
    const outages = [
      "57P01",
      "57P03",
      "53100",
      "53300",
      "08006",
      "ECONNREFUSED",
      "CONNECTION_CLOSED",
    ];
    const { kind, seen } = failing(outages.map(sqlError));
    await runOut(kind, () => seen.runs >= 20 || seen.reason !== undefined);
    assert.equal(seen.reason, undefined);
    assert.equal(await faultsOf(kind.name), 0);
  });

  test("a statement with which the engine failed counts as a fault, although others see an outage", async () => {
    const { kind, seen } = failing([Object.assign(sqlError("57P02"), { wasRunning: true })]);
    await runOut(kind, () => seen.reason !== undefined);
    assert.equal(seen.runs, 5);
  });

  test("a periodic job that fails five times in the same way pauses for a day and does not end", async () => {
    const { kind, seen } = failing([sqlError("22012")], true);
    await runOut(kind, () => seen.runs >= 5);
    await until(async () => (await faultsOf(kind.name)) === 5);
    const [row] = await database.query<{ runAt: Date }>(
      'select run_at as "runAt" from jobs where kind = $1',
      [kind.name],
    );
    assert.ok((row?.runAt.getTime() ?? 0) - Date.now() > 20 * 3_600_000);
  });

  const faultsOf = async (kind: string) =>
    (await database.query<{ faults: number }>("select faults from jobs where kind = $1", [kind]))[0]
      ?.faults;
});
