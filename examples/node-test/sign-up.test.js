// An application's own code is tested against Rapport: node --test
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { Braze } from "braze-api";
import { startRapport } from "rapport-server";

let rapport;
before(async () => {
  rapport = await startRapport();
});
beforeEach(() => rapport.reset());
after(() => rapport.stop());

test("a sign-up is tracked", async () => {
  // The client of the application, unchanged but for its address and key.
  const client = new Braze(rapport.url, rapport.key);
  await client.users.track({
    events: [{ external_id: "ada", name: "signed_up", time: new Date().toISOString() }],
  });

  const [ada] = await rapport.users("ada");
  assert.equal(ada.custom_events[0].name, "signed_up");
  assert.equal(rapport.requests.length, 1);
});
