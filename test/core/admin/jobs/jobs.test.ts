/*
 * Background work (src/core/admin/jobs/): a job is done once even if its workers fail, and schedules run on
 * time. On a real engine; the clocks are the tests' own.
 */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, test } from "node:test";
import { type JobKind, LeaseLost, TryAgain } from "../../../../src/core/admin/jobs/job.ts";
import { withdraw } from "../../../../src/core/admin/jobs/queue.ts";
import {
  enqueueDue,
  isCron,
  readNextTimes,
  removeSchedules,
  setSchedules,
} from "../../../../src/core/admin/jobs/schedule.ts";
import { type Clock, systemClock } from "../../../../src/core/base/clock.ts";
import { until } from "../../../until.ts";

import { openRig } from "./jobs-rig.ts";

const { add, clockAt, database, event, finish, keyOf, LONG_LEASE_MS, newKind, start } =
  await openRig();

describe("a job", () => {
  test("a job is queued only once until it has finished", async () => {
    const name = newKind();
    const [begun, release, ended] = [event(), event(), event()];
    const worker = await start({
      name,
      async run(_services, job) {
        begun.happen();
        await release.happened;
        await finish(job);
        ended.happen();
      },
    });
    assert.ok(await add(name));
    assert.equal(await add(name), undefined);
    worker.wake();
    await begun.happened;
    assert.equal(await add(name), undefined);
    release.happen();
    await ended.happened;
    assert.ok(await add(name));
  });

  test("every job runs in exactly one of several workers", async () => {
    const name = newKind();
    const done: string[] = [];
    const all = event();
    const kind: JobKind<object> = {
      name,
      async run(_services, job) {
        await finish(job);
        done.push(job.subject);
        if (done.length === 30) all.happen();
      },
    };
    const several = await Promise.all([start(kind), start(kind), start(kind)]);
    const subjects = Array.from({ length: 30 }, (_, index) => `s${index}`);
    await Promise.all(subjects.map((subject) => add(name, subject)));
    for (const worker of several) worker.wake();
    await all.happened;
    assert.deepEqual(done.sort(), subjects.sort());
  });

  test("a worker that was paused past its lease does not start a second run of a job that it is still running", async () => {
    const name = newKind();
    const [begun, release] = [event(), event()];
    let [runs, reads] = [0, 0];
    // Each look at the clock is longer after the last one than a lease.
    const leaping: Clock = {
      ...systemClock,
      now: () => new Date(Date.now() + 2 * LONG_LEASE_MS * ++reads),
    };
    const kind: JobKind<object> = {
      name,
      async run(_services, job) {
        runs++;
        begun.happen();
        await release.happened;
        await finish(job);
      },
    };
    const worker = await start(kind, leaping);
    await add(name);
    worker.wake();
    await begun.happened;
    for (let round = 0; round < 3; round++) {
      const readsBefore = reads;
      worker.wake();
      await until(() => reads >= readsBefore + 6);
    }
    release.happen();
    await worker.stop();
    assert.equal(runs, 1);
  });

  test("a job whose lease expired moves to another worker, and its first holder can commit nothing", async () => {
    const name = newKind();
    const [begun, taken, refused] = [event(), event(), event<unknown[]>()];
    // Its clock stays in the past: to the others, any lease that it takes has run out.
    const past = clockAt(new Date(Date.now() - 600_000).toISOString());
    const late = await start(
      {
        name,
        async run(_services, job) {
          begun.happen();
          await taken.happened;
          const errors: unknown[] = [];
          for (const say of [job.hold, job.advance, job.finish]) {
            const tried = database.transaction(async (tx) => {
              await tx.query("insert into jobs values ($1, 1, $2, 'trace', $3, 0)", [
                randomUUID(),
                name,
                new Date("2099-01-01"),
              ]);
              await say(tx);
            });
            errors.push(await tried.catch((error: unknown) => error));
          }
          refused.happen(errors);
        },
      },
      past,
    );
    await add(name, "s", past);
    late.wake();
    await begun.happened;
    const release = event();
    const other = await start({
      name,
      async run(_services, job) {
        taken.happen();
        await release.happened;
        await finish(job);
      },
    });
    other.wake();
    const errors = await refused.happened;
    assert.equal(errors.length, 3);
    for (const error of errors) assert.ok(error instanceof LeaseLost, String(error));
    const rows = await database.query("select subject from jobs where kind = $1", [name]);
    assert.deepEqual([...rows], [{ subject: "s" }]);
    release.happen();
  });

  test("a failed job is retried, and progress resets its failure count", async () => {
    const name = newKind();
    const failures: number[] = [];
    const ended = event();
    const worker = await start({
      name,
      async run(_services, job) {
        failures.push(job.failures);
        if (failures.length === 5) {
          await finish(job);
          return ended.happen();
        }
        if (failures.length === 3) await database.transaction((tx) => job.advance(tx));
        if (failures.length === 2) await database.transaction((tx) => job.hold(tx));
        throw new TryAgain(0, new Error("passing"));
      },
    });
    await add(name);
    worker.wake();
    await ended.happened;
    assert.deepEqual(failures, [0, 1, 2, 1, 2]);
  });

  test("a withdrawn job can commit nothing", async () => {
    const name = newKind();
    const [begun, gone, ended] = [event(), event(), event<unknown>()];
    const worker = await start({
      name,
      async run(_services, job) {
        begun.happen();
        await gone.happened;
        await finish(job).catch(ended.happen);
      },
    });
    await add(name, "one");
    worker.wake();
    await begun.happened;
    await database.transaction((tx) => withdraw(tx, 1, name, ["one"]));
    gone.happen();
    assert.ok((await ended.happened) instanceof LeaseLost);
  });

  test("a job is aborted and released when its worker stops, and another worker resumes it at once", async () => {
    const name = newKind();
    const [begun, ended] = [event(), event<number>()];
    const first = await start({
      name,
      async run(_services, job) {
        begun.happen();
        await new Promise((_resolve, reject) => {
          job.signal.addEventListener("abort", () => reject(new Error("stopped")));
        });
      },
    });
    await add(name);
    first.wake();
    await begun.happened;
    await first.stop();
    const second = await start({
      name,
      async run(_services, job) {
        await finish(job);
        ended.happen(job.failures);
      },
    });
    second.wake();
    assert.equal(await ended.happened, 0);
  });
});

describe("a schedule", () => {
  // Elsewhere than in UTC: what is said of UTC must not hold by chance.
  process.env.TZ = "Asia/Kolkata";

  const jobsOf = async (kind: string) =>
    (await database.query<{ subject: string }>("select subject from jobs where kind = $1", [kind]))
      .map((row) => row.subject)
      .sort();

  const set = (clock: Clock, kind: string, subject: string, cron: string) =>
    database.transaction((tx) =>
      setSchedules(tx, [{ ...keyOf(kind, subject), cron, timeZone: "UTC" }], clock.now()),
    );

  const nextOf = async (kind: string, subject: string) =>
    (await readNextTimes(database, kind, 1)).get(subject)?.toISOString();

  test("a schedule queues its job at its time in UTC, and not before", async () => {
    const name = newKind();
    const clock = clockAt("2020-03-28T23:00:00Z");
    await set(clock, name, "s", "30 4 * * *");
    assert.equal(await nextOf(name, "s"), "2020-03-29T04:30:00.000Z");
    clock.set("2020-03-29T04:29:59.999Z");
    await enqueueDue(database, clock);
    assert.deepEqual(await jobsOf(name), []);
    clock.set("2020-03-29T04:30:00.000Z");
    await enqueueDue(database, clock);
    assert.deepEqual(await jobsOf(name), ["s"]);
    assert.equal(await nextOf(name, "s"), "2020-03-30T04:30:00.000Z");
  });

  test("a schedule with missed times queues its job once, and never next to an unfinished one", async () => {
    const name = newKind();
    const clock = clockAt("2020-01-01T00:00:00Z");
    await set(clock, name, "s", "*/15 * * * *");
    clock.set("2020-01-03T12:01:00Z");
    await Promise.all([enqueueDue(database, clock), enqueueDue(database, clock)]);
    assert.deepEqual(await jobsOf(name), ["s"]);
    assert.equal(await nextOf(name, "s"), "2020-01-03T12:15:00.000Z");
    clock.set("2020-01-03T12:15:00Z");
    await enqueueDue(database, clock);
    assert.deepEqual(await jobsOf(name), ["s"]);
  });

  test("after the clock is set back by an hour, a schedule is due at its next time and a waiting job runs", async () => {
    const name = newKind();
    let aheadMs = 3_600_000;
    const clock: Clock = { ...systemClock, now: () => new Date(Date.now() + aheadMs) };
    const begun = event();
    const kind: JobKind<object> = {
      name,
      async run(_services, job) {
        await finish(job);
        begun.happen();
      },
    };
    const worker = await start(kind, clock);
    await set(clock, name, "late", "*/15 * * * *");
    await add(name, "waiting", { ...clock, now: () => new Date(Date.now() + aheadMs + 60_000) });
    aheadMs = 0;
    worker.wake();
    await begun.happened;
    const next = Date.parse((await nextOf(name, "late")) as string);
    assert.ok(next - Date.now() <= 15 * 60_000, new Date(next).toISOString());
  });

  test("a removed schedule queues no more jobs", async () => {
    const name = newKind();
    const clock = clockAt("2020-01-01T00:00:00Z");
    for (const subject of ["kept", "gone"]) await set(clock, name, subject, "* * * * *");
    await database.transaction((tx) => removeSchedules(tx, 1, name, ["gone"]));
    clock.set("2020-01-01T00:01:00Z");
    await enqueueDue(database, clock);
    assert.deepEqual(await jobsOf(name), ["kept"]);
  });

  /** Those of other tests would have their turn. */
  const forgetAll = () => database.query("delete from schedules");

  test("a workspace with some hundred due schedules does not delay the schedule of another one", async () => {
    await forgetAll();
    const [busy, other] = [newKind(), newKind()];
    const clock = clockAt("2020-01-01T00:00:00Z");
    const subjects = Array.from({ length: 350 }, (_, index) => `s${index}`);
    const every = { cron: "* * * * *", timeZone: "UTC" };
    const schedules = subjects.map((subject) => ({ ...keyOf(busy, subject), ...every }));
    await database.transaction((tx) => setSchedules(tx, schedules, clock.now()));
    clock.set("2020-01-01T00:05:00Z");
    const late = { workspaceId: 2, kind: other, subject: "late", ...every };
    await database.transaction((tx) => setSchedules(tx, [late], clock.now()));
    clock.set("2020-01-01T00:06:00Z");
    await enqueueDue(database, clock);
    assert.deepEqual(await jobsOf(other), ["late"]);
    assert.equal((await jobsOf(busy)).length, 99);
    // In the rounds that follow, each of the busy workspace gets its turn.
    for (let round = 0; round < 3; round++) await enqueueDue(database, clock);
    assert.deepEqual(await jobsOf(busy), subjects.sort());
  });

  test("schedules of many workspaces that are due at once are queued in turns, the oldest of each first", async () => {
    await forgetAll();
    const name = newKind();
    const clock = clockAt("2020-01-01T00:00:00Z");
    const of = (workspaceId: number, minute: number) => ({
      workspaceId,
      kind: name,
      subject: `w${workspaceId} ${minute}`,
      cron: `${minute} * * * *`,
      timeZone: "UTC",
    });
    const workspaces = Array.from({ length: 60 }, (_, index) => 100 + index);
    const schedules = workspaces.flatMap((id) => [of(id, 1), of(id, 2), of(id, 3)]);
    await database.transaction((tx) => setSchedules(tx, schedules, clock.now()));
    clock.set("2020-01-01T00:30:00Z");
    await enqueueDue(database, clock);
    const queued = await jobsOf(name);
    assert.equal(queued.filter((subject) => subject.endsWith(" 1")).length, 60);
    assert.equal(queued.filter((subject) => subject.endsWith(" 2")).length, 40);
    await enqueueDue(database, clock);
    assert.deepEqual(await jobsOf(name), schedules.map(({ subject }) => subject).sort());
  });

  test("a schedule accepts only a five-field cron expression or shorthand that can come due", () => {
    const cases: [text: string, isOne: boolean][] = [
      ["*/15 * * * *", true],
      ["0 4 1 * MON-FRI", true],
      ["0 0 29 2 *", true],
      ["@hourly", true],
      ["0 0 30 2 *", false],
      ["0 * * * * *", false],
      ["60 * * * *", false],
      ["* * * *", false],
      ["", false],
      ["0 0 29 2 +1", true],
      ["0 0 29 2 MON#5", true],
      // The library takes a date for an expression that comes due once.
      ["2099-01-31T12:00:00", false],
      ["2099-01-31 12:00:00", false],
      ["@reboot", false],
      [`${"0,".repeat(200)}0 * * * *`, false],
      // The library alone searches 8,000 years for these.
      ["* * 1-7 * +1#5,2#5,3#5,4#5,5#5,6#5,0#5", false],
      ["0 0 30W 2 *", false],
    ];
    for (const [text, isOne] of cases) assert.equal(isCron(text), isOne, text);
  });

  test("a schedule without a next time, as earlier versions accepted, comes due once", async () => {
    const name = newKind();
    const clock = clockAt("2020-01-01T00:00:00Z");
    await set(clock, name, "once", "2020-01-01T00:01:00");
    clock.set("2020-01-01T00:02:00Z");
    await enqueueDue(database, clock);
    assert.deepEqual(await jobsOf(name), ["once"]);
    assert.equal(await nextOf(name, "once"), undefined);
  });
});
