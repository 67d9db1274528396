import { test } from "node:test";
import { startServer } from "./harness.ts";
const server = await startServer();
const w = await server.workspace();
test("smoke", async () => {
  const t = "2026-01-01T00:00:00Z";
  console.log((await w.track({ attributes: [{ external_id: "a", first_name: "Ada", plan: "x", email: "A@x.org", email_subscribe: "unsubscribed" }, { external_id: "b", last_name: "B" }], events: [{ external_id: "a", name: "e", time: t }, { external_id: "b", name: "e", time: "2026-02-01T00:00:00Z" }], purchases: [{ external_id: "a", product_id: "p", currency: "USD", price: 1.1, time: t, quantity: 2 }] })).body);
  console.log((await w.call("POST", "/users/alias/new", { user_aliases: [{ external_id: "a", alias_name: "n", alias_label: "l" }, { alias_name: "m", alias_label: "l" }, { user_alias: { alias_name: "m", alias_label: "l" } }, { external_id: "zzz", alias_name: "q", alias_label: "l" }] })).body);
  console.log(JSON.stringify((await w.call("POST", "/users/merge", { dry_run: true, merge_updates: [{ identifier_to_merge: { external_id: "a" }, identifier_to_keep: { external_id: "b" } }] })).body));
  console.log(JSON.stringify((await w.call("POST", "/users/merge", { merge_updates: [{ identifier_to_merge: { external_id: "a" }, identifier_to_keep: { external_id: "b" } }] })).body));
  console.log(await w.profiles({ external_ids: ["a", "b"] }));
  console.log((await w.call("POST", "/users/identify", { aliases_to_identify: [{ external_id: "b", user_alias: { alias_name: "m", alias_label: "l" } }] })).body);
  console.log((await w.call("POST", "/users/delete", { external_ids: ["b", "b", "c"] }, { headers: { "idempotency-key": "k" } })).body);
  console.log(await w.profiles({ external_ids: ["a", "b"] }));
  console.log((await w.call("POST", "/users/export/ids", { external_ids: ["b"] }, { headers: { "idempotency-key": "k2" } })).body);
  console.log((await w.call("POST", "/users/delete", { external_ids: ["b", "b", "c"], dry_run: true }, { headers: { "idempotency-key": "k3" } })).body);
});
