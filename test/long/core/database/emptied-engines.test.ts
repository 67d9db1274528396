/* The engines in memory that servers of the suite use one after the other. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Database } from "../../../../src/core/database/database.ts";
import { openEmbedded } from "../../../../src/core/database/embedded/pglite.ts";
import { serve } from "../../../../src/server/serve.ts";
import { createEngineSupply } from "../../../core/database/emptied-engines.ts";
import { testConfig } from "../../../harness.ts";

const supply = createEngineSupply();
after(() => supply.close());

/** All rows and the positions of all sequences. */
async function contentsOf(database: Database): Promise<Record<string, unknown>> {
  const tables = await database.query<{ name: string }>(
    "select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace",
  );
  const contents: Record<string, unknown> = {
    sequences: await database.query("select * from pg_sequences order by sequencename"),
  };
  for (const { name } of tables) {
    contents[name] = await database.query(
      `select to_jsonb(t) as row from ${name} t order by t::text`,
    );
  }
  return contents;
}

test("a server in memory finds nothing of the server that had its engine before", async () => {
  const fresh = await openEmbedded("memory:");
  const expected = await contentsOf(fresh);
  await fresh.close();
  const engine = await supply.open();
  const server = await serve(
    { ...(await testConfig()), databaseUrl: undefined },
    undefined,
    Promise.resolve(engine),
  );
  const send = async (path: string, token: string, body: unknown) => {
    const response = await fetch(server.welcome.url + path, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    assert.ok(response.ok, await response.text());
  };
  const keys = [{ name: "test", key: "key-of-the-first", permissions: ["all"] }];
  await send("/admin/v1/apply", server.welcome.adminToken.secret ?? "", {
    company: { name: "Test" },
    workspaces: [{ name: "first", api_keys: keys }],
  });
  await send("/users/track", "key-of-the-first", { attributes: [{ external_id: "ada", age: 36 }] });
  await server.stop();
  await assert.rejects(engine.query("select 1"), /The engine was closed/);
  const again = await supply.open();
  const found = await contentsOf(again);
  await again.close();
  assert.deepEqual(found, expected);
});
