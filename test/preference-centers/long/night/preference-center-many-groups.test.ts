/* A workspace with thousands of groups: the page shows them in pages, and saving one page leaves the others unchanged. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { startOwnServer } from "../../../harness.ts";
import { duringAttack } from "../../../limits/event-loop-delay.ts";

const server = await startOwnServer();

const GROUPS = 6_000;

const idOf = (index: number) => `00000000-0000-4000-8000-${String(index).padStart(12, "0")}`;

const workspace = await server.workspace({
  subscription_groups: Array.from({ length: GROUPS }, (_, index) => ({
    id: idOf(index),
    name: `Group ${String(index).padStart(5, "0")}`,
    channel: index % 2 ? "sms" : "email",
    description: "What is new, once a month.".repeat(4),
  })),
});

async function linkOf(page: string, reader: string): Promise<string> {
  const made = await workspace.call<any>("POST", "/preference_center/v1", {
    name: `center-${page.length}-${reader}-${Date.now()}`,
    preference_center_title: "Choices",
    preference_center_page_html: page,
    confirmation_page_html: "<p>Saved</p>",
  });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const id = made.body.preference_center_api_id;
  const { body } = await workspace.call<any>("GET", `/preference_center/v1/${id}/url/${reader}`);
  return new URL(body.preference_center_url).pathname;
}

const LOOP =
  "{% for group in subscription_groups %}<p>{{ group.name }} {{ group.state }}</p>{% endfor %}";

/** A page that a team wrote; beyond its budget the built-in one is shown. */
const OWN_PAGE = `<form method="post">${LOOP.repeat(40)}</form>`;

await workspace.track({
  attributes: [
    { external_id: "mail", email: "mail@example.com", phone: "+14155552671" },
    { external_id: "text", phone: "+14155559371" },
  ],
});

const get = (path: string) => fetch(server.url + path);

test("a page of 6,000 groups is shown in pages of 100, and leaves the server to others", async () => {
  const link = await linkOf(OWN_PAGE, "mail");
  const beside = {
    url: server.url,
    legitimate: async () => (await workspace.track({ attributes: [{ external_id: "o" }] })).status,
  };
  let first = "";
  const { refused } = await duringAttack(beside, async () => {
    const views = await Promise.all(Array.from({ length: 4 }, () => get(link)));
    for (const view of views) {
      assert.equal(view.status, 200);
      first = await view.text();
    }
  });
  assert.equal(refused, 0);
  assert.equal(first.split('<input type="checkbox"').length - 1, 100);
  assert.match(first, /1 \/ 60/);
  assert.match(first, /rel="next" href="[^"]+\?page=2"/);
  const last = await (await get(`${link}?page=60`)).text();
  assert.match(last, /Group 05999/);
  assert.doesNotMatch(last, /rel="next"/);
  assert.match(await (await get(`${link}?page=999999`)).text(), /60 \/ 60/);
});

test("saving one page of the groups leaves the groups of other pages alone", async () => {
  const link = await linkOf(OWN_PAGE, "mail");
  const form = new URLSearchParams({ [`subscription_group_${idOf(5_999)}`]: "subscribed" });
  const page = await (await get(`${link}?page=60`)).text();
  const name = /name="([^"]+)" value="subscribed"/.exec(page)?.[1];
  assert.ok(name);
  form.set(name, "subscribed");
  const saved = await fetch(server.url + link, { method: "POST", body: form });
  assert.equal(saved.status, 200);
  const { body } = await workspace.call<any>(
    "GET",
    "/subscription/user/status?external_id=mail&limit=10",
  );
  assert.equal(body.users.length, 1);
});

test("one click unsubscribes a reader without an address for mail from all groups, and the page says so", async () => {
  const link = await linkOf("<p>Page</p>", "text");
  const all = await workspace.call("POST", "/subscription/status/set", {
    subscription_group_id: idOf(1),
    subscription_state: "subscribed",
    external_id: ["text"],
  });
  assert.equal(all.status, 201);
  const click = await fetch(server.url + link, {
    method: "POST",
    body: new URLSearchParams({ "List-Unsubscribe": "One-Click" }),
  });
  assert.equal(click.status, 200);
});
