/*
 * The mails about runs that did not go well, on a real SMTP server.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { after, describe, test } from "node:test";
import { createSettableClock } from "../../../src/core/base/clock.ts";
import { createMailer } from "../../../src/core/mail/mailer.ts";
import { startOwnServer } from "../../harness.ts";
import { type Received, sendsMails, startMailServer } from "../../mail-server.ts";
import { startIntegration } from "../../sync-runs.ts";
import { startWarehouse } from "../../warehouse.ts";

const mailServer = await startMailServer();
const clock = createSettableClock();
const server = await startOwnServer({
  clock,
  ...sendsMails({ SMTP_URL: mailServer.url, SMTP_FROM: "Rapport <rapport@acme.example>" }),
});
const warehouse = await startWarehouse();
await warehouse.run(`create table users (updated_at timestamptz, external_id text, payload text);
  insert into users values
    ('2026-01-01', 'ada', '{"n":1}'),
    ('2026-01-02', 'private-person', '{"email":"private-address"}'),
    ('2026-01-03', 'private-person', 'private-payload')`);

const HOUR_MS = 3_600_000;

const advance = (ms: number) => clock.set(new Date(clock.now().getTime() + ms));

const PLACE = { type: "postgres", url: warehouse.url, table: "users" };
const CONTACTS = "ops@acme.example";

/** The lines of a mail, as they read once its lines are whole again. */
const readable = (mail: Received | undefined): string =>
  (mail?.text ?? "").replaceAll("=\r\n", "").replaceAll("\r\n", "\n").replaceAll("=3D", "=");

describe("the contacts of an integration", () => {
  test("a partial run is mailed to the contacts with counts and reasons, and without personal data", async () => {
    const { sync, path, workspace } = await startIntegration(server, {
      name: "CRM users",
      contact_emails: "ops@acme.example, it@acme.example",
      warehouse: PLACE,
    });
    const before = mailServer.received.length;
    const run = await sync();
    const [mail, other] = (await mailServer.mails(before + 2)).slice(before);
    assert.deepEqual([mail?.from, mail?.user], ["rapport@acme.example", "rapport"]);
    assert.deepEqual(
      [mail?.to, other?.to].sort(),
      [["it@acme.example"], ["ops@acme.example"]],
      "each contact is mailed alone",
    );
    const text = readable(mail);
    assert.doesNotMatch(text, mail?.to[0] === "it@acme.example" ? /ops@/ : /it@/);
    assert.match(text, /^Subject: Rapport: a sync ended as partial$/m);
    assert.match(
      text,
      new RegExp(`"CRM users" of the workspace "${workspace.name}" ended as partial`),
    );
    assert.match(text, /^rows synced {2}1$/m);
    assert.match(text, /^rows failed {2}2$/m);
    assert.match(text, /1 {2}EMAIL_BAD_FORMAT \(email\)/);
    assert.match(text, /1 {2}PAYLOAD_NOT_JSON \(PAYLOAD\)/);
    assert.ok(text.includes(`GET ${path}/runs/${run.run_id}/rows`));
    assert.doesNotMatch(text, /private/);
  });

  test("a run that ends as error or config_error is mailed to the contacts with the reason", async () => {
    const cases: [place: object, status: string, reason: RegExp][] = [
      [{ url: "postgres://u:hush@127.0.0.1:1/x" }, "error", /The source failed: .*ECONNREFUSED/],
      [{ table: "nowhere" }, "config_error", /relation "nowhere" does not exist/],
    ];
    for (const [place, status, reason] of cases) {
      const { sync } = await startIntegration(server, {
        contact_emails: CONTACTS,
        warehouse: { ...PLACE, ...place },
      });
      const before = mailServer.received.length;
      await sync();
      const text = readable((await mailServer.mails(before + 1))[before]);
      assert.match(text, new RegExp(`ended as ${status}`));
      assert.match(text, reason);
      assert.doesNotMatch(text, /hush/);
    }
  });

  test("a successful run or an integration without contacts causes no mail", async () => {
    await warehouse.run(`create table good (updated_at timestamptz, external_id text, payload text);
      insert into good values ('2026-01-01', 'ada', '{"n":1}')`);
    const success = await startIntegration(server, {
      contact_emails: CONTACTS,
      warehouse: { ...PLACE, table: "good" },
    });
    const silent = await startIntegration(server, { warehouse: PLACE });
    const last = await startIntegration(server, { contact_emails: CONTACTS, warehouse: PLACE });
    const before = mailServer.received.length;
    assert.equal((await success.sync()).job_status, "success");
    assert.equal((await silent.sync()).job_status, "partial");
    await last.sync();
    const mails = await mailServer.mails(before + 1);
    assert.equal(mails.length, before + 1);
    assert.ok(readable(mails.at(-1)).includes(last.workspace.name));
  });

  test("an integration has one mail an hour, and the waiting one reports the latest run", async () => {
    const { sync, path } = await startIntegration(server, {
      contact_emails: CONTACTS,
      warehouse: { ...PLACE, table: "nowhere" },
    });
    const witness = await startIntegration(server, { contact_emails: CONTACTS, warehouse: PLACE });
    const before = mailServer.received.length;
    const runs = [await sync(), await sync(), await sync()];
    await witness.sync();
    const texts = (await mailServer.mails(before + 2)).slice(before).map(readable);
    assert.equal(texts.length, 2);
    assert.ok(texts.some((text) => text.includes(`${path}/runs/`)));
    assert.ok(texts.some((text) => text.includes(witness.workspace.name)));
    advance(HOUR_MS);
    const text = readable((await mailServer.mails(before + 3))[before + 2]);
    assert.ok(text.includes(`${path}/runs/${runs[2]?.run_id}/rows`), text);
    assert.equal(mailServer.received.length, before + 3);
  });

  test("no text that a role chose is in a subject, and a name is quoted and shortened", async () => {
    const name = `Your account is locked: http://evil.example/unlock ${"x".repeat(150)}`;
    const { sync } = await startIntegration(server, {
      name,
      contact_emails: CONTACTS,
      warehouse: PLACE,
    });
    const before = mailServer.received.length;
    await sync();
    const text = readable((await mailServer.mails(before + 1))[before]);
    assert.doesNotMatch(text.slice(0, text.indexOf("\n\n")), /locked|evil/);
    assert.match(text, /The sync "Your account is locked: [^"]{60,90}"/);
  });

  test("a mail server that greets without end is left after a few megabytes, and the mail fails", async () => {
    let sentMb = 0;
    const endless = createServer((socket) => {
      const send = () => {
        while (!socket.destroyed) {
          sentMb += 1;
          if (!socket.write("x".repeat(1_048_576))) return void socket.once("drain", send);
        }
      };
      socket.on("error", () => {});
      send();
    });
    after(() => endless.close());
    await once(endless.listen(0, "127.0.0.1"), "listening");
    const { port } = endless.address() as AddressInfo;
    const mailer = createMailer(`smtp://127.0.0.1:${port}`, "rapport@acme.example");
    const mail = { to: "ops@acme.example", subject: "s", text: "t", id: "1" };
    await assert.rejects(mailer.send(mail), /response/i);
    assert.ok(sentMb < 32, `${sentMb} MB were sent.`);
  });

  test("a mail that the mail server refuses temporarily is sent again", async () => {
    mailServer.refuseNext(451);
    const { sync } = await startIntegration(server, { contact_emails: CONTACTS, warehouse: PLACE });
    const before = mailServer.received.length;
    await sync();
    assert.equal((await mailServer.mails(before + 1)).length, before + 1);
  });

  test("a mail that the mail server refuses permanently is dropped", async () => {
    mailServer.refuseNext(550);
    const refused = await startIntegration(server, { contact_emails: CONTACTS, warehouse: PLACE });
    const next = await startIntegration(server, { contact_emails: CONTACTS, warehouse: PLACE });
    const before = mailServer.received.length;
    await refused.sync();
    await next.sync();
    const text = readable((await mailServer.mails(before + 1))[before]);
    assert.ok(text.includes(next.workspace.name));
  });
});
