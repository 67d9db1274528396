// A test that depends on time: it freezes its clock and sets Rapport's.
// NODE_OPTIONS=--experimental-vm-modules npx jest
import { afterAll, beforeAll, expect, jest, test } from "@jest/globals";
import { createClient } from "rapport-client";
import { startRapport } from "rapport-server";

let rapport;
beforeAll(async () => {
  jest.useFakeTimers({ now: new Date("2026-01-01T12:00:00Z") });
  rapport = await startRapport({ now: new Date() });
}, 30_000);
afterAll(async () => {
  await rapport.stop();
  jest.useRealTimers();
});

test("a user who was away for 30 days is inactive", async () => {
  const { url, key, adminToken, workspace } = rapport;
  const client = createClient({ url, key, adminToken });
  const time = new Date().toISOString();
  await client.trackUsers({ body: { events: [{ external_id: "ada", name: "visited", time }] } });
  const inactive = async () => {
    const filter = { event: "visited", last: { more_than_days_ago: 30 } };
    const path = { name: workspace };
    const { matching } = await client.admin.countSegment({ path, body: { filter } });
    return matching;
  };

  await rapport.setNow("2026-01-31T11:00:00Z");
  expect(await inactive()).toBe(0);
  await rapport.setNow("2026-01-31T13:00:00Z");
  expect(await inactive()).toBe(1);
});
