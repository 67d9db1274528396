/* The recount of a day writes what differs from that of the day before (src/features/customers/difference.ts). */
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { createSettableClock } from "../../../src/core/base/clock.ts";
import {
  selectActivity,
  selectRecount,
  upsertActivity,
} from "../../../src/features/customers/store.ts";
import { startOwnServer, type TestWorkspace } from "../../harness.ts";
import { until } from "../../until.ts";
import { idOf, recount } from "../recount.ts";

const DAY_MS = 86_400_000;
const isCluster = (process.env.TEST_CITUS_WORKERS ?? "") !== "";

const clock = createSettableClock();
clock.set(new Date(`${new Date().toISOString().slice(0, 10)}T08:00:00Z`));
const daysAgo = (days: number) => new Date(clock.now().getTime() - days * DAY_MS).toISOString();
const server = await startOwnServer({ clock });

describe("what a recount writes", { skip: isCluster && "a cluster has the rows elsewhere" }, () => {
  let workspace: TestWorkspace;

  /** Each count or sketch of the last recount, with the number of the transaction that wrote it. */
  async function stored(): Promise<Map<string, { seen: number; writtenBy: string }>> {
    const rows = await server.database.query<{ key: string; seen: number; writtenBy: string }>(
      `select kind || ' ' || day || ' ' || name as key, seen, xmin::text as "writtenBy" from customer_counts
       where workspace_id = $1 and part = ''
       union all select 'sketch ' || day, 0, xmin::text from customer_days where workspace_id = $1 and part = ''`,
      [await idOf(server, workspace)],
    );
    return new Map(rows.map(({ key, ...row }) => [key, { ...row, seen: Number(row.seen) }]));
  }

  before(async () => {
    workspace = await server.workspace();
    await workspace.track({
      events: ["ada", "eve", "bob"].map((external_id) => ({
        external_id,
        name: `opened by ${external_id}`,
        time: daysAgo(9),
      })),
      purchases: [
        { external_id: "ada", product_id: "hat", currency: "EUR", price: 0.1, time: daysAgo(8) },
      ],
    });
    const isCounted = () => server.admin("GET", `/admin/v1/workspaces/${workspace.name}/customers`);
    await until(async () => (await isCounted()).body.users.total === 3, "the counts");
    await recount(server, clock, workspace);
  });

  test("a recount that finds nothing new leaves every row as it is", async () => {
    const first = await stored();
    assert.ok(first.size >= 8, [...first.keys()].join("; "));
    await recount(server, clock, workspace);
    assert.deepEqual(await stored(), first);
  });

  test("a recount writes the counts that differ, deletes those of what is gone, and leaves the rest", async () => {
    const first = await stored();
    const day = Number(
      [...first.keys()].find((key) => key.endsWith("opened by ada"))?.split(" ")[1],
    );
    await workspace.track({
      events: [{ external_id: "ada", name: "opened by ada", time: daysAgo(10) }],
    });
    await workspace.call("POST", "/users/delete", { external_ids: ["eve"] });
    await recount(server, clock, workspace);
    const second = await stored();
    assert.equal(second.get(`event ${day} opened by ada`)?.seen, 2);
    assert.equal(second.get("users 0 ")?.seen, 2);
    assert.equal(second.has(`event ${day} opened by eve`), false);
    const written = [...second].filter(
      ([key, { writtenBy }]) => writtenBy !== first.get(key)?.writtenBy,
    );
    const created = [...first.keys()].find((key) => key.startsWith("new "));
    assert.deepEqual(
      written.map(([key]) => key).sort(),
      [`event ${day} opened by ada`, created, `sketch ${day}`, "users 0 "].sort(),
    );
  });

  test("a sketch of a day on which nobody is left is deleted", async () => {
    const days = async () => [...(await stored()).keys()].filter((key) => /^sketch/.test(key));
    assert.equal((await days()).length, 2);
    // Only she bought anything.
    await workspace.call("POST", "/users/delete", { external_ids: ["ada"] });
    await recount(server, clock, workspace);
    assert.equal((await days()).length, 1);
  });

  test("active users that were worked out before a reset are not written after it", async () => {
    const id = await idOf(server, workspace);
    const later = { day: 30_000, in1: 5, in7: 5, in30: 5 };
    const storedActivity = async () => [...(await selectActivity(server.database, id, later.day))];
    const { revision } = (await selectRecount(server.database, id)) ?? { revision: 0 };
    // The server writes meanwhile, and each write is a revision.
    await upsertActivity(server.database, id, revision + 1_000, [later]);
    assert.deepEqual(await storedActivity(), []);
    await upsertActivity(server.database, id, revision, [later]);
    assert.deepEqual(await storedActivity(), [later]);
  });
});
