/* Servers that are stopped and started on one database, with secrets that they store sealed. */
import assert from "node:assert/strict";
import { after } from "node:test";
import { linkOf } from "../../src/features/preference-centers/link.ts";
import type { Config } from "../../src/server/config.ts";
import { serve } from "../../src/server/serve.ts";
import { closeDatabase, databaseOf } from "../core/database/open-engines.ts";
import { testConfig } from "../harness.ts";
import { temporaryFolder } from "../stored-rows.ts";
import { startWarehouse } from "../warehouse.ts";

export const OLD = "the-first-secret-key-of-this-test";
export const NEW = "the-second-secret-key-of-this-test";

export const CENTER = "0f4e6c1a-7d02-4c55-9a3e-2b8d51c7f6a4";
export const SYNCED = "7a1f8c52-0000-4000-8000-000000000001";
export const STORED = "7a1f8c52-0000-4000-8000-000000000002";

const KEY = "the-api-key-of-this-test";
export const S3_SECRET = "wJalrXUtnFEMI-EXAMPLE-SECRET";
/** `dead_link_help` is a text of a page. */
export const LINK_SECRET = /(?<!dead_)link_/;
export const PASSWORD = "the-warehouse-password";
export const EMPTY_UUID = "00000000-0000-0000-0000-000000000000";

let warehouseUrl = "";

/** Starts the warehouse that `manifest` names, for each test file anew: it goes when the file ends. */
export async function startCrm(): Promise<void> {
  const warehouse = await startWarehouse();
  await warehouse.run(
    `create table crm (updated_at timestamptz, external_id text, payload text);
     insert into crm values ('2026-01-01', 'ada', '{"plan":"pro"}')`,
  );
  const url = new URL(warehouse.url);
  url.password = PASSWORD;
  warehouseUrl = url.href;
}

export const manifest = (name = "CRM") => ({
  company: { name: "Test" },
  workspaces: [
    {
      name: "demo",
      api_keys: [{ name: "dev", key: KEY, permissions: ["all"] }],
      preference_centers: [{ id: CENTER, name: "main" }],
      integrations: [
        {
          id: SYNCED,
          name,
          type: "attributes",
          retry: { attempts: 1 },
          warehouse: { type: "postgres", url: warehouseUrl, table: "public.crm" },
        },
        {
          id: STORED,
          name: "Files",
          type: "attributes",
          warehouse: {
            type: "s3",
            url: "s3://crm/users.csv",
            access_key_id: "AKIDEXAMPLE",
            secret_access_key: S3_SECRET,
          },
        },
      ],
    },
  ],
});

interface Server {
  admin(method: string, path: string, body?: unknown): Promise<any>;
  call(method: string, path: string, body?: unknown): Promise<any>;
  get(url: string): Promise<Response>;
  /** Everything that was logged and answered. */
  readonly seen: string[];
  stop(): Promise<void>;
}

export async function start(config: Config): Promise<Server> {
  const seen: string[] = [];
  const running = await serve(
    { ...config, logLevel: "trace" },
    { write: (line: string) => void seen.push(line) },
    databaseOf(config),
  );
  const send = async (key: string, method: string, path: string, body?: unknown) => {
    const response = await fetch(running.welcome.url + path, {
      method,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    seen.push(text);
    assert.ok(response.status < 300, `${method} ${path}: ${text}`);
    return JSON.parse(text);
  };
  return {
    seen,
    stop: running.stop,
    admin: (...call) => send(running.welcome.adminToken.secret ?? "", ...call),
    call: (...call) => send(KEY, ...call),
    get: (path) => fetch(running.welcome.url + path),
  };
}

/** Settings of servers on one new database; each call gives one with other keys. */
export async function onOneDatabase() {
  let dataDir = "";
  // Registered before the folder and the database are made, because hooks run in order.
  after(() => closeDatabase(dataDir));
  dataDir = await temporaryFolder();
  const config = { ...(await testConfig()), dataDir };
  return (secretKey: string | undefined, previousSecretKey?: string): Config => ({
    ...config,
    secretKey,
    previousSecretKey,
  });
}

export async function firstLink(server: Server): Promise<string> {
  await server.call("POST", "/users/track", {
    attributes: [{ external_id: "ada", email: "a@b.co" }],
  });
  const answer = await server.call("GET", `/preference_center/v1/${CENTER}/url/ada`);
  return new URL(answer.preference_center_url).pathname;
}

export async function syncOnce(server: Server): Promise<string> {
  const path = `/admin/v1/workspaces/demo/integrations/${SYNCED}`;
  const { run_id } = await server.admin("POST", `${path}/sync`);
  for (;;) {
    const { run } = await server.admin("GET", `${path}/runs/${run_id}`);
    if (run.job_status !== "running") return `${run.job_status} ${run.message ?? ""}`.trim();
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

export const statusOf = async (server: Server) =>
  (await server.admin("GET", "/admin/v1/secret-key")).secrets;

interface Row {
  readonly secret: string;
  readonly id: string;
}

export async function sealedRows(config: Config): Promise<Row[]> {
  const database = await databaseOf(config);
  const rows = await database.query<Row>(
    `select warehouse->>'sealed' as secret, integration_id::text as id from integrations
     union all select secret, version::text from link_keys order by id`,
  );
  return [...rows];
}

export async function change(config: Config, sql: string): Promise<void> {
  await (await databaseOf(config)).query(sql);
}

/** Stored where sealed values are expected, plain ones open nothing. */
export async function refusesPlainValues(settings: (key: string) => Config): Promise<void> {
  const [entry] = manifest().workspaces[0]?.integrations ?? [];
  await change(
    settings(OLD),
    `update integrations set warehouse = '${JSON.stringify(entry?.warehouse)}'
     where integration_id = '${SYNCED}'`,
  );
  await change(settings(OLD), "update link_keys set secret = 'link_of-a-forger'");
  const again = await start(settings(OLD));
  assert.match(String(await syncOnce(again)), /^config_error A stored secret is not sealed/);
  assert.deepEqual(await statusOf(again), { current: 1, previous: 0, plain: 0, unreadable: 2 });
  const key = { version: 1, secret: "link_of-a-forger" };
  const target = { workspaceId: 1, profileId: EMPTY_UUID, centerId: CENTER };
  const forged = linkOf(key, target, null, new Date("2099-01-01"));
  assert.equal((await again.get(`/preferences/${forged}`)).status, 503);
  await again.stop();
}
