/* `rapport demo`: a server with a shop in it. */
import assert from "node:assert/strict";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { sampleAt } from "../../../../src/features/demo/sample.ts";
import { temporaryFolder } from "../../../stored-rows.ts";
import { type ChildServer, post, runCommand, startChild } from "../../../system/child-server.ts";

const before = new Date();
const server = await startChild({ DATA_DIR: "memory:" }, { args: ["demo"] });
const after = new Date();

/** A demo that should be refused and is not ends here, instead of serving for ever. */
const taken = new URL(server.url).port;

const countOf = async ({ url }: ChildServer, adminToken: string, filter: object) => {
  const path = "/admin/v1/workspaces/demo/segments/count";
  const { status, body } = await post(url + path, adminToken, { filter, exact: true });
  assert.equal(status, 200, JSON.stringify(body));
  return body.matching as number;
};

const tokenIn = (greeting: string): string => /admin token +(\S+)/.exec(greeting)?.[1] ?? "";

const linkIn = (greeting: string): string =>
  /dashboard +(\S+sign-in\?token=\S+)/.exec(greeting)?.[1] ?? "";

describe("rapport demo", () => {
  test("the demo has 2,000 users, as many in each country as its sample, and merged visitors add none", async () => {
    const { people, visitors } = sampleAt(before);
    const count = (filter: object) => countOf(server, tokenIn(server.greeting), filter);
    assert.match(server.greeting, /engine +embedded, kept in memory only/);
    assert.match(
      server.greeting,
      new RegExp(`2,000 users .*\\n +${visitors.length} of them merged`),
    );
    assert.equal(await count({ attribute: "created_at", exists: true }), 2_000);
    for (const country of ["DE", "JP"]) {
      assert.equal(
        await count({ attribute: "country", equals: country }),
        people.filter(({ place }) => place.country === country).length,
      );
    }
    assert.equal(
      await count({ email_subscription: "unsubscribed" }),
      people.filter(({ attributes }) => attributes.email_subscribe === "unsubscribed").length,
    );
  });

  test("the users of the demo have the events and purchases of its sample", async () => {
    const least = sampleAt(before);
    const most = sampleAt(after);
    const external_ids = least.people.slice(0, 50).map(({ externalId }) => externalId);
    const fields_to_export = ["external_id", "custom_events", "purchases"];
    const { body } = await post(`${server.url}/users/export/ids`, server.key, {
      external_ids,
      fields_to_export,
    });
    assert.equal(body.users.length, 50);
    const sum = (lists: { count: number }[][]) =>
      lists.flat().reduce((total, { count }) => total + count, 0);
    const isTheirs = (each: object) =>
      external_ids.includes((each as { external_id: string }).external_id);
    const visitorIds = most.visitors
      .filter(({ externalId }) => external_ids.includes(externalId))
      .map(({ visitorId }) => visitorId);
    const isOfVisitor = (each: object) =>
      visitorIds.includes((each as { user_alias?: { alias_name: string } }).user_alias?.alias_name);
    const events = sum(body.users.map((user: any) => user.custom_events ?? []));
    const known = ({ events: all }: typeof least) =>
      all.filter((each) => isTheirs(each) || isOfVisitor(each)).length;
    assert.ok(visitorIds.length > 0);
    assert.ok(
      known(least) > 100 && events >= known(least) && events <= known(most),
      String(events),
    );
    const quantities = ({ purchases }: typeof least) =>
      purchases
        .filter(isTheirs)
        .reduce((total, each) => total + Number((each as { quantity?: unknown }).quantity), 0);
    const bought = sum(body.users.map((user: any) => user.purchases ?? []));
    assert.ok(bought >= quantities(least) && bought <= quantities(most), String(bought));
  });

  test("the link of the demo signs in to the dashboard, although its output is no terminal", async () => {
    const signedIn = await fetch(linkIn(server.greeting), {
      method: "POST",
      redirect: "manual",
      headers: { "content-type": "application/x-www-form-urlencoded" },
    });
    const [cookie = ""] = signedIn.headers.getSetCookie();
    assert.match(cookie, /^rapport-session=session_/);
    const session = await fetch(`${server.url}/dashboard/session`, {
      headers: { cookie: cookie.split(";")[0] ?? "" },
    });
    assert.deepEqual(((await session.json()) as any).workspaces, ["demo"]);
  });

  test("the demo prints a preference page that opens, with the groups of the shop", async () => {
    const page = await fetch(/a page +(\S+)/.exec(server.greeting)?.[1] ?? "");
    assert.equal(page.status, 200);
    const html = await page.text();
    for (const part of ["Tidewick", "What is in season"]) {
      assert.ok(html.includes(part), part);
    }
  });

  test("segments, a campaign and its translations are in the demo", async () => {
    const config = await fetch(`${server.url}/admin/v1/workspaces/demo/segments`, {
      headers: { authorization: `Bearer ${tokenIn(server.greeting)}` },
    });
    assert.equal(((await config.json()) as any).segments.length, 5);
    const bought = { purchases: "any", at_least: 2, in_last_days: 30 };
    assert.ok((await countOf(server, tokenIn(server.greeting), bought)) > 50);
    const message =
      "campaign_id=6d2f8b1e-5c47-4a90-b3e6-1f7c9a0d8e52&message_variation_id=e17c4a5d-08f3-4b62-9d1a-7b5e3c6f2094";
    const found = await fetch(`${server.url}/campaign/translations/?${message}`, {
      headers: { authorization: `Bearer ${server.key}` },
    });
    assert.match(await found.text(), /Willkommen an Bord!/);
  });
});

describe("the folder of a demo", () => {
  test("rapport demo refuses a folder with anything in it, a file, a database and a manifest, and writes nothing", async () => {
    const folder = await temporaryFolder();
    await mkdir(join(folder, "full"));
    await writeFile(join(folder, "full", "notes.txt"), "mine");
    const full = join(folder, "full");
    const manifest = join(folder, "manifest.yaml");
    const refusals: [args: string[], environment: Record<string, string>, reason: RegExp][] = [
      [[full], {}, /full is not empty/],
      [[], { DATA_DIR: full }, /full is not empty/],
      [[join(full, "notes.txt")], {}, /notes\.txt/],
      [[], { DATABASE_URL: "postgres://127.0.0.1:1/rapport" }, /DATABASE_URL is set\. Unset/],
      [[], { MANIFEST: manifest }, /MANIFEST is set\. Unset/],
      [[join(folder, "new"), "more"], {}, /too many arguments/],
    ];
    for (const [args, environment, reason] of refusals) {
      const { code, stdout, stderr } = await runCommand(["demo", ...args], {
        PORT: taken,
        ...environment,
      });
      assert.deepEqual([code, stdout], [1, ""], stderr);
      assert.match(stderr, reason);
    }
    assert.deepEqual(await readdir(folder), ["full"]);
    assert.deepEqual(await readdir(full), ["notes.txt"]);
  });
});
