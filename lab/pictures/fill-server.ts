/* Fills a server with Acme and what its clients send. */
import assert from "node:assert/strict";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestServer } from "../../test/harness.ts";
import type { Filled } from "./pictures.ts";
import { IDS, KEYS, manifestOf, WORKSPACE } from "./sample-company.ts";
import {
  ADA,
  AMAL,
  addPeople,
  addUnusedKey,
  runSync,
  sendTraffic,
  writeWarehouse,
} from "./sample-traffic.ts";

export async function fillServer(server: TestServer): Promise<Filled> {
  const warehouse = join(await mkdtemp(join(tmpdir(), "rapport-pictures-")), "users.csv");
  await writeWarehouse(warehouse);
  // First, because each test workspace renames the company.
  const plain = await plainPage(server);
  const applied = await server.admin("POST", "/admin/v1/apply", manifestOf(warehouse));
  assert.equal(applied.status, 200, JSON.stringify(applied.body));
  await sendTraffic(server);
  await addUnusedKey(server);
  const person = await addPeople(server);
  await runSync(server);
  const key = KEYS["checkout-service"];
  const exported = await server.send("POST", "/users/export/ids", { external_ids: [ADA] }, { key });
  return {
    workspace: WORKSPACE,
    user: exported.body.users[0].platform_id,
    person,
    center: IDS.center,
    ownCenter: IDS.ownCenter,
    message: IDS.welcome,
    preferencePage: await pageOf(server, IDS.center, key),
    arabicPage: await pageOf(server, IDS.center, key, AMAL),
    plainPage: plain,
  };
}

/** The path of a user's page. */
async function pageOf(
  server: TestServer,
  center: string,
  key: string,
  user = ADA,
): Promise<string> {
  const path = `/preference_center/v1/${center}/url/${user}`;
  const { body } = await server.send("GET", path, undefined, { key });
  assert.ok(body.preference_center_url, JSON.stringify(body));
  return new URL(body.preference_center_url).pathname;
}

/** The ready page of a workspace without a brand. */
async function plainPage(server: TestServer): Promise<string> {
  const id = "3c9d1f64-7a2b-4e85-9f10-6b8c2d4e5f70";
  const { key, track } = await server.workspace({ preference_centers: [{ id, name: "plain" }] });
  await track({
    attributes: [{ external_id: ADA, email: "ada@example.com", phone: "+14155552671" }],
  });
  return pageOf(server, id, key);
}
