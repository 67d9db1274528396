/* The hosted page: its contents, the changes of its form, and its reader. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ALERTS, NEWSLETTER, startServer } from "../../harness.ts";
import {
  createCenter,
  emailStateOf,
  emptyWorkspace,
  htmlOf,
  newsletterField,
  opened,
  openPage,
  pageOf,
  stateOf,
  submit,
  textIn,
} from "../../preference-center-calls.ts";

const server = await startServer();

describe("a preference page", () => {
  test("a preference page shows the current email state and group states", async () => {
    const { workspace, path } = await opened(server);
    const before = await htmlOf(server, path);
    assert.equal(textIn(before, "global"), "subscribed");
    assert.equal(textIn(before, "group"), "subscribed");
    assert.match(before, /value="subscribed" checked>/);
    await workspace.call("POST", "/email/status", {
      email: "ada@example.com",
      subscription_state: "opted_in",
    });
    await workspace.call("POST", "/subscription/status/set", {
      subscription_group_id: NEWSLETTER,
      subscription_state: "unsubscribed",
      external_id: "ada",
    });
    const after = await htmlOf(server, path);
    assert.equal(textIn(after, "global"), "opted_in");
    assert.equal(textIn(after, "group"), "unsubscribed");
    assert.match(after, /value="subscribed">/);
  });

  test("a preference page shows a user without a group state as unsubscribed", async () => {
    const { path } = await opened(server, {}, { external_id: "ada" });
    assert.equal(textIn(await htmlOf(server, path), "group"), "unsubscribed");
  });

  test("a preference page provides the form field names for the email state and for a group", async () => {
    const html = await htmlOf(server, (await opened(server)).path);
    assert.match(html, /<select name="email_global_state">/);
    assert.ok(html.includes(`<input type="checkbox" name="${newsletterField}"`));
  });

  test("a preference page provides the submit URL of its form as a Liquid output and as a tag", async () => {
    const { path } = await opened(server, {
      preference_center_page_html:
        '<form action="{{preference_center_submit_url}}"></form><form action="{% preference_center_submit_url %}"></form>',
    });
    const actions = [...(await htmlOf(server, path)).matchAll(/action="([^"]*)"/g)].map(
      (each) => each[1],
    );
    assert.deepEqual(actions, [path, path]);
  });

  test("a preference page shows the user's email", async () => {
    assert.equal(
      textIn(await htmlOf(server, (await opened(server)).path), "email"),
      "Ada@example.com",
    );
  });

  test("a preference page shows standard and custom attributes, and defaults for missing ones", async () => {
    const page = `<p id="first">{{\${first_name} | default: 'you'}}</p><p id="plan">{{custom_attribute.\${plan}}}</p>
<p id="odd">{{custom_attribute.\${odd name (1.0)}}}</p><p id="deep">{{custom_attribute.\${home}.city}}</p>
<p id="list">{% for each in custom_attribute.\${likes} %}{{each}};{% endfor %}</p>
<p id="all">{{\${last_name}}}|{{\${city}}}|{{\${country}}}|{{\${language}}}|{{\${user_id}}}|{{\${phone_number}}}</p>`;
    const { workspace, path } = await opened(server, { preference_center_page_html: page });
    const before = await htmlOf(server, path);
    assert.equal(textIn(before, "first"), "Ada");
    assert.equal(textIn(before, "plan"), "gold");
    assert.equal(textIn(before, "odd"), "");
    await workspace.track({
      attributes: [
        {
          external_id: "ada",
          first_name: null,
          last_name: "Byron",
          home_city: "London",
          country: "GB",
          language: "en",
          phone: "+14155552671",
          "odd name (1.0)": 7,
          home: { city: "Bath" },
          likes: ["tea", "<maths>"],
        },
      ],
    });
    const after = await htmlOf(server, path);
    assert.equal(textIn(after, "first"), "you");
    assert.equal(textIn(after, "odd"), "7");
    assert.equal(textIn(after, "deep"), "Bath");
    assert.equal(textIn(after, "list"), "tea;&lt;maths&gt;;");
    assert.equal(textIn(after, "all"), "Byron|London|GB|en|ada|+14155552671");
  });

  test("a preference page is a complete document: a missing title, viewport or icon is added", async () => {
    const { path } = await opened(server, {
      preference_center_page_html: "<p>Only this</p>",
      preference_center_title: "Tea & {{ 1 | plus: 1 }}",
      options: {
        "meta-viewport-content": "width=320",
        "links-tags": [{ rel: "icon", type: "image/png", href: "https://x.example/i.png" }],
      },
    });
    const html = await htmlOf(server, path);
    assert.ok(html.startsWith('<!doctype html><html lang="en"><head><meta charset="utf-8">'));
    assert.ok(html.includes('<meta name="viewport" content="width=320">'));
    assert.ok(html.includes("<title>Tea &#38; &#123;&#123; 1 | plus: 1 &#125;&#125;</title>"));
    assert.ok(html.includes('<link rel="icon" href="https://x.example/i.png" type="image/png">'));
    assert.ok(html.endsWith("<body><p>Only this</p></body></html>"));
    const own =
      '<!doctype html><html><head><title>Own</title><meta name="viewport" content="own"></head><body></body></html>';
    const { path: ownPath } = await opened(server, { preference_center_page_html: own });
    const ownHtml = await htmlOf(server, ownPath);
    assert.equal(ownHtml.match(/<title>/g)?.length, 1);
    assert.equal(ownHtml.match(/name="viewport"/g)?.length, 1);
  });

  test("the headers of a preference page forbid scripts, framing, caching and indexing", async () => {
    const { headers } = await openPage(server, (await opened(server)).path);
    const policy = headers.get("content-security-policy") ?? "";
    for (const part of [
      "default-src 'none'",
      "form-action 'self'",
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ]) {
      assert.ok(policy.includes(part), part);
    }
    assert.ok(!policy.includes("script"));
    assert.equal(headers.get("cache-control"), "no-store");
    assert.equal(headers.get("referrer-policy"), "no-referrer");
    assert.equal(headers.get("x-content-type-options"), "nosniff");
    assert.match(headers.get("x-robots-tag") ?? "", /noindex/);
    assert.match(headers.get("content-type") ?? "", /^text\/html; charset=utf-8/);
  });

  test("a change of a preference center appears on the next view of its page", async () => {
    const { workspace, centerId, path } = await opened(server);
    await htmlOf(server, path);
    const body = { preference_center_page_html: "<p>New</p>", confirmation_page_html: "<p>x</p>" };
    await workspace.call("PUT", `/preference_center/v1/${centerId}`, body);
    assert.match(await htmlOf(server, path), /<p>New<\/p>/);
  });

  test("users who open preference pages at the same time each get their own page", async () => {
    const workspace = await emptyWorkspace(server);
    const names = Array.from({ length: 40 }, (_, index) => `user-${index}`);
    await workspace.track({
      attributes: names.map((external_id) => ({ external_id, first_name: `I am ${external_id}` })),
    });
    const centerId = await createCenter(workspace);
    const paths = await Promise.all(names.map((name) => pageOf(workspace, centerId, name)));
    const pages = await Promise.all(paths.map((path) => htmlOf(server, path)));
    assert.deepEqual(
      pages.map((html) => textIn(html, "first")),
      names.map((name) => `I am ${name}`),
    );
  });

  test("a preference page that cannot be rendered is replaced by a default page that can unsubscribe", async () => {
    const page = `{% for a in custom_attribute.\${list} %}{% for b in custom_attribute.\${list} %}{% for c in custom_attribute.\${list} %}{% for d in custom_attribute.\${list} %}0123456789{% endfor %}{% endfor %}{% endfor %}{% endfor %}`;
    const { workspace, path } = await opened(server, { preference_center_page_html: page });
    const before = await htmlOf(server, path);
    assert.ok(!before.includes("<form"));
    const list = Array.from({ length: 100 }, (_, index) => `item ${index}`);
    await workspace.track({ attributes: [{ external_id: "ada", list }] });
    const html = await htmlOf(server, path);
    assert.ok(html.includes('name="email_global_state" value="unsubscribed"'));
    assert.ok(html.length < 20_000);
  });
});

describe("the form of a preference page", () => {
  test("submitting a preference form changes group and email states with history and shows the confirmation", async () => {
    const { workspace, path } = await opened(server);
    const { status, html } = await submit(server, path, {
      [newsletterField]: "unsubscribed",
      [`subscription_group_${ALERTS}`]: "subscribed",
      email_global_state: "opted_in",
      survey: "something of the team's own",
    });
    assert.equal(status, 200);
    assert.equal(textIn(html, "done"), "Saved for Ada: unsubscribed");
    assert.equal(await stateOf(workspace), "Unsubscribed");
    assert.equal(await stateOf(workspace, ALERTS), "Subscribed");
    assert.equal(await emailStateOf(workspace), "opted_in");
    const { body } = await server.admin(
      "GET",
      `/admin/v1/workspaces/${workspace.name}/subscription-history?external_id=ada`,
    );
    const byPage = body.changes.filter((each: any) => each.call === "POST /preferences/:link");
    assert.deepEqual(
      byPage.map((each: any) => [each.subscription_group_id, each.subscription_state]).sort(),
      [
        [ALERTS, "subscribed"],
        [NEWSLETTER, "unsubscribed"],
        [null, "opted_in"],
      ].sort(),
    );
    for (const each of byPage) assert.equal(each.key_name, null);
  });

  test("a preference form updates all users who share the email address", async () => {
    const { workspace, path } = await opened(server);
    await workspace.track({ attributes: [{ external_id: "eve", email: "ada@example.com" }] });
    await submit(server, path, { [newsletterField]: "unsubscribed" });
    assert.equal(await stateOf(workspace, NEWSLETTER, "eve"), "Unsubscribed");
  });

  test("an unticked box unsubscribes without a script or a hidden field in the page template", async () => {
    const { workspace, path } = await opened(server);
    const html = await htmlOf(server, path);
    const sent = [...html.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]+)">/g)].map(
      ([, name = "", value = ""]): [string, string] => [name, value],
    );
    assert.deepEqual(sent, [[newsletterField, "unsubscribed"]]);
    await submit(server, path, sent);
    assert.equal(await stateOf(workspace), "Unsubscribed");
    await submit(server, path, [...sent, [newsletterField, "subscribed"]]);
    assert.equal(await stateOf(workspace), "Subscribed");
  });

  test("a ticked box without a value subscribes, and a hidden field in the page template is not duplicated", async () => {
    const name = `name="{% form_field_name :subscription_group ${NEWSLETTER} %}"`;
    const page = `<form><input type="hidden" ${name} value="unsubscribed"><input ${name} type=checkbox></form>`;
    const { workspace, path } = await opened(server, { preference_center_page_html: page });
    assert.equal((await htmlOf(server, path)).match(/type="hidden"/g)?.length, 1);
    await submit(server, path, [
      [newsletterField, "unsubscribed"],
      [newsletterField, "on"],
      ["email_global_state", "on"],
    ]);
    assert.equal(await stateOf(workspace), "Subscribed");
    assert.equal(await emailStateOf(workspace), "opted_in");
  });

  describe("the hidden field for an unticked box", () => {
    const name = `name="{% form_field_name :subscription_group ${NEWSLETTER} %}"`;
    const hiddenIn = (html: string) =>
      [...html.matchAll(/<input type="hidden" name="?([\w-]+)"? value="([^"]+)">/g)].map(
        ([, field, value]) => [field, value],
      );
    const UNTICKED = [newsletterField, "unsubscribed"];

    test("a box in any rendered Liquid branch gets a hidden field for its unticked state", async () => {
      const state = `subscribed_state.\${${NEWSLETTER}}`;
      const { workspace, path } = await opened(server, {
        preference_center_page_html: `<form>{% if ${state} == "unsubscribed" %}<input type="checkbox" ${name}>
{% else %}<input type="checkbox" ${name} checked>{% endif %}</form>`,
      });
      for (const _state of ["subscribed", "unsubscribed"]) {
        const sent = hiddenIn(await htmlOf(server, path)) as [string, string][];
        assert.deepEqual(sent, [UNTICKED]);
        assert.equal((await submit(server, path, sent)).status, 200);
        assert.equal(await stateOf(workspace), "Unsubscribed");
      }
    });

    test("a box that unsubscribes when ticked gets no hidden field", async () => {
      const { path } = await opened(server, {
        preference_center_page_html: `<form><input type="checkbox" ${name} value="unsubscribed">
<input type="checkbox" name="{% form_field_name :email_global_state %}" value="unsubscribed"></form>`,
      });
      assert.deepEqual(hiddenIn(await htmlOf(server, path)), []);
    });

    test("each form of a page gets its own hidden field for an unticked box", async () => {
      const { path } = await opened(server, {
        preference_center_page_html: `<form><input type="hidden" ${name} value="unsubscribed"></form>
<form><input type="checkbox" ${name}></form>`,
      });
      assert.deepEqual(hiddenIn(await htmlOf(server, path)), [UNTICKED, UNTICKED]);
    });

    test("a box with an unquoted name attribute gets a hidden field for its unticked state", async () => {
      const { path } = await opened(server, {
        preference_center_page_html: `<form action={% preference_center_submit_url %} method=post>
<input name={% form_field_name :subscription_group ${NEWSLETTER} %} type=checkbox></form>`,
      });
      const html = await htmlOf(server, path);
      assert.ok(html.includes(`<form action=${path} method=post>`));
      assert.deepEqual(hiddenIn(html), [UNTICKED]);
    });
  });

  test("submitting a preference form redirects to the URL of the center if it has one", async () => {
    const { workspace, path } = await opened(server, {
      redirect_page_html: "https://shop.example/dank?ä",
    });
    const { headers } = await openPage(server, path);
    assert.match(
      headers.get("content-security-policy") ?? "",
      /form-action 'self' https:\/\/shop\.example;/,
    );
    const answer = await submit(server, path, { [newsletterField]: "unsubscribed" });
    assert.equal(answer.status, 303);
    assert.equal(answer.headers.get("location"), "https://shop.example/dank?%C3%A4");
    assert.equal(await stateOf(workspace), "Unsubscribed");
  });

  test("a preference form without a valid choice changes nothing and gets a 400 page that says so", async () => {
    const { workspace, path } = await opened(server);
    const forms: Record<string, string>[] = [
      {},
      { survey: "x" },
      { [newsletterField]: "" },
      { [newsletterField]: "maybe" },
      { [newsletterField]: "opted_in" },
      { [newsletterField]: "toString" },
      { email_global_state: "Subscribed" },
      { "subscription_group_no-such-group": "subscribed" },
      { subscription_group_: "subscribed" },
      { "List-Unsubscribe": "yes" },
    ];
    for (const form of forms) {
      const { status, html } = await submit(server, path, form);
      assert.equal(status, 400, JSON.stringify(form));
      assert.match(html, /^<!doctype html>[\s\S]*othing was changed/);
    }
    assert.equal(await stateOf(workspace), "Subscribed");
    assert.equal(await emailStateOf(workspace), "subscribed");
  });

  test("a preference form of another type, malformed or too large, is refused with an HTML page", async () => {
    const { path } = await opened(server);
    const send = (type: string, raw: string) =>
      server.send("POST", path, undefined, { raw, headers: { "content-type": type } });
    const large = `survey=${"x".repeat(300_000)}`;
    for (const [type, raw, status] of [
      ["application/json", "{}", 415],
      ["text/plain", "x=y", 415],
      ["multipart/form-data", "no boundary", 400],
      ["multipart/form-data; boundary=b", "--c\r\nno part", 400],
      ["application/x-www-form-urlencoded", large, 413],
    ] as const) {
      const answer = await send(type, raw);
      assert.equal(answer.status, status, type);
      assert.match(answer.headers.get("content-type") ?? "", /^text\/html/);
    }
    assert.equal((await server.send("PUT", path, {})).status, 405);
  });

  test("a user without an email address can choose groups on a preference page, but no email state", async () => {
    const { workspace, path } = await opened(server, {}, { external_id: "ada" });
    const both = { [newsletterField]: "subscribed", email_global_state: "unsubscribed" };
    assert.equal((await submit(server, path, both)).status, 200);
    assert.equal(await stateOf(workspace), "Subscribed");
    assert.equal((await submit(server, path, { email_global_state: "subscribed" })).status, 400);
  });
});

test("a page whose stored text has a fault that an earlier version did not find is shown as the built-in page", async () => {
  const workspace = await emptyWorkspace(server);
  const page = `<h1>{% translation preference_center_title %}Mine{% endtranslation %}</h1>
<form method="post" action="{{ preference_center_submit_url }}"></form>`;
  const translations = { es: { preference_center_title: "Preferencias" } };
  const id = await createCenter(workspace, { preference_center_page_html: page, translations });
  await workspace.track({ attributes: [{ external_id: "ada", language: "es" }] });
  const path = await pageOf(workspace, id, "ada");
  assert.match(await htmlOf(server, path), /<h1>Preferencias<\/h1>/);
  await server.database.query(
    `update preference_centers set revision = gen_random_uuid(),
       translations = '{"es": {"preference_center_title": "Preferencias {{"}}' where center_id::text = $1`,
    [id],
  );
  assert.equal((await openPage(server, path)).status, 200);
  const html = await htmlOf(server, path);
  assert.match(html, /<form/);
  assert.doesNotMatch(html, /Mine/);
});
