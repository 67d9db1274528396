/*
 * The default preference page as a workspace's own: brand, descriptions, only the channels that reach the reader, many
 * languages in both directions, what changed with a way back, and previews without a token.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  DEFAULT_CONFIRMATION,
  DEFAULT_PAGE,
} from "../../../src/features/preference-centers/default-page.ts";
import { DEFAULT_TEXTS } from "../../../src/features/preference-centers/default-texts.ts";
import { assertAbout } from "../../about-time.ts";
import { ALERTS, NEWSLETTER, startServer, type TestWorkspace } from "../../harness.ts";
import {
  emptyWorkspace,
  newsletterField,
  openPage,
  pageOf,
  stateOf,
  submit,
} from "../../preference-center-calls.ts";

const server = await startServer();

const CENTER = "6f0ae4ac-64a1-4d0f-9b38-8e3a1c4d5e61";
const BRAND = { company: "Acme & Sons", color: "#FFD400", color_dark: "#1a1a80" };

const withPage = (declared: object = {}) =>
  emptyWorkspace(server, {
    subscription_groups: [
      { id: NEWSLETTER, name: "Newsletter", channel: "email", description: "Once a month <new>" },
      { id: ALERTS, name: "Alerts", channel: "sms" },
    ],
    preference_centers: [{ id: CENTER, name: "main" }],
    ...declared,
  });

async function htmlFor(workspace: TestWorkspace, user: object, headers = {}): Promise<string> {
  await workspace.track({ attributes: [{ external_id: "ada", ...user }] });
  const { status, body } = await openPage(server, await pageOf(workspace, CENTER), headers);
  assert.equal(status, 200);
  return body;
}

const MAIL = { email: "ada@example.com" };
const PHONE = { phone: "+14155552671" };

describe("the brand of a workspace", () => {
  test("the default page shows its company, its logo and its colors, each with readable ink", async () => {
    const workspace = await withPage({ settings: { brand: BRAND } });
    const html = await htmlFor(workspace, MAIL);
    assert.match(html, /<p class="brand">Acme &amp; Sons<\/p>/);
    assert.match(html, /--accent: #FFD400; --on-accent: #000000;/);
    assert.match(html, /--accent: #1a1a80; --on-accent: #ffffff;/);
    const logo_url = "https://acme.example/logo.png?a=1&b=2";
    await server.admin("PUT", `/admin/v1/workspaces/${workspace.name}/settings`, {
      brand: { company: "Acme", logo_url },
    });
    const changed = await htmlFor(workspace, MAIL);
    assert.ok(changed.includes('<img src="https://acme.example/logo.png?a=1&amp;b=2" alt="Acme">'));
    assert.doesNotMatch(changed, /#FFD400/);
  });

  test("a brand that could break out of the page is refused with the name of its field", async () => {
    const { name } = await withPage();
    for (const [field, value] of [
      ["color", "red"],
      ["color", "#12345"],
      ["color_dark", "#123456;}"],
      ["logo_url", "javascript:alert(1)"],
      ["logo_url", "http://acme.example/logo.png"],
      ["logo_url", 'https://acme.example/"onerror='],
      ["logo_url", `data:image/png;base64,${"A".repeat(70_000)}`],
      ["logo_url", "data:text/html;base64,AAAA"],
      ["company", ""],
      ["company", "x".repeat(256)],
      ["slogan", "x"],
    ] as const) {
      const path = `/admin/v1/workspaces/${name}/settings`;
      const { status, body } = await server.admin("PUT", path, { brand: { [field]: value } });
      assert.equal(status, 400, `${field}: ${value}`);
      assert.match(body.message, new RegExp(field));
    }
  });

  test("pages of a team's own can use the brand and the descriptions", async () => {
    const page_html = `<p id="brand">{{ brand.company }} {{ brand.on_color }}</p>
{% for group in reachable_groups %}<p>{{ group.description }}</p>{% endfor %}`;
    const preference_centers = [{ id: CENTER, name: "main", page_html }];
    const workspace = await withPage({ settings: { brand: BRAND }, preference_centers });
    const html = await htmlFor(workspace, MAIL);
    assert.match(html, /Acme &amp; Sons #000000/);
    assert.match(html, /<p>Once a month &lt;new&gt;<\/p>/);
  });
});

describe("the groups of the default page", () => {
  test("a group is shown with its description, and only if the reader has an address of its channel", async () => {
    const [first, second, third] = [await withPage(), await withPage(), await withPage()];
    const [mail, phone, both] = [
      await htmlFor(first, MAIL),
      await htmlFor(second, PHONE),
      await htmlFor(third, { ...MAIL, ...PHONE }),
    ];
    assert.match(mail, /Newsletter<small><bdi>Once a month &lt;new&gt;<\/bdi> · Email<\/small>/);
    assert.doesNotMatch(mail, /Alerts/);
    assert.match(phone, /Alerts/);
    assert.doesNotMatch(phone, /Newsletter|Unsubscribe from all emails/);
    assert.ok(both.includes("Alerts") && both.includes("Newsletter"));
  });

  test("a reader without any address learns that nothing can be sent", async () => {
    const html = await htmlFor(await withPage(), {});
    assert.match(html, /We have no address to send you anything\./);
    assert.doesNotMatch(html, /<button/);
  });

  test("a description changes through a manifest and the admin API, and is part of the exported manifest", async () => {
    const workspace = await withPage();
    const path = `/admin/v1/workspaces/${workspace.name}`;
    const group = { name: "Newsletter", channel: "email" };
    await server.admin("PUT", `${path}/subscription-groups/${NEWSLETTER}`, {
      ...group,
      description: "Weekly",
    });
    const { body } = await server.admin("GET", `${path}/manifest`);
    const declared = body.manifest.workspaces[0].subscription_groups;
    assert.deepEqual(
      declared.map((each: any) => [each.name, each.description]),
      [
        ["Alerts", undefined],
        ["Newsletter", "Weekly"],
      ],
    );
    await server.admin("PUT", `${path}/subscription-groups/${NEWSLETTER}`, group);
    assert.match(await htmlFor(workspace, MAIL), /Newsletter<small>Email<\/small>/);
    const long = { ...group, description: "x".repeat(501) };
    const refused = await server.admin("PUT", `${path}/subscription-groups/${NEWSLETTER}`, long);
    assert.equal(refused.status, 400);
    assert.match(refused.body.message, /description/);
  });
});

describe("the confirmation", () => {
  test("the confirmation page lists only what changed, and its undo restores the choices before", async () => {
    const workspace = await withPage();
    await htmlFor(workspace, {
      ...MAIL,
      ...PHONE,
      subscription_groups: [
        { subscription_group_id: NEWSLETTER, subscription_state: "subscribed" },
        { subscription_group_id: ALERTS, subscription_state: "subscribed" },
      ],
    });
    const path = await pageOf(workspace, CENTER);
    const sent = {
      [newsletterField]: "unsubscribed",
      [`subscription_group_${ALERTS}`]: "subscribed",
    };
    const { html } = await submit(server, path, sent);
    assert.match(
      html,
      /You changed:[\s\S]*Newsletter<\/span>\s*<span class="state">Not subscribed/,
    );
    assert.doesNotMatch(html, /Alerts/);
    const fields = [...html.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]+)">/g)];
    const undo = fields.map(([, name = "", value = ""]) => [name, value] as [string, string]);
    assert.deepEqual(undo, [[newsletterField, "subscribed"]]);
    const undone = await submit(server, path, undo);
    assert.match(undone.html, /Newsletter<\/span>\s*<span class="state on">Subscribed/);
    assert.equal(await stateOf(workspace), "Subscribed");
  });

  test("unsubscribing from all emails is listed and undone to the state before", async () => {
    const workspace = await withPage();
    await htmlFor(workspace, { ...MAIL, email_subscribe: "opted_in" });
    const path = await pageOf(workspace, CENTER);
    const { html } = await submit(server, path, { email_global_state: "unsubscribed" });
    assert.match(html, /All emails<\/span>\s*<span class="state">Not subscribed/);
    assert.match(html, /name="email_global_state" value="opted_in"/);
    await submit(server, path, { email_global_state: "opted_in" });
    const { email_subscribe } = await workspace.profile({ external_ids: ["ada"] });
    assert.equal(email_subscribe, "opted_in");
  });

  test("choices that were saved already are said to be the same, without an undo", async () => {
    const workspace = await withPage();
    await htmlFor(workspace, MAIL);
    const path = await pageOf(workspace, CENTER);
    const { html } = await submit(server, path, { [newsletterField]: "unsubscribed" });
    assert.match(html, /Nothing is different from before\./);
    assert.doesNotMatch(html, /<button/);
  });
});

describe("the languages of the default page", () => {
  const ids = new Set(
    [...`${DEFAULT_PAGE}${DEFAULT_CONFIRMATION}`.matchAll(/\{% translation (\w+) %\}/g)].map(
      ([, id = ""]) => id,
    ),
  );
  const wanted = [...ids, "preference_center_title", "dead_link", "dead_link_help"].sort();

  test("there are more than twenty, each with every text", () => {
    assert.ok(Object.keys(DEFAULT_TEXTS).length >= 25);
    for (const [locale, texts] of Object.entries(DEFAULT_TEXTS)) {
      assert.deepEqual(Object.keys(texts).sort(), wanted, locale);
    }
  });

  test("each language is rendered with its own lang and direction", async () => {
    const workspace = await withPage();
    for (const [locale, texts] of Object.entries(DEFAULT_TEXTS)) {
      const html = await htmlFor(workspace, MAIL, { "accept-language": locale });
      const direction = ["ar", "he", "fa"].includes(locale) ? "rtl" : "ltr";
      assert.ok(html.includes(`<html lang="${locale}" dir="${direction}">`), locale);
      assert.ok(html.includes(`<h1>${texts.heading}</h1>`), locale);
      assert.ok(html.includes("<strong>ada@example.com</strong>"), locale);
    }
  });
});

describe("a link that leads nowhere", () => {
  test("an unusable link shows the same page for every reason, in the browser's language, and says what to do", async () => {
    const workspace = await withPage();
    await htmlFor(workspace, MAIL);
    const link = await pageOf(workspace, CENTER);
    await workspace.call("POST", "/users/delete", { external_ids: ["ada"] });
    const dead = [link, "/preferences/x", "/preferences/AAAA", "/preference-previews/AAAA"];
    for (const path of dead) {
      const { status, body } = await openPage(server, path);
      assert.equal(status, 404, path);
      assert.match(
        body,
        /<h1>This link is invalid or has expired<\/h1><p>A part of it may be missing/,
      );
    }
    const { body } = await openPage(server, "/preferences/x", { "accept-language": "ar" });
    assert.match(body, /<html lang="ar" dir="rtl">/);
    assert.ok(body.includes(DEFAULT_TEXTS.ar?.dead_link_help ?? "?"));
  });
});

describe("a link to a preview", () => {
  const linkOf = async (workspace: TestWorkspace, body: object = {}, center = CENTER) =>
    server.admin(
      "POST",
      `/admin/v1/workspaces/${workspace.name}/preference-centers/${center}/preview-link`,
      body,
    );

  test("opens for ten minutes without any header, as a sample user in the asked language", async () => {
    const preference_centers = [{ id: CENTER, name: "main", state: "draft" }];
    const workspace = await withPage({ preference_centers, settings: { brand: BRAND } });
    const { status, body } = await linkOf(workspace, { locale: "he" });
    assert.equal(status, 201);
    assertAbout(body.expires_at, Date.now() + 10 * 60_000);
    const shown = await fetch(body.url);
    const html = await shown.text();
    assert.equal(shown.status, 200);
    assert.match(html, /<html lang="he" dir="rtl">/);
    assert.match(html, /sam\.sample@example\.com/);
    assert.match(html, /Acme &amp; Sons/);
    assert.match(shown.headers.get("content-security-policy") ?? "", /form-action 'none'/);
    const confirmation = await linkOf(workspace, { page: "confirmation" });
    assert.match(await (await fetch(confirmation.body.url)).text(), /Your choices are saved/);
  });

  test("a preview link that is created can be opened, because a longer locale is refused", async () => {
    const workspace = await withPage();
    const { body } = await linkOf(workspace, { locale: "x".repeat(64) });
    assert.equal((await fetch(body.url)).status, 200);
    assert.equal((await linkOf(workspace, { locale: "x".repeat(65) })).status, 400);
  });

  test("a forged link, a link to a user's page and a link of a removed center open nothing", async () => {
    const workspace = await withPage();
    await htmlFor(workspace, MAIL);
    const { body } = await linkOf(workspace);
    const url = new URL(body.url);
    const link = url.pathname.split("/").at(-1) ?? "";
    const flipped = `${link.slice(0, 30)}${link[30] === "A" ? "B" : "A"}${link.slice(31)}`;
    const ofUser = (await pageOf(workspace, CENTER)).split("/").at(-1);
    for (const path of [
      `/preference-previews/${flipped}`,
      `/preference-previews/${link}A`,
      `/preference-previews/${link.slice(0, -4)}`,
      `/preference-previews/${ofUser}`,
      `/preferences/${link}`,
      `/preference-previews/${"A".repeat(2_048)}`,
    ]) {
      assert.equal((await openPage(server, path)).status, 404, path);
    }
    await server.admin(
      "DELETE",
      `/admin/v1/workspaces/${workspace.name}/preference-centers/${CENTER}`,
    );
    assert.equal((await openPage(server, url.pathname)).status, 404);
    assert.equal((await linkOf(workspace, {}, "no-such-center")).status, 404);
    assert.equal((await linkOf(workspace, { external_id: "ada" })).status, 400);
  });
});
