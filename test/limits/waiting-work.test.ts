/* Waiting for a host that never answers costs no other workspace anything, and a job that fails by its own fault ends. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { after, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { startOwnServer, type TestWorkspace } from "../harness.ts";
import { startIntegration } from "../sync-runs.ts";

/** Accepts connections and requests, and never responds. */
const tarpit = createServer(() => {});
await new Promise<void>((resolve) => tarpit.listen(0, "127.0.0.1", resolve));
after(() => {
  tarpit.close();
  tarpit.closeAllConnections();
});
const url = `http://127.0.0.1:${(tarpit.address() as AddressInfo).port}/`;

const server = await startOwnServer({ outboundAllow: ["127.0.0.1"] });

const DE = { attribute: "country", equals: "DE" };

/** A workspace with so many segments. */
async function withSegments(count: number, settings: object = {}) {
  const segments = Array.from({ length: count }, (_, index) => ({
    id: randomUUID(),
    name: `s${index}`,
    filter: DE,
  }));
  const rate_limits = { "users.export.segment": "off" };
  const workspace = await server.workspace({ segments, settings: { rate_limits, ...settings } });
  return { workspace, ids: segments.map(({ id }) => id) };
}

const exportOf = (workspace: TestWorkspace, segment_id: string | undefined, more: object = {}) =>
  workspace.call<any>("POST", "/users/export/segment", {
    segment_id,
    fields_to_export: ["external_id"],
    ...more,
  });

const pathOf = ({ name }: TestWorkspace) => `/admin/v1/workspaces/${name}/segments`;

async function countOf(workspace: TestWorkspace): Promise<any> {
  const wanted = { filter: DE, exact: true, wait_s: 0 };
  const { body } = await server.admin("POST", `${pathOf(workspace)}/count`, wanted);
  return endOf(workspace, body.count_id);
}

async function endOf(workspace: TestWorkspace, id: string): Promise<any> {
  for (;;) {
    const { body } = await server.admin("GET", `${pathOf(workspace)}/counts/${id}`);
    if (body.status !== "running") return body;
    await sleep(20);
  }
}

/** A job as its fifth failure leaves it. */
async function leaveFaulty(workspace: TestWorkspace, kind: string, subject: string) {
  const id = randomUUID();
  await server.database.query(
    `insert into jobs (job_id, workspace_id, kind, subject, run_at, failures, fault, faults)
     select $1, workspace_id, $2, $3, now() - interval '1 minute', 5, 'Its statement took too long.', 5
     from workspaces where name = $4`,
    [id, kind, subject, workspace.name],
  );
  return id;
}

const REASON = "It failed 5 times in the same way. Its statement took too long.";

describe("waiting for hosts that never answer", () => {
  test("callbacks of two workspaces to such a host delay no export and no count of a third", async () => {
    for (let each = 0; each < 2; each++) {
      const { workspace, ids } = await withSegments(60);
      const started = await Promise.all(
        ids.map((id) => exportOf(workspace, id, { callback_endpoint: url })),
      );
      assert.deepEqual([...new Set(started.map(({ status }) => status))], [201]);
    }
    const { workspace, ids } = await withSegments(1);
    assert.equal((await exportOf(workspace, ids[0])).status, 201);
    assert.equal((await countOf(workspace)).status, "finished");
  });

  test("a workspace writes 20 exports into its bucket at a time, and leaves room for other workspaces", async () => {
    const withBucket = async (count: number) => {
      const connection = `exports-${randomUUID()}`;
      const export_bucket = { connection, url: "s3://crm/out/" };
      const made = await withSegments(count, { export_bucket });
      await server.admin("PUT", `/admin/v1/connections/${connection}`, {
        type: "s3",
        workspaces: [made.workspace.name],
        endpoint: url,
        region: "eu-central-1",
        access_key_id: "id",
        secret_access_key: "secret",
      });
      return made;
    };
    const { workspace, ids } = await withBucket(21);
    const started = await Promise.all(ids.map((id) => exportOf(workspace, id)));
    const refused = started.filter(({ status }) => status === 429);
    assert.deepEqual(
      refused.map(({ body }) => body.message),
      ["20 exports of segments of this workspace are in progress."],
    );
    const { workspace: other, ids: others } = await withBucket(1);
    assert.equal((await exportOf(other, others[0])).status, 201);
    assert.equal((await countOf(other)).status, "finished");
  });
});

describe("receivers of webhooks", () => {
  /** A workspace with so many webhooks, and changes for them. */
  async function withWebhooks(count: number, to: string, changes: number): Promise<TestWorkspace> {
    const webhooks = Array.from({ length: count }, (_, index) => ({
      id: `w${index}`,
      name: `w${index}`,
      url: to,
    }));
    const workspace = await server.workspace({ webhooks });
    const attributes = Array.from({ length: changes }, (_, index) => ({
      external_id: `u${index}`,
    }));
    assert.equal((await workspace.track({ attributes })).status, 201);
    return workspace;
  }

  /** A receiver that responds with a status. */
  async function receiver(status: number) {
    const seen = { requests: 0 };
    const http = createServer((request, response) => {
      seen.requests++;
      request.resume();
      response.writeHead(status).end();
    });
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    after(() => {
      http.close();
      http.closeAllConnections();
    });
    return { seen, to: `http://127.0.0.1:${(http.address() as AddressInfo).port}/` };
  }

  test("a receiver that refuses everything gets no more than a few batches a second", async () => {
    const { seen, to } = await receiver(400);
    const workspace = await withWebhooks(1, to, 50);
    while (seen.requests === 0) await sleep(10);
    await sleep(3_000);
    const { requests } = seen;
    assert.ok(requests >= 2 && requests <= 20, `${requests} requests in three seconds`);
    await server.admin("DELETE", `/admin/v1/workspaces/${workspace.name}/webhooks/w0`);
  });

  test("webhooks of four workspaces to receivers that never answer leave a connection for a fifth", async () => {
    let ended = 0;
    const count = (socket: Socket) => void socket.once("close", () => ended++);
    tarpit.on("connection", count);
    const stuck: TestWorkspace[] = [];
    for (let each = 0; each < 4; each++) stuck.push(await withWebhooks(20, url, 50));
    const before = ended;
    const { seen, to } = await receiver(200);
    await withWebhooks(1, to, 1);
    while (seen.requests === 0) await sleep(10);
    tarpit.off("connection", count);
    assert.equal(ended, before, "It was delivered only after others had given up.");
    for (const { name } of stuck) {
      for (let id = 0; id < 20; id++) {
        await server.admin("DELETE", `/admin/v1/workspaces/${name}/webhooks/w${id}`);
      }
    }
  });
});

describe("a job that has failed too often by its own fault", () => {
  test("an exact count ends as failed with the reason, and the one behind it is counted", async () => {
    const { workspace } = await withSegments(0);
    const id = randomUUID();
    await server.database.query(
      `insert into segment_counts
         (workspace_id, count_id, filter, status, after, total, matching, expected, started_at)
       select workspace_id, $1, $2::text::jsonb, 'running', $3, 0, 0, 0, now() - interval '1 minute'
       from workspaces where name = $4`,
      [id, JSON.stringify(DE), "00000000-0000-0000-0000-000000000000", workspace.name],
    );
    await leaveFaulty(workspace, "segment_count", "queue");
    const next = await countOf(workspace);
    const failed = await endOf(workspace, id);
    assert.deepEqual([failed.status, failed.failure], ["failed", REASON]);
    assert.deepEqual([next.status, next.failure], ["finished", null]);
  });

  test("a sync ends its run as error with the reason", async () => {
    const { id, path, workspace, ended } = await startIntegration(server, {
      warehouse: { type: "postgres", url: "postgres://u:p@127.0.0.1:1/x", table: "users" },
    });
    const runId = await leaveFaulty(workspace, "cdi.sync", id);
    while ((await server.admin("GET", `${path}/runs/${runId}`)).status === 404) await sleep(20);
    const run = await ended(runId);
    assert.deepEqual([run.job_status, run.message], ["error", REASON]);
  });
});
