/* The dashboard's list of requests that another server got, or this one before a restart. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { createMetrics } from "../../../src/core/base/observe/metrics.ts";
import { SWEEPERS } from "../../../src/server/assembled.ts";
import { lastingDatabase } from "../../databases.ts";
import { ENGINE, startOwnServer, type TestServer, testConfig, workspaceAt } from "../../harness.ts";
import { until } from "../../until.ts";

const skip = ENGINE === "embedded" ? "An embedded database has one server." : false;

const NOON = "2026-01-01T12:00:00Z";
const event = (external_id: string, time = NOON) => ({ external_id, name: "seen", time });
const sum = (counts: readonly number[]): number => counts.reduce((all, each) => all + each, 0);

async function requestsOn(server: TestServer, name: string, query = ""): Promise<any[]> {
  const { body } = await server.admin("GET", `/admin/v1/workspaces/${name}/requests?${query}`);
  return body.requests;
}

/** Of the last hour. */
async function countsOn(server: TestServer, name: string): Promise<number[]> {
  const { body } = await server.admin("GET", `/admin/v1/workspaces/${name}/overview`);
  return [body.requests, body.items_accepted, body.items_rejected].map(sum);
}

/** Looks again until it is so: another server shows changes after a moment. */
const eventually = (look: () => Promise<void>): Promise<boolean> =>
  until(() =>
    look().then(
      () => true,
      () => false,
    ),
  );

async function twoServers(): Promise<[TestServer, TestServer]> {
  const { databaseUrl } = await testConfig();
  const first = await startOwnServer({ databaseUrl });
  return [first, await startOwnServer({ databaseUrl })];
}

describe("the dashboard of several servers on one database", {
  skip,
  // They wait most of the time.
  concurrency: true,
}, async () => {
  const [one, other] = skip ? ([] as never) : await twoServers();

  test("a server shows the requests that another one got, with its name and their verdicts, and streams them", async () => {
    const workspace = await one.workspace();
    const path = `${other.url}/admin/v1/workspaces/${workspace.name}/requests/stream?for_seconds=10`;
    const stream = await fetch(path, { headers: { authorization: `Bearer ${other.adminToken}` } });
    await workspace.track({ events: [event("ada"), event("bob", "yesterday")] });
    const [here] = await requestsOn(one, workspace.name);
    await eventually(async () => {
      assert.deepEqual(await requestsOn(other, workspace.name), [here]);
    });
    assert.match(here.server, new RegExp(`\\(process ${process.pid}\\)$`));
    assert.deepEqual([here.rejected, here.items[1].code], [1, "INVALID_TIME"]);
    const { body } = await other.admin(
      "GET",
      `/admin/v1/workspaces/${workspace.name}/requests/${here.id}`,
    );
    assert.deepEqual(body.request, here);
    for (const query of ["status=4xx", "user=nobody", "code=NONE", "endpoint=/none", "key=none"]) {
      assert.deepEqual(await requestsOn(other, workspace.name, query), [], query);
    }
    for (const query of ["status=201", "user=bob", "code=INVALID_TIME", "endpoint=/users/track"]) {
      assert.equal((await requestsOn(other, workspace.name, query)).length, 1, query);
    }
    const text = await stream.text();
    assert.equal(text.split(`"id":"${here.id}"`).length, 2, text);
  });

  test("a server's overview counts what another one got within ten seconds", async () => {
    const workspace = await one.workspace();
    await workspace.track({ events: [event("ada"), event("bob", "yesterday")] });
    await workspaceAt(other.url, workspace).track({ events: [event("carol")] });
    for (const server of [one, other]) {
      await eventually(async () => {
        assert.deepEqual(await countsOn(server, workspace.name), [2, 2, 1]);
      });
    }
  });

  test("erasing a person on one server removes the person from the live requests of another one, also from those not written down yet", async () => {
    const workspace = await one.workspace();
    await workspace.track({ events: [event("ada")] });
    await workspace.track({ events: [event("bob")] });
    await eventually(async () => {
      assert.equal((await requestsOn(other, workspace.name)).length, 2);
    });
    const { platform_id } = (
      await one.admin("GET", `/admin/v1/workspaces/${workspace.name}/users?query=ada`)
    ).body.users[0];
    await workspace.track({ events: [event("ada")] });
    const erased = await other.admin(
      "DELETE",
      `/admin/v1/workspaces/${workspace.name}/users/${platform_id}`,
    );
    assert.equal(erased.status, 200, JSON.stringify(erased.body));
    for (const server of [other, one]) {
      await eventually(async () => {
        const shown = await requestsOn(server, workspace.name);
        assert.doesNotMatch(JSON.stringify(shown), /"ada"/);
        assert.equal(shown.filter(({ body }) => body?.events?.[0].external_id === "bob").length, 1);
      });
    }
    // Requests under way when the person was erased have arrived by now.
    await sleep(2_500);
    const rows = await one.database.query<{ body: string }>(
      `select encode(body, 'escape') as body from live_requests join workspaces using (workspace_id)
       where name = $1`,
      [workspace.name],
    );
    assert.deepEqual(
      rows.filter(({ body }) => body?.includes("ada")),
      [],
    );
  });

  test("a reset of a workspace on one server empties its live requests on all", async () => {
    const workspace = await one.workspace();
    await workspace.track({ events: [event("ada")] });
    await other.admin("POST", `/admin/v1/workspaces/${workspace.name}/reset`);
    for (const server of [other, one]) {
      await eventually(async () => {
        assert.deepEqual(await requestsOn(server, workspace.name), []);
      });
    }
  });

  test("all servers together keep a limited number of requests in the database", async () => {
    const { databaseUrl } = await testConfig();
    const server = await startOwnServer({ databaseUrl, liveRequests: 3 });
    const workspace = await server.workspace();
    for (let count = 0; count < 3; count++) {
      await workspace.track({ events: [event("ada"), event("bob")] });
      await workspace.track({ events: [event("ada")] });
      await sleep(1_200);
    }
    const [row] = await server.database.query<{ count: number }>(
      "select count(*)::int as count from live_requests",
    );
    assert.equal(row?.count, 3);
  });
});

describe("the dashboard after a restart", () => {
  test("live requests and the counts of the overview survive a restart", async () => {
    const lasting = await lastingDatabase();
    const before = await startOwnServer({}, undefined, lasting);
    const workspace = await before.workspace();
    await workspace.track({ events: [event("ada"), event("bob", "yesterday")] });
    const [shown] = await requestsOn(before, workspace.name);
    await before.stop();
    const again = await startOwnServer({}, undefined, lasting);
    await workspaceAt(again.url, workspace).track({ events: [event("carol")] });
    const [newest, oldest] = await requestsOn(again, workspace.name);
    assert.equal(newest.items[0].user, "carol");
    assert.deepEqual(oldest, shown);
    assert.deepEqual(await countsOn(again, workspace.name), [2, 2, 1]);
  });

  test("requests and erasures of more than a day ago are deleted, and so are counts that no overview shows", async () => {
    const server = await startOwnServer();
    // Without a request of its own, which would be written at some time.
    await server.workspace();
    const day = new Date(Date.now() + 25 * 3_600_000);
    const { database } = server;
    for (const table of ["traffic_counts", "live_requests"]) {
      await database.query(`delete from ${table}`);
    }
    await database.query(
      `insert into traffic_counts select 1, period, now() - old, gen_random_uuid(), '{}'
       from (values ('hour', interval '2 hours'), ('day', '2 hours'), ('day', '25 hours')) as r (period, old)`,
    );
    const sweepAll = async (now: Date) => {
      for (const sweep of SWEEPERS) await sweep(database, now, createMetrics());
    };
    await sweepAll(new Date());
    const left = await database.query("select period from traffic_counts where workspace_id = 1");
    assert.deepEqual(
      left.map(({ period }) => period),
      ["day"],
    );
    await database.query(
      `insert into live_requests select gen_random_uuid(), 1, gen_random_uuid(), 'a', now(), '', '', '', '', '', 200, 1,
       null, null, '[]', 0, 0`,
    );
    await database.query("insert into live_request_erasures values (1, now())");
    const rows = () =>
      database.query("select 1 from live_requests union all select 1 from live_request_erasures");
    await sweepAll(new Date());
    assert.equal((await rows()).length, 2);
    await sweepAll(day);
    assert.equal((await rows()).length, 0);
  });
});
