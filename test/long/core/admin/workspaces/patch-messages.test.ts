/* PATCH of what has endpoints of its own: canvases and messages; and what changes a webhook beside it. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { startOwnServer } from "../../../../harness.ts";
import { patchCalls } from "./patch-calls.ts";

const server = await startOwnServer();
await server.workspace();
const { admin, refuses, newWorkspace, lastRow } = patchCalls(server);

test("a PATCH of a canvas keeps its steps or its name", async () => {
  const path = await newWorkspace();
  const canvas = `${path}/canvases/${randomUUID()}`;
  const steps = [randomUUID(), randomUUID()];
  await refuses(canvas, { name: "None" }, "There is no canvas", 404);
  await admin("PUT", canvas, { name: "Welcome", step_ids: steps });
  await Promise.all([
    admin("PATCH", canvas, { name: "Hello" }),
    admin("PATCH", canvas, { step_ids: steps.slice(1) }),
  ]);
  const [found] = (await admin("GET", `${path}/canvases`)).canvases;
  assert.deepEqual([found.name, found.steps.map(({ id }: any) => id)], ["Hello", steps.slice(1)]);
  await refuses(canvas, { name: null }, "'name'");
  await refuses(canvas, { step_ids: ["x"] }, "step_ids");
  await refuses(canvas, { messages: [] }, "'messages'");
  const campaign = `${path}/campaigns/${randomUUID()}`;
  await admin("PUT", campaign, { name: "News" });
  await admin("PATCH", campaign, { name: "Offers" });
  assert.deepEqual((await lastRow("kind=campaign")).details, {
    before: { name: "News" },
    after: { name: "Offers" },
  });
});

test("a PATCH of a message keeps its place and texts, and its strings follow the content", async () => {
  const path = await newWorkspace();
  const [campaign, id] = [randomUUID(), randomUUID()];
  const message = `${path}/messages/${id}`;
  const subject = "{% translation hello %}Hello{% endtranslation %}";
  await admin("PUT", `${path}/campaigns/${campaign}`, { name: "Welcome" });
  await refuses(message, { channel: "sms" }, "There is no message", 404);
  const put = { campaign_id: campaign, channel: "email", content: { subject, body: "<p>One</p>" } };
  await admin("PUT", message, put);
  await Promise.all([
    admin("PATCH", message, { multi_language: true }),
    admin("PATCH", message, {
      content: { body: "{% translation two %}Two{% endtranslation %}", preheader: "Three" },
    }),
  ]);
  const { campaign_id, channel, multi_language, content, source } = await admin("GET", message);
  assert.deepEqual([campaign_id, channel, multi_language], [campaign, "email", true]);
  assert.deepEqual(Object.keys(content).sort(), ["body", "preheader", "subject"]);
  assert.deepEqual(source, { hello: "Hello", two: "Two" });
  await admin("PATCH", message, { content: { body: null, preheader: null } });
  assert.deepEqual((await admin("GET", message)).source, { hello: "Hello" });
  await admin("PATCH", message, { multi_language: null, content: null });
  const plain = await admin("GET", message);
  assert.deepEqual(
    [plain.multi_language, plain.content, plain.source],
    [false, undefined, { hello: "Hello" }],
  );
  const row = await lastRow(`kind=message&workspace=${path.split("/")[2]}`);
  assert.deepEqual(row.details, {
    name: "email of Welcome",
    before: { multi_language: true },
    after: { multi_language: false },
  });
  await refuses(message, { channel: null }, "'channel'");
  await refuses(message, { campaign_id: null }, "'campaign_id'");
  await refuses(message, { canvas_id: randomUUID() }, "'canvas_id'");
  await refuses(message, { campaign_id: randomUUID() }, "There is no campaign", 404);
  await refuses(message, { content: { subject: "{% translation" } }, "subject");
  await refuses(message, { translations: {} }, "'translations'");
});

test("a new secret of a webhook and a concurrent change of it both hold", async () => {
  const path = await newWorkspace();
  const hook = `${path}/webhooks/crm`;
  await admin("PUT", hook, { name: "CRM", url: "https://crm.invalid/a", state: "paused" });
  for (let round = 0; round < 5; round += 1) {
    await Promise.all([
      admin("POST", `${hook}/rotate-secret`, { overlap_seconds: 60 }),
      admin("PATCH", hook, { name: `CRM ${round}` }),
    ]);
    const { name, previous_secret_until } = await admin("GET", hook);
    assert.equal(name, `CRM ${round}`);
    assert.notEqual(previous_secret_until, null);
  }
});
