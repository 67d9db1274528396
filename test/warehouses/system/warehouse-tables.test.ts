/* The tables of each imitated warehouse are listed in the spelling that a sync reads. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, test } from "node:test";
import { startServer } from "../../harness.ts";
import { TRIED } from "../fakes/kinds.ts";

const server = await startServer();

/** How each kind spells them, in the order of its names. */
const SPELLED: Readonly<Record<string, readonly string[]>> = {
  snowflake: ['CRM.PUBLIC."Odd name"', "CRM.PUBLIC.USERS", 'CRM.PUBLIC."order"'],
  bigquery: ["crm.Odd name", "crm.order", "crm.users"],
  databricks: ["memory.crm.`Odd name`", "memory.crm.`order`", "memory.crm.users"],
  mysql: ["crm.`Odd name`", "crm.`order`", "crm.users"],
};

for (const { type, start, isHttp } of TRIED) {
  describe(`the tables of ${type}`, () => {
    test(`the tables of ${type} are listed in the spelling that a sync reads, without those of the system`, async () => {
      const fake = await start();
      const isSnowflake = type === "snowflake";
      if (isSnowflake)
        await fake.engine.run("attach ':memory:' as \"CRM\"; create schema CRM.PUBLIC");
      const prefix = isSnowflake ? "CRM.PUBLIC." : "crm.";
      const names = ["Odd name", "order", isSnowflake ? "USERS" : "users"];
      for (const name of names) {
        await fake.engine.run(
          `create table ${prefix}"${name}" as select timestamptz '2026-01-01' as updated_at,
             'ada' as external_id, '{}' as payload`,
        );
      }
      const workspace = await server.workspace();
      const path = `/admin/v1/workspaces/${workspace.name}/integrations/${randomUUID()}`;
      const warehouse = fake.settings;
      const { status, body } = await server.admin("POST", `${path}/tables`, { warehouse });
      assert.equal(status, 200, JSON.stringify(body));
      assert.deepEqual(body, {
        tables: SPELLED[type],
        more: false,
        problem: null,
        message: "success",
      });
      for (const table of SPELLED[type] ?? []) {
        const draft = { name: "A", type: "attributes", warehouse: { ...warehouse, table } };
        const tested = await server.admin("POST", `${path}/test-change`, draft);
        assert.deepEqual([tested.body.problem, tested.body.rows_to_read], [null, 1], table);
      }
    });

    test(`a login that ${type} refuses is the reason why no table is listed, without its secrets`, async () => {
      const fake = await start();
      fake.faults.push({
        on: isHttp ? /./ : /^set session/,
        times: 20,
        reply: { status: 401, body: { code: "390144", message: "no" } },
      });
      const workspace = await server.workspace();
      const path = `/admin/v1/workspaces/${workspace.name}/integrations/${randomUUID()}`;
      const warehouse = isHttp
        ? { ...fake.settings, endpoint: fake.url }
        : { ...fake.settings, url: fake.settings.url?.replace(/:[^:@]+@/, ":wr0ng@") };
      const { status, body } = await server.admin("POST", `${path}/tables`, { warehouse });
      assert.equal(status, 200, JSON.stringify(body));
      assert.deepEqual([body.tables, body.more], [[], false]);
      assert.match(body.problem, /refuse|login|token/i);
      assert.doesNotMatch(body.problem, /wr0ng|PRIVATE KEY|dapi-/);
    });
  });
}
