/* `POST /admin/v1/workspaces/{name}/reset`: empties one workspace of its user data. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { writePeopleOf } from "../../../../src/core/database/people-lock.ts";
import {
  ENGINE,
  NEWSLETTER,
  startOwnServer,
  startServer,
  type TestWorkspace,
} from "../../../harness.ts";
import { until } from "../../../until.ts";

const server = await startServer();

const TIME = "2026-01-01T12:00:00Z";
const ALIAS = { alias_name: "ada", alias_label: "crm" };

const fill = (workspace: TestWorkspace) =>
  workspace.track(
    {
      attributes: [
        {
          external_id: "ada",
          email: "ada@example.com",
          phone: "+14155552671",
          email_subscribe: "unsubscribed",
          plan: "pro",
          subscription_groups: [
            { subscription_group_id: NEWSLETTER, subscription_state: "subscribed" },
          ],
        },
        { user_alias: ALIAS, _update_existing_only: false },
      ],
      events: [{ external_id: "ada", name: "opened", time: TIME }],
      purchases: [
        { external_id: "ada", product_id: "book", currency: "EUR", price: 1, time: TIME },
      ],
    },
    { headers: { "idempotency-key": "fill" } },
  );

const everybody = async (workspace: TestWorkspace) => [
  ...(await workspace.profiles({ external_ids: ["ada"], user_aliases: [ALIAS] })),
  ...(await workspace.profiles({ email_address: "ada@example.com" })),
  ...(await workspace.profiles({ phone: "+14155552671" })),
];

/** What was done, how far the change feed is, when live requests were erased and customers counted, how many requests came. */
const NO_USER_DATA = new Set([
  "audit_log",
  "change_heads",
  "customer_recounts",
  "live_request_erasures",
  "traffic_counts",
]);

/** How many rows of a workspace each other table has, without those that have none. */
async function rowsOf({ name }: TestWorkspace): Promise<Record<string, number>> {
  const { database } = server;
  const tables = await database.query<{ name: string }>(
    `select table_name as name from information_schema.columns natural join information_schema.tables
     where table_schema = 'public' and table_type = 'BASE TABLE' and column_name = 'workspace_id'
     order by table_name`,
  );
  const counts: Record<string, number> = {};
  for (const table of tables.filter((each) => !NO_USER_DATA.has(each.name))) {
    const [row] = await database.query<{ count: number }>(
      `select count(*)::int as count from ${table.name}
       where workspace_id = (select workspace_id from workspaces where name = $1)`,
      [name],
    );
    if (row && row.count > 0) counts[table.name] = row.count;
  }
  return counts;
}

const reset = (name: string) => server.admin("POST", `/admin/v1/workspaces/${name}/reset`);

describe("the reset of a workspace", () => {
  test("a reset deletes all user data of its workspace and of no other", async () => {
    const [workspace, other] = [await server.workspace(), await server.workspace()];
    await fill(workspace);
    await fill(other);
    const answer = await reset(workspace.name);
    assert.deepEqual([answer.status, answer.body], [200, { message: "success" }]);
    assert.deepEqual(await everybody(workspace), []);
    assert.equal((await everybody(other)).length, 4);
  });

  test("a reset leaves in each table of user data as many rows as the workspace had when it was made", async () => {
    const workspace = await server.workspace();
    const made = await rowsOf(workspace);
    await fill(workspace);
    const filled = await rowsOf(workspace);
    assert.ok(Object.keys(filled).length > Object.keys(made).length + 5, JSON.stringify(filled));
    assert.equal((await reset(workspace.name)).status, 200);
    assert.deepEqual(await rowsOf(workspace), made);
  });

  test("a user created after a reset inherits no data from before", async () => {
    const workspace = await server.workspace();
    await fill(workspace);
    await reset(workspace.name);
    await workspace.track({ attributes: [{ external_id: "ada", email: "ada@example.com" }] });
    const ada = await workspace.profile({ external_ids: ["ada"] });
    assert.equal(ada.email_subscribe, "subscribed");
    assert.deepEqual(
      [ada.custom_attributes, ada.custom_events, ada.purchases, ada.subscription_groups],
      [{}, [], [], []],
    );
  });

  test("a reset keeps everything declared: the same requests work as before, with the same keys", async () => {
    const workspace = await server.workspace();
    const first = await fill(workspace);
    const before = await everybody(workspace);
    await reset(workspace.name);
    const again = await fill(workspace);
    assert.deepEqual([again.status, again.body], [201, first.body]);
    assert.equal(again.headers.get("idempotency-replayed"), null);
    const after = await everybody(workspace);
    const withoutIds = (profiles: any[]) =>
      profiles.map(
        ({ platform_id: _1, braze_id: _2, created_at: _3, random_bucket: _4, ...rest }) => rest,
      );
    assert.deepEqual(withoutIds(after), withoutIds(before));
  });

  test("a reset is refused with 403 and changes nothing unless the manifest allows it", async () => {
    for (const declared of [{ allow_reset: false }, { allow_reset: undefined }]) {
      const workspace = await server.workspace(declared);
      await fill(workspace);
      const answer = await reset(workspace.name);
      assert.equal(answer.status, 403);
      assert.match(answer.body.message, /does not have allow_reset: true/);
      assert.equal((await everybody(workspace)).length, 4);
    }
  });

  test("a reset of an unknown workspace responds with 404", async () => {
    const answer = await reset("no-such-workspace");
    assert.equal(answer.status, 404);
    assert.equal(answer.body.message, "There is no workspace 'no-such-workspace'.");
  });

  test("a reset during concurrent writes neither fails nor leaves a partial user", async () => {
    const workspace = await server.workspace();
    const write = async (external_id: string, triesLeft = 10): Promise<number> => {
      const answer = await workspace.track({
        attributes: [{ external_id, n: { inc: 1 }, email: `${external_id}@example.com` }],
        events: [{ external_id, name: "opened", time: TIME }],
      });
      if (answer.status !== 503 || triesLeft === 0) return answer.status;
      // It waited for a second behind a reset, as on a busy machine; it has written nothing and is to be sent again.
      assert.match(answer.headers.get("retry-after") ?? "", /^\d+$/);
      return write(external_id, triesLeft - 1);
    };
    const outcomes = await Promise.all(
      Array.from({ length: 24 }, async (_, index) =>
        index % 12 === 11 ? (await reset(workspace.name)).status : write(`user-${index % 4}`),
      ),
    );
    assert.ok(
      outcomes.every((status) => status < 300),
      String(outcomes),
    );
    const external_ids = [0, 1, 2, 3].map((index) => `user-${index}`);
    for (const { custom_attributes, custom_events } of await workspace.profiles({ external_ids })) {
      assert.equal(custom_attributes.n, custom_events[0]?.count);
    }
    await reset(workspace.name);
    assert.deepEqual(await workspace.profiles({ external_ids }), []);
  });

  test("a reset waits until a transaction that writes users of its workspace has ended", {
    skip:
      ENGINE === "embedded"
        ? "Transactions of the embedded engine run one after the other."
        : false,
  }, async () => {
    const own = await startOwnServer();
    const { name } = await own.workspace();
    const isWaiting = async () =>
      (
        await own.database.query(
          `select 1 from pg_locks where locktype = 'advisory' and not granted
             and database = (select oid from pg_database where datname = current_database())`,
        )
      ).length > 0;
    const order: string[] = [];
    const [{ id } = { id: 0 }] = await own.database.query<{ id: number }>(
      "select workspace_id as id from workspaces where name = $1",
      [name],
    );
    let answer: ReturnType<typeof own.admin> | undefined;
    await own.database.transaction(async (tx) => {
      await writePeopleOf(tx, id, { locks: [], lockMs: undefined });
      answer = own.admin("POST", `/admin/v1/workspaces/${name}/reset`);
      void answer.then(() => order.push("reset"));
      await until(isWaiting);
      order.push("written");
    });
    assert.equal((await answer)?.status, 200);
    assert.deepEqual(order, ["written", "reset"]);
  });
});
