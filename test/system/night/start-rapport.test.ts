/* Rapport inside a test. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { Braze } from "braze-api";
import { packageRoot } from "../../../src/core/base/package-root.ts";
import type {
  StartedRapport,
  StartOptions,
  startRapport as StartRapport,
} from "../../../src/server/testing/start-rapport.ts";
import { freshDatabase } from "../../core/database/fresh-database.ts";
import { temporaryFolder } from "../../stored-rows.ts";

const run = promisify(execFile);

/** As in the package: a start of the unbundled files takes four times as long. */
const BUNDLED = pathToFileURL(join(packageRoot(), "dist/bundle/start-rapport.js")).href;
const { startRapport } = (await import(BUNDLED)) as { startRapport: typeof StartRapport };

const databaseUrl = await freshDatabase();
const engine = (databaseUrl ?? "memory") as StartOptions["engine"] & string;

const running: StartedRapport[] = [];
after(async () => {
  for (const each of running) await each.stop();
});

async function start(options: StartOptions = {}): Promise<StartedRapport> {
  const rapport = await startRapport(options);
  running.push(rapport);
  return rapport;
}

const track = (rapport: StartedRapport, body: unknown, key = rapport.key) =>
  fetch(`${rapport.url}/users/track`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });

const EVENT = { external_id: "ada", name: "signed_up", time: "2026-01-01T12:00:00Z" };

/** A separate process: frozen timers stop the server that the files of a test process share. */
const FROZEN = `
  import assert from "node:assert/strict";
  import { mock } from "node:test";
  import { startRapport } from "${BUNDLED}";
  const apis = ["setTimeout", "setInterval", "setImmediate", "Date"];
  mock.timers.enable({ apis, now: new Date("2020-01-01T00:00:00Z") });
  const rapport = await startRapport({ engine: process.argv[1] });
  const response = await fetch(rapport.url + "/users/track", {
    method: "POST",
    headers: { authorization: "Bearer " + rapport.key, "content-type": "application/json" },
    body: JSON.stringify({ events: [${JSON.stringify(EVENT)}] }),
  });
  assert.equal(response.status, 201);
  assert.equal((await rapport.users("ada")).length, 1);
  assert.equal(rapport.requests.length, 1);
  await rapport.reset();
  await rapport.stop();
  assert.deepEqual(rapport.requests, []);
  await assert.rejects(rapport.users("ada"), /Rapport has stopped/);
  mock.timers.reset();
`;

describe("startRapport", () => {
  let shared: StartedRapport;
  before(async () => {
    shared = await start({ engine, now: "2026-01-01T12:00:00Z" });
  });

  test("startRapport starts a server with a workspace and a key, shows users and requests, and resets both", async () => {
    const rapport = shared;
    assert.equal((await track(rapport, { events: [EVENT] })).status, 201);
    const [ada] = await rapport.users("ada");
    assert.deepEqual(
      ada?.custom_events.map(({ name, count }) => [name, count]),
      [["signed_up", 1]],
    );
    assert.deepEqual(rapport.requests, [
      {
        method: "POST",
        path: "/users/track",
        query: {},
        body: { events: [EVENT] },
        status: 201,
        workspace: rapport.workspace,
      },
    ]);
    await rapport.reset();
    assert.deepEqual(rapport.requests, []);
    assert.deepEqual(await rapport.users(["ada"]), []);
    assert.deepEqual(await rapport.users({ email_address: "ada@example.com" }), []);
  });

  // The next test has one from an object.
  test("startRapport applies a manifest from an object or a file, with its keys", async () => {
    const workspaces = [
      {
        name: "shop",
        api_keys: [{ name: "app", key: "shop-key", permissions: ["users.track"] }],
      },
    ];
    const path = join(await temporaryFolder(), "rapport.json");
    await writeFile(path, JSON.stringify({ company: { name: "Acme" }, workspaces }));
    const rapport = await start({ manifest: path });
    assert.equal(rapport.workspace, "shop");
    assert.equal((await track(rapport, { events: [EVENT] }, "shop-key")).status, 201);
    await assert.rejects(rapport.reset(), /allow_reset/);
  });

  test("startRapport shows the captured calls of a workspace with capture_unsupported until the reset", async () => {
    const settings = { capture_unsupported: true };
    const api_keys = [{ name: "app", key: "key-in-an-object", permissions: ["users.track"] }];
    const workspaces = [{ name: "shop", allow_reset: true, settings, api_keys }];
    const rapport = await start({ engine, manifest: { company: { name: "Acme" }, workspaces } });
    assert.equal(rapport.workspace, "shop");
    assert.equal((await track(rapport, { events: [EVENT] }, "key-in-an-object")).status, 201);
    const client = new Braze(rapport.url, rapport.key);
    const { message } = await client.campaigns.trigger.send({
      campaign_id: "welcome",
      recipients: [{ external_user_id: "ada" }],
    });
    assert.equal(message, "success");
    const messages = { email: { app_id: "a", from: "a@example.com", subject: "Hi", body: "Hi" } };
    await client.messages.send({ external_user_ids: ["eve"], messages });
    const [call, ...others] = await rapport.captured("/campaigns");
    assert.deepEqual(others, []);
    assert.equal(call?.body?.recipients[0].external_user_id, "ada");
    assert.deepEqual(
      (await rapport.captured()).map(({ path }) => path),
      ["/messages/send", "/campaigns/trigger/send"],
    );
    await rapport.reset();
    assert.deepEqual(await rapport.captured(), []);
  });

  test("startRapport starts, answers, resets and stops while the test has frozen every timer and the date", async () => {
    await run(process.execPath, ["--input-type=module", "-e", FROZEN, engine]);
  });

  test("startRapport starts at a given time, and setNow moves it forward and back", async () => {
    const rapport = shared;
    const time = "2030-01-01T00:00:00Z"; // A future time becomes now.
    const lastEvent = async (name: string) => {
      await track(rapport, { events: [{ ...EVENT, name, time }] });
      const [ada] = await rapport.users("ada");
      return String(ada?.custom_events.find((each) => each.name === name)?.last).slice(0, 10);
    };
    assert.equal(await lastEvent("first"), "2026-01-01");
    await rapport.setNow(new Date("2026-02-10T00:00:00Z"));
    assert.equal(await lastEvent("second"), "2026-02-10");
    await rapport.setNow("2025-12-24T00:00:00Z");
    assert.equal(await lastEvent("third"), "2025-12-24");
    await assert.rejects(rapport.setNow("tomorrow"), /'now' is not a time: tomorrow/);
  });

  test("after setNow has gone back, the user whom the last request updated is still the most recently updated of those with an address", async () => {
    const subscription_group_id = "5b0c3f6e-8a0e-4f0e-9f5e-0d6a3c1b2e4f";
    const groups = [{ id: subscription_group_id, name: "Alerts", channel: "sms" }];
    const api_keys = [{ name: "app", key: "key-of-groups", permissions: ["users.track"] }];
    const workspaces = [{ name: "shop", subscription_groups: groups, api_keys }];
    const rapport = await start({ manifest: { company: { name: "Acme" }, workspaces } });
    const update = (...attributes: object[]) => track(rapport, { attributes });
    const phone = "+14155552671";
    const subscription_groups = [{ subscription_group_id, subscription_state: "subscribed" }];
    await update(...["a", "b", "c", "d", "e", "f"].map((external_id) => ({ external_id, phone })));
    await rapport.setNow(Date.now() - 86_400_000);
    for (const external_id of ["a", "c", "e"]) {
      await update({ external_id: "f", subscription_groups });
      await update({ external_id, first_name: "Ada" });
      await update({ phone, last_name: external_id });
      assert.equal((await rapport.users(external_id))[0]?.last_name, external_id);
    }
  });

  test("the requests of a test are there as soon as it has the response, however many", async () => {
    const rapport = shared;
    await rapport.reset();
    for (let count = 1; count <= 50; count++) {
      await track(rapport, { events: [EVENT] });
      assert.equal(rapport.requests.length, count);
    }
  });

  test("startRapport refuses an invalid manifest with the place and the rule", async () => {
    const manifest = { company: { name: "Acme" }, workspaces: [{ name: "shop", colour: "red" }] };
    await assert.rejects(startRapport({ manifest }), /'workspaces\[0\]'.*colour/);
    await assert.rejects(startRapport({ manifest: { company: { name: "A" }, workspaces: [] } }), {
      message: "The manifest declares no workspace.",
    });
  });
});
