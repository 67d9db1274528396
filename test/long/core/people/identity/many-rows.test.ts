/*
 * Users with very many events: no statement about them grows with their number, because on the embedded engine everybody
 * waits for it. Below HTTP, because it counts what reaches the engine; the events are written with SQL.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { systemClock } from "../../../../../src/core/base/clock.ts";
import { bucketOfId } from "../../../../../src/core/database/buckets.ts";
import { SLICE_ROWS } from "../../../../../src/core/people/activity/moves-store.ts";
import { RETAINED_EVENTS } from "../../../../../src/core/people/activity/retention-store.ts";
import { deleteUsers } from "../../../../../src/core/people/identity/delete-users.ts";
import { mergeUsers } from "../../../../../src/core/people/identity/merge-users.ts";
import { createPeople } from "../../../../../src/core/people/profiles/people.ts";
import { savePeople } from "../../../../../src/core/people/profiles/save-people.ts";
import { estimateSize } from "../../../../../src/features/segments/estimate.ts";
import { readFilter } from "../../../../../src/features/segments/filter.ts";
import { listMembers, segmentsOfUser } from "../../../../../src/features/segments/list-members.ts";
import { countingDatabase } from "../../../../core/database/counted-statements.ts";
import { id } from "../../../../core/people/identity/identity-calls.ts";
import { identityServices } from "../../../../core/people/people-services.ts";
import { openMigrated } from "../../../../databases.ts";
import { contextIn, testWorkspace } from "../../../../test-context.ts";

const database = await openMigrated();

const EVENTS = 2 * SLICE_ROWS + 5;

let last = 0;

/** A workspace of its own with a user. @param rows the events that are written. @param counted those in the summary. */
async function userWith(rows: number, counted = rows) {
  const workspace = testWorkspace({ id: ++last });
  const context = contextIn(workspace);
  const make = async (name: string) => {
    const people = createPeople([], [], systemClock.newId);
    people.create({ kind: "external_id", value: name });
    await database.transaction((tx) =>
      savePeople(tx, workspace.id, people.changes(systemClock.now())),
    );
    const [row] = await database.query<{ id: string }>(
      "select profile_id as id from profiles where workspace_id = $1 and external_id = $2",
      [workspace.id, name],
    );
    return row?.id as string;
  };
  const userId = await make("many");
  const of = [workspace.id, bucketOfId(userId), userId];
  await database.query(
    `insert into events (workspace_id, bucket, profile_id, event_id, name, occurred_at)
     select $1::int, $2::smallint, $3::uuid, gen_random_uuid(), 'came', timestamptz '2020-01-01' + n / 3 * interval '1 second'
     from generate_series(1, $4::int) n`,
    [...of, rows],
  );
  await database.query(
    `insert into event_summaries (workspace_id, bucket, profile_id, name, count, first_at, last_at)
     values ($1::int, $2::smallint, $3::uuid, 'came', $4::bigint, '2020-01-01', '2020-01-02')`,
    [...of, counted],
  );
  return { workspace, context, userId, make };
}

const countEvents = async (workspaceId: number, profileId: string): Promise<number> => {
  const [row] = await database.query<{ count: number }>(
    "select count(*)::int as count from events where workspace_id = $1 and profile_id = $2",
    [workspaceId, profileId],
  );
  return row?.count ?? 0;
};

const beginning = (statements: readonly string[], words: string): number =>
  statements.filter((sql) => sql.trimStart().startsWith(words)).length;

describe("a user with very many events", () => {
  test("is merged a slice at a time, with all events", async () => {
    const { workspace, context, userId, make } = await userWith(EVENTS);
    const keptId = await make("kept");
    const { database: counting, counted } = countingDatabase(database);
    const updates = [{ identifier_to_merge: id("many"), identifier_to_keep: id("kept") }];
    const notes = await mergeUsers(identityServices(counting), context, updates);
    assert.equal(notes.skipped, undefined);
    assert.equal(await countEvents(workspace.id, keptId), EVENTS);
    assert.equal(await countEvents(workspace.id, userId), 0);
    // To another node of a cluster they are copied, a page at a time.
    const slices = database.commitsInParts ? 0 : 3;
    assert.equal(beginning(counted.statements, "update events"), slices);
  });

  test("is deleted a slice at a time, with all events", async () => {
    const { workspace, context, userId } = await userWith(EVENTS);
    const { database: counting, counted } = countingDatabase(database);
    await deleteUsers(identityServices(counting), context, { external_ids: ["many"] });
    assert.equal(await countEvents(workspace.id, userId), 0);
    // Three slices, and what has no summary.
    assert.equal(beginning(counted.statements, "delete from events"), 4);
  });

  test("loses old events to retention a slice at a time, and keeps the others", async () => {
    const { workspace, userId } = await userWith(EVENTS);
    const before = new Date("2020-01-01T03:00:00Z");
    const removed: number[] = [];
    let from: string | undefined;
    do {
      const step = await database.transaction((tx) =>
        RETAINED_EVENTS.removeStep(tx, workspace.id, before, from),
      );
      removed.push(step.removed);
      from = step.after;
    } while (from !== undefined);
    const old = 3 * 3 * 3_600 - 1;
    assert.deepEqual(removed, [SLICE_ROWS, old - SLICE_ROWS]);
    assert.equal(await countEvents(workspace.id, userId), EVENTS - old);
  });

  test("is looked at for one condition at a time, with the same result", async () => {
    const where = (above: number) => ({
      event: "came",
      where: { property: "n", more_than: above },
      at_most: 3,
    });
    const given = { all: [where(1), where(2), { not: { all: [where(3), where(4)] } }] };
    const filter = readFilter(given, { groups: new Map(), apps: new Map(), segments: new Map() });
    const results: unknown[] = [];
    for (const counted of [5, 3_000_000]) {
      const { workspace, context, userId } = await userWith(5, counted);
      const { database: counting, counted: sent } = countingDatabase(database, "counted");
      const services = { database: { ...counting, for: () => counting }, clock: systemClock };
      const size = await estimateSize(services.database, workspace.id, filter, systemClock.now());
      const page = await listMembers(services, context, { filter: given, limit: 10 });
      const { segments } = await segmentsOfUser(services, context, userId);
      results.push({ size, users: page.users.length, segments });
      const statements = [...sent.reads, ...sent.statements];
      const alone = statements.filter((sql) => sql.split("from events e").length === 2);
      // Four for the estimate, and four for the page; what comes after the user looks at nobody.
      assert.equal(alone.length, counted > 5 ? 8 : 0);
    }
    assert.deepEqual(results[1], results[0]);
  });
});
