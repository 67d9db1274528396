/*
 * Sources that need an optional package, on a server where it is not installed.
 */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { temporaryFolder } from "../../stored-rows.ts";
import { post, startChild } from "../../system/child-server.ts";

describe("a server without the optional packages", () => {
  /** Makes a process fail to find them, as if they were not installed. */
  const hide =
    "export async function resolve(name, context, next) {" +
    "if (['@duckdb/node-api', 'mysql2'].includes(name)) throw new Error('not found'); return next(name, context); }";
  const register = `import { register } from "node:module"; register(${JSON.stringify(
    `data:text/javascript,${encodeURIComponent(hide)}`,
  )});`;

  test("without its optional package, a run over files or over mysql ends as config_error and names the package", async () => {
    const child = await startChild({
      DATA_DIR: "memory:",
      ADMIN_TOKEN: "t",
      NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(register)}`,
    });
    const file = join(await temporaryFolder(), "users.csv");
    await writeFile(file, "UPDATED_AT,EXTERNAL_ID,PAYLOAD\n");
    const warehouses = [
      { type: "files", url: file },
      { type: "mysql", url: "mysql://rapport@localhost/crm", table: "users" },
    ];
    const integrations = warehouses.map((warehouse) => ({
      id: randomUUID(),
      name: warehouse.type,
      type: "events",
      warehouse,
    }));
    await post(`${child.url}/admin/v1/apply`, "t", {
      company: { name: "Test" },
      workspaces: [{ name: "w", integrations }],
    });
    for (const { id, name } of integrations) {
      const path = `${child.url}/admin/v1/workspaces/w/integrations/${id}`;
      await post(`${path}/sync`, "t", {});
      for (;;) {
        const answer = await fetch(`${path}/runs`, { headers: { authorization: "Bearer t" } });
        const [run] = ((await answer.json()) as { results: any[] }).results;
        if (run.job_status === "running") continue;
        assert.equal(run.job_status, "config_error");
        const needed = name === "files" ? "@duckdb/node-api" : "mysql2";
        const advice = `${needed}, which is not installed here: npm install ${needed}@`;
        assert.ok(run.message.includes(advice), run.message);
        break;
      }
    }
    await child.end("SIGTERM");
  });
});
