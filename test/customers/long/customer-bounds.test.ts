/* The counts of what users did, in workspaces with more than others and with faults of their own. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, test } from "node:test";
import { startOwnServer, type TestWorkspace } from "../../harness.ts";
import { until } from "../../until.ts";

const server = await startOwnServer();

/** The overview once the server has written what it counted. */
const whenCounted = (workspace: TestWorkspace, isThere: (body: any) => boolean) =>
  until(async () => {
    const { body } = await server.admin("GET", `/admin/v1/workspaces/${workspace.name}/customers`);
    return isThere(body) && body;
  }, "the counts");

describe("the counts of customers", () => {
  test("of more than 100 groups, those with the most subscribers are shown", async () => {
    const groups = Array.from({ length: 105 }, (_, index) => ({
      id: randomUUID(),
      name: `group ${String(index).padStart(3, "0")}`,
      channel: "email",
    }));
    const workspace = await server.workspace({ subscription_groups: groups });
    const last = groups.at(-1);
    const subscribed = { subscription_group_id: last?.id, subscription_state: "subscribed" };
    await workspace.track({
      attributes: ["ada", "eve"].map((external_id) => ({
        external_id,
        subscription_groups: [subscribed],
      })),
    });
    const { groups: shown } = await whenCounted(workspace, (body) =>
      body.groups.some((group: any) => group.subscribed === 2),
    );
    const names = groups.map(({ name }) => name);
    assert.deepEqual(
      shown.map(({ name }: any) => name),
      [...names.slice(0, 99), last?.name],
    );
    assert.equal(shown.at(-1).opt_ins.days.at(-1), 2);
  });

  test("a workspace whose counts cannot be written keeps no other's waiting, and loses none", async () => {
    const broken = await server.workspace();
    const other = await server.workspace();
    const [row] = await server.database.query<{ id: number }>(
      "select workspace_id as id from workspaces where name = $1",
      [broken.name],
    );
    await server.database.query(
      "create function refuse_counts() returns trigger language plpgsql as 'begin raise exception ''refused''; end'",
    );
    await server.database.query(
      `create trigger refuse_counts before insert on customer_counts for each row
       when (new.workspace_id = ${row?.id}) execute function refuse_counts()`,
    );
    const hasOne = ({ events }: any) => events.days.at(-1) === 1;
    try {
      for (const workspace of [broken, other]) {
        const event = { external_id: "ada", name: "opened", time: new Date().toISOString() };
        assert.equal((await workspace.track({ events: [event] })).status, 201);
      }
      await whenCounted(other, hasOne);
    } finally {
      await server.database.query("drop trigger refuse_counts on customer_counts");
      await server.database.query("drop function refuse_counts()");
    }
    await whenCounted(broken, hasOne);
  });
});
