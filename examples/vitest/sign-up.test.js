// An application's own code is tested against Rapport: npx vitest run
import { Braze } from "braze-api";
import { startRapport } from "rapport-server";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";

let rapport;
beforeAll(async () => {
  rapport = await startRapport();
}, 30_000);
beforeEach(() => rapport.reset());
afterAll(() => rapport.stop());

test("a sign-up is tracked", async () => {
  // The client of the application, unchanged but for its address and key.
  const client = new Braze(rapport.url, rapport.key);
  await client.users.track({
    events: [{ external_id: "ada", name: "signed_up", time: new Date().toISOString() }],
  });

  const [ada] = await rapport.users("ada");
  expect(ada.custom_events).toMatchObject([{ name: "signed_up", count: 1 }]);
  expect(rapport.requests).toHaveLength(1);
});
