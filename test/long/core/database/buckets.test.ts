/* How rows are spread over buckets, and buckets over the shards of a cluster. */
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { systemClock } from "../../../../src/core/base/clock.ts";
import {
  BUCKET_COUNT,
  BUCKETS,
  bucketOfId,
  bucketOfValue,
  idInBucketOf,
} from "../../../../src/core/database/buckets.ts";
import type { Database } from "../../../../src/core/database/database.ts";
import { migrate } from "../../../../src/core/database/migrations/migrate.ts";
import { openDatabase } from "../../../../src/server/open-database.ts";
import { lastingDatabase } from "../../../databases.ts";
import { startOwnServer, startServer, testConfig } from "../../../harness.ts";
import { rowsAfterStop } from "../../../stored-rows.ts";

const database: Database = await openDatabase(await testConfig());
after(() => database.close());
await migrate(database);

/** The largest share, as a multiple of the mean. */
function fullest(counts: readonly number[]): number {
  const mean = counts.reduce((sum, count) => sum + count, 0) / counts.length;
  return Math.max(...counts) / mean;
}

/** The shard of each bucket: Citus cuts the hashes into as many ranges as there are shards. */
const shardOf = (place: number, shards: number) =>
  Math.floor(((place + 0.5) * shards) / BUCKET_COUNT);

describe("buckets", () => {
  test("the table of buckets holds the numbers that the program computes with", async () => {
    const rows = await database.query<{ bucket: number; ordinal: number }>(
      "select bucket, ordinal from buckets order by ordinal",
    );
    assert.deepEqual(
      rows.map(({ bucket, ordinal }) => [bucket, ordinal]),
      BUCKETS.map((bucket, place) => [bucket, place]),
    );
  });

  test("the engine's hashes of the buckets divide its hash space evenly, so that every shard has as many", async () => {
    const rows = await database.query<{ ordinal: number; place: number }>(
      `select ordinal, ((hashint2(bucket)::bigint + 2147483648) * ${BUCKET_COUNT}) >> 32 as place
       from buckets`,
    );
    for (const { ordinal, place } of rows) assert.equal(place, ordinal);
  });

  test("with 100,000 users on up to 64 shards, no shard holds 1.3 times the mean", () => {
    const places = new Map(BUCKETS.map((bucket, place) => [bucket, place]));
    const kinds = [
      (n: number) => `user-${n}`,
      (n: number) => `${n}`,
      (n: number) => `user-${n}@example.com`,
      (n: number) => `+1415555${String(n).padStart(6, "0")}`,
      (n: number) => `${n}\u001fcrm:3`,
    ];
    for (const nameOf of kinds) {
      const users = Array.from(
        { length: 100_000 },
        (_, n) => places.get(bucketOfValue(1, nameOf(n))) as number,
      );
      for (const shards of [2, 3, 4, 8, 12, 16, 24, 32, 64]) {
        const counts = Array<number>(shards).fill(0);
        for (const place of users) {
          const shard = shardOf(place, shards);
          counts[shard] = (counts[shard] ?? 0) + 1;
        }
        assert.ok(fullest(counts) < 1.3, `${nameOf(7)} over ${shards}: ${fullest(counts)}`);
      }
    }
  });

  test("an id made for an identifier says the bucket of the identifier and stays a UUIDv7", () => {
    for (const value of ["ada", "a@example.com", "user-7", "名前"]) {
      const id = idInBucketOf(systemClock.newId(), 3, value);
      assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      assert.equal(bucketOfId(id), bucketOfValue(3, value));
    }
  });
});

interface Row {
  readonly value: string;
  readonly workspace: number;
  readonly identifier: number;
}

test("a user's profile is in the bucket of the first identifier, and each identifier in that of its value", async () => {
  const lasting = await lastingDatabase();
  const server = await startOwnServer({}, undefined, lasting);
  const workspace = await server.workspace();
  const user = { external_id: "ada", email: "ada@example.com" };
  await workspace.track({ attributes: [user] });
  const [profile] = await rowsAfterStop<{ bucket: number }>(
    server,
    lasting,
    "select bucket from profiles",
  );
  // Separately: the two may be on different nodes.
  const identifiers = await rowsAfterStop<Row>(
    server,
    lasting,
    "select value, workspace_id as workspace, bucket as identifier from identifiers",
  );
  const rows = identifiers.map((row) => ({ ...row, profile: profile?.bucket }));
  const bucket = (value: string) => bucketOfValue(rows[0]?.workspace ?? 0, value);
  assert.deepEqual(
    rows
      .map(({ workspace: _, ...row }) => row)
      .sort((one, other) => (one.value < other.value ? -1 : 1)),
    Object.values(user).map((value) => ({
      value,
      identifier: bucket(value),
      profile: bucket("ada"),
    })),
  );
});

/**
 * Most values are in different buckets in two workspaces, which would be enough to keep them apart.
 */
test("an identifier in the same bucket of two workspaces names a user of each of them", async () => {
  const server = await startServer();
  const [one, other] = [await server.workspace(), await server.workspace()];
  const ids = await Promise.all(
    [one, other].map(async ({ name }) => {
      const [row] = await server.database.query<{ id: number }>(
        "select workspace_id as id from workspaces where name = $1",
        [name],
      );
      return row?.id ?? 0;
    }),
  );
  const bucketsOf = (value: string) => ids.map((id) => bucketOfValue(id, value));
  const candidates = Array.from({ length: 100_000 }, (_, index) => `user-${index}`);
  const shared = candidates.find((value) => bucketsOf(value)[0] === bucketsOf(value)[1]) ?? "";
  await one.track({ attributes: [{ external_id: shared, mark: "one" }] });
  assert.deepEqual(await other.profiles({ external_ids: [shared] }), []);
  await other.track({ attributes: [{ external_id: shared, mark: "another" }] });
  const marks = await Promise.all(
    [one, other].map(
      async (each) => (await each.profile({ external_ids: [shared] })).custom_attributes,
    ),
  );
  assert.deepEqual(marks, [{ mark: "one" }, { mark: "another" }]);
});
