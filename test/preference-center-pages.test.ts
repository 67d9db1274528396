/* The hosted page: what it shows, what its form changes, and whom it is shown to. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ALERTS, NEWSLETTER, startServer, type TestServer, type TestWorkspace } from "./harness.ts";
import {
  createCenter,
  emptyWorkspace,
  newsletterField,
  openPage,
  pageOf,
  stateOf,
  submit,
  textIn,
} from "./preference-center-calls.ts";

const server = await startServer();

const ADA = {
  external_id: "ada",
  email: "Ada@example.com",
  first_name: "Ada",
  plan: "gold",
  subscription_groups: [{ subscription_group_id: NEWSLETTER, subscription_state: "subscribed" }],
};

interface Opened {
  readonly workspace: TestWorkspace;
  readonly centerId: string;
  readonly path: string;
}

/** A workspace with Ada in it, a center, and her page. */
async function opened(changes: Record<string, unknown> = {}, ada: object = ADA): Promise<Opened> {
  const workspace = await emptyWorkspace(server);
  await workspace.track({ attributes: [ada] });
  const centerId = await createCenter(workspace, changes);
  return { workspace, centerId, path: await pageOf(workspace, centerId) };
}

const htmlOf = async (path: string, headers: Record<string, string> = {}): Promise<string> => {
  const answer = await openPage(server, path, headers);
  assert.equal(answer.status, 200);
  return answer.body;
};

const emailStateOf = async (workspace: TestWorkspace, userId = "ada") =>
  (await workspace.profile({ external_ids: [userId] })).email_subscribe;

describe("a page", () => {
  test("shows the email state and the states of groups as they are", async () => {
    const { workspace, path } = await opened();
    const before = await htmlOf(path);
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
    const after = await htmlOf(path);
    assert.equal(textIn(after, "global"), "opted_in");
    assert.equal(textIn(after, "group"), "unsubscribed");
    assert.match(after, /value="subscribed">/);
  });

  test("shows who was never given a state as not subscribed", async () => {
    const { path } = await opened({}, { external_id: "ada" });
    assert.equal(textIn(await htmlOf(path), "group"), "unsubscribed");
  });

  test("gives the names of the fields for the email state and for a group", async () => {
    const html = await htmlOf((await opened()).path);
    assert.match(html, /<select name="email_global_state">/);
    assert.ok(html.includes(`<input type="checkbox" name="${newsletterField}"`));
  });

  test("gives the address that the form is sent to, as an output and as a tag", async () => {
    const { path } = await opened({
      preference_center_page_html:
        '<form action="{{preference_center_submit_url}}"></form><form action="{% preference_center_submit_url %}"></form>',
    });
    const actions = [...(await htmlOf(path)).matchAll(/action="([^"]*)"/g)].map((each) => each[1]);
    assert.deepEqual(actions, [path, path]);
  });

  test("shows the user's email", async () => {
    assert.equal(textIn(await htmlOf((await opened()).path), "email"), "Ada@example.com");
  });

  test("shows standard attributes, custom attributes, and defaults for what is not there", async () => {
    const page = `<p id="first">{{\${first_name} | default: 'you'}}</p><p id="plan">{{custom_attribute.\${plan}}}</p>
<p id="odd">{{custom_attribute.\${odd name (1.0)}}}</p><p id="deep">{{custom_attribute.\${home}.city}}</p>
<p id="list">{% for each in custom_attribute.\${likes} %}{{each}};{% endfor %}</p>
<p id="all">{{\${last_name}}}|{{\${city}}}|{{\${country}}}|{{\${language}}}|{{\${user_id}}}|{{\${phone_number}}}</p>`;
    const { workspace, path } = await opened({ preference_center_page_html: page });
    const before = await htmlOf(path);
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
    const after = await htmlOf(path);
    assert.equal(textIn(after, "first"), "you");
    assert.equal(textIn(after, "odd"), "7");
    assert.equal(textIn(after, "deep"), "Bath");
    assert.equal(textIn(after, "list"), "tea;&lt;maths&gt;;");
    assert.equal(textIn(after, "all"), "Byron|London|GB|en|ada|+14155552671");
  });

  test("is a whole document: title, viewport and icons are added where they are missing", async () => {
    const { path } = await opened({
      preference_center_page_html: "<p>Only this</p>",
      preference_center_title: "Tea & {{ 1 | plus: 1 }}",
      options: {
        "meta-viewport-content": "width=320",
        "links-tags": [{ rel: "icon", type: "image/png", href: "https://x.example/i.png" }],
      },
    });
    const html = await htmlOf(path);
    assert.ok(html.startsWith('<!doctype html><html lang="en"><head><meta charset="utf-8">'));
    assert.ok(html.includes('<meta name="viewport" content="width=320">'));
    assert.ok(html.includes("<title>Tea &#38; &#123;&#123; 1 | plus: 1 &#125;&#125;</title>"));
    assert.ok(html.includes('<link rel="icon" href="https://x.example/i.png" type="image/png">'));
    assert.ok(html.endsWith("<body><p>Only this</p></body></html>"));
    const own =
      '<!doctype html><html><head><title>Own</title><meta name="viewport" content="own"></head><body></body></html>';
    const { path: ownPath } = await opened({ preference_center_page_html: own });
    const ownHtml = await htmlOf(ownPath);
    assert.equal(ownHtml.match(/<title>/g)?.length, 1);
    assert.equal(ownHtml.match(/name="viewport"/g)?.length, 1);
  });

  test("is told to browsers as one person's, which runs and embeds nothing", async () => {
    const { headers } = await openPage(server, (await opened()).path);
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

  test("changes for the next view when its center does", async () => {
    const { workspace, centerId, path } = await opened();
    await htmlOf(path);
    const body = { preference_center_page_html: "<p>New</p>", confirmation_page_html: "<p>x</p>" };
    await workspace.call("PUT", `/preference_center/v1/${centerId}`, body);
    assert.match(await htmlOf(path), /<p>New<\/p>/);
  });

  test("many at once get each their own", async () => {
    const workspace = await emptyWorkspace(server);
    const names = Array.from({ length: 40 }, (_, index) => `user-${index}`);
    await workspace.track({
      attributes: names.map((external_id) => ({ external_id, first_name: `I am ${external_id}` })),
    });
    const centerId = await createCenter(workspace);
    const paths = await Promise.all(names.map((name) => pageOf(workspace, centerId, name)));
    const pages = await Promise.all(paths.map((path) => htmlOf(path)));
    assert.deepEqual(
      pages.map((html) => textIn(html, "first")),
      names.map((name) => `I am ${name}`),
    );
  });

  test("that cannot be rendered for somebody gives way to the ready one, which can unsubscribe", async () => {
    const page = `{% for a in custom_attribute.\${list} %}{% for b in custom_attribute.\${list} %}{% for c in custom_attribute.\${list} %}{% for d in custom_attribute.\${list} %}0123456789{% endfor %}{% endfor %}{% endfor %}{% endfor %}`;
    const { workspace, path } = await opened({ preference_center_page_html: page });
    const before = await htmlOf(path);
    assert.ok(!before.includes("<form"));
    const list = Array.from({ length: 100 }, (_, index) => `item ${index}`);
    await workspace.track({ attributes: [{ external_id: "ada", list }] });
    const html = await htmlOf(path);
    assert.ok(html.includes('name="email_global_state" value="unsubscribed"'));
    assert.ok(html.length < 20_000);
  });
});

describe("the form of a page", () => {
  test("changes group and email states as the API does, with history, and shows the confirmation", async () => {
    const { workspace, path } = await opened();
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

  test("reaches everybody who shares the address", async () => {
    const { workspace, path } = await opened();
    await workspace.track({ attributes: [{ external_id: "eve", email: "ada@example.com" }] });
    await submit(server, path, { [newsletterField]: "unsubscribed" });
    assert.equal(await stateOf(workspace, NEWSLETTER, "eve"), "Unsubscribed");
  });

  test("an unticked box unsubscribes, without a script and without a hidden field in the page", async () => {
    const { workspace, path } = await opened();
    const html = await htmlOf(path);
    const sent = [...html.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]+)">/g)].map(
      ([, name = "", value = ""]): [string, string] => [name, value],
    );
    assert.deepEqual(sent, [[newsletterField, "unsubscribed"]]);
    await submit(server, path, sent);
    assert.equal(await stateOf(workspace), "Unsubscribed");
    await submit(server, path, [...sent, [newsletterField, "subscribed"]]);
    assert.equal(await stateOf(workspace), "Subscribed");
  });

  test("a ticked box without a value subscribes; a hidden field of the page's own is not doubled", async () => {
    const name = `name="{% form_field_name :subscription_group ${NEWSLETTER} %}"`;
    const page = `<form><input type="hidden" ${name} value="unsubscribed"><input ${name} type=checkbox></form>`;
    const { workspace, path } = await opened({ preference_center_page_html: page });
    assert.equal((await htmlOf(path)).match(/type="hidden"/g)?.length, 1);
    await submit(server, path, [
      [newsletterField, "unsubscribed"],
      [newsletterField, "on"],
      ["email_global_state", "on"],
    ]);
    assert.equal(await stateOf(workspace), "Subscribed");
    assert.equal(await emailStateOf(workspace), "opted_in");
  });

  test("goes on to the center's address where it has one", async () => {
    const { workspace, path } = await opened({ redirect_page_html: "https://shop.example/dank?ä" });
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

  test("what holds no choice, or one that there is not, changes nothing and says so", async () => {
    const { workspace, path } = await opened();
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
      assert.match(html, /^<!doctype html>[^]*othing was changed/);
    }
    assert.equal(await stateOf(workspace), "Subscribed");
    assert.equal(await emailStateOf(workspace), "subscribed");
  });

  test("of another kind, or too large, is refused on a page", async () => {
    const { path } = await opened();
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

  test("a person without an address can choose groups, and an email state is left out", async () => {
    const { workspace, path } = await opened({}, { external_id: "ada" });
    const both = { [newsletterField]: "subscribed", email_global_state: "unsubscribed" };
    assert.equal((await submit(server, path, both)).status, 200);
    assert.equal(await stateOf(workspace), "Subscribed");
    assert.equal((await submit(server, path, { email_global_state: "subscribed" })).status, 400);
  });
});

describe("one click in a mail program (RFC 8058)", () => {
  const oneClick = async (path: string, body: FormData | URLSearchParams) => {
    body.set("List-Unsubscribe", "One-Click");
    const url = server.url + path;
    return fetch(url, { method: "POST", body, redirect: "manual" });
  };

  for (const [kind, form] of [
    ["urlencoded", () => new URLSearchParams()],
    ["multipart", () => new FormData()],
  ] as const) {
    test(`unsubscribes from all mail, sent as ${kind}, without a redirect`, async () => {
      const { workspace, path } = await opened({ redirect_page_html: "https://shop.example/" });
      assert.equal((await oneClick(path, form())).status, 200);
      assert.equal(await emailStateOf(workspace), "unsubscribed");
      assert.equal(await stateOf(workspace), "Subscribed");
      assert.equal((await oneClick(path, form())).status, 200);
    });
  }

  test("opening the link, as programs that look at links do, changes nothing", async () => {
    const { workspace, path } = await opened();
    await htmlOf(path);
    await fetch(server.url + path, { method: "HEAD" });
    assert.equal(await emailStateOf(workspace), "subscribed");
  });

  test("leaves every group where there is no address any more", async () => {
    const { workspace, path } = await opened();
    await workspace.track({ attributes: [{ external_id: "ada", email: null }] });
    assert.equal((await oneClick(path, new URLSearchParams())).status, 200);
    assert.equal(await stateOf(workspace), "Unsubscribed");
    assert.equal(await stateOf(workspace, ALERTS), "Unsubscribed");
  });
});

describe("a link", () => {
  const assertTellsNothing = async (
    path: string,
    expected: string,
    target: TestServer = server,
  ) => {
    for (const method of ["GET", "POST"]) {
      const response = await fetch(target.url + path, {
        method,
        ...(method === "POST" && {
          body: new URLSearchParams({ [newsletterField]: "unsubscribed" }),
        }),
      });
      assert.equal(response.status, 404, `${method} ${path}`);
      assert.equal(await response.text(), expected);
    }
  };
  const flip = (path: string, index: number) => {
    const at = "/preferences/".length + index;
    return path.slice(0, at) + (path[at] === "A" ? "B" : "A") + path.slice(at + 1);
  };

  test("that is forged or altered in any place shows one friendly page that tells nothing", async () => {
    const { workspace, path } = await opened();
    const refusal = await openPage(server, "/preferences/x");
    assert.equal(refusal.status, 404);
    assert.match(refusal.body, /This link does not work/);
    assert.ok(!refusal.body.includes(workspace.name));
    const length = path.length - "/preferences/".length;
    for (const index of [0, 5, 21, 24, 30, 45, 60, length - 2]) {
      await assertTellsNothing(flip(path, index), refusal.body);
    }
    for (const other of [
      `${path}A`,
      path.slice(0, -1),
      `${path}=`,
      `${path}%20`,
      "/preferences/%00",
      `/preferences/${"A".repeat(90)}`,
      `/preferences/${"A".repeat(3_000)}`,
      "/preferences/%F0%9F%98%80",
    ]) {
      const answer = await openPage(server, other);
      assert.ok([400, 404].includes(answer.status), other);
      assert.match(answer.headers.get("content-type") ?? "", /^text\/html/);
    }
    assert.equal(await stateOf(workspace), "Subscribed");
  });

  test("to somebody deleted, to a center that is gone or a draft shows the same page", async () => {
    const refusal = (await openPage(server, "/preferences/x")).body;
    const deleted = await opened();
    await deleted.workspace.call("POST", "/users/delete", { external_ids: ["ada"] });
    await assertTellsNothing(deleted.path, refusal);
    const draft = await opened({ state: "draft" });
    await assertTellsNothing(draft.path, refusal);
    const gone = await opened();
    const { name } = gone.workspace;
    await server.admin(
      "DELETE",
      `/admin/v1/workspaces/${name}/preference-centers/${gone.centerId}`,
    );
    await assertTellsNothing(gone.path, refusal);
    const reset = await opened();
    await server.admin("POST", `/admin/v1/workspaces/${reset.workspace.name}/reset`);
    await assertTellsNothing(reset.path, refusal);
  });

  test("made by another installation, with a key of its own, does not open", async () => {
    const other = await startServer();
    const workspace = await emptyWorkspace(other);
    await workspace.track({ attributes: [{ external_id: "ada" }] });
    const path = await pageOf(workspace, await createCenter(workspace));
    const refusal = (await openPage(server, "/preferences/x")).body;
    await assertTellsNothing(path, refusal);
  });

  test("leads on to the same person after a rename, an alias and a merge", async () => {
    const { workspace, path } = await opened();
    await workspace.track({ attributes: [{ external_id: "kept", first_name: "Kept" }] });
    await workspace.call("POST", "/users/merge", {
      merge_updates: [
        {
          identifier_to_merge: { external_id: "ada" },
          identifier_to_keep: { external_id: "kept" },
        },
      ],
    });
    assert.equal(textIn(await htmlOf(path), "first"), "Kept");
    await submit(server, path, { [newsletterField]: "unsubscribed" });
    assert.equal(await stateOf(workspace, NEWSLETTER, "kept"), "Unsubscribed");
  });
});

describe("the language of a page", () => {
  const page = `<html><body><h1 id="h">{% translation hello %}Hello {{\${first_name}}}{% endtranslation %}</h1>
<p id="m">{% translation more %}More{% endtranslation %}</p><p id="l">{{preference_center_locale}}</p></body></html>`;
  const translations = {
    es: { hello: "Hola {{${first_name}}}", preference_center_title: "Preferencias" },
    "es-MX": { hello: "Qué onda {{${first_name}}}" },
    "pt-BR": { hello: "Olá", more: "Mais" },
  };
  const seen = (html: string) => [textIn(html, "h"), textIn(html, "m"), textIn(html, "l")];

  test("is the person's own, then the browser's, then the source's", async () => {
    const { workspace, path } = await opened({ preference_center_page_html: page, translations });
    const as = async (accept?: string) =>
      seen(await htmlOf(path, accept ? { "accept-language": accept } : {}));
    assert.deepEqual(await as(), ["Hello Ada", "More", "en"]);
    assert.deepEqual(await as("es-AR,en;q=0.5"), ["Hola Ada", "More", "es"]);
    assert.deepEqual(await as("fr, es-MX;q=0.9, en;q=0.8"), ["Qué onda Ada", "More", "es-MX"]);
    assert.deepEqual(await as("en-GB, es;q=0.9"), ["Hello Ada", "More", "en"]);
    assert.deepEqual(await as("pt"), ["Olá", "Mais", "pt-BR"]);
    assert.deepEqual(await as("es;q=0, tlh, *"), ["Hello Ada", "More", "en"]);
    assert.deepEqual(await as(";;q=,,x".repeat(500)), ["Hello Ada", "More", "en"]);
    await workspace.track({ attributes: [{ external_id: "ada", language: "es", country: "MX" }] });
    assert.deepEqual(await as("pt"), ["Qué onda Ada", "More", "es-MX"]);
    await workspace.track({ attributes: [{ external_id: "ada", language: "de" }] });
    assert.deepEqual(await as("pt"), ["Olá", "Mais", "pt-BR"]);
    const spanish = await htmlOf(path, { "accept-language": "es" });
    assert.match(spanish, /<html lang="es"><head>.*<title>Preferencias<\/title>/);
  });

  test("a fault in a text is refused with its language and its id", async () => {
    const workspace = await emptyWorkspace(server);
    for (const [text, reason] of [
      ["{{ x", /'translations.es.hello'.*not closed/],
      ["<b>Hola", /'translations.es.hello'.*'<b>' is not closed/],
      ["{% translation more %}{% endtranslation %}", /'translations.es.hello'.*not found/],
    ] as const) {
      const answer = await workspace.call<any>("POST", "/preference_center/v1", {
        name: "main",
        preference_center_page_html: page,
        confirmation_page_html: page,
        translations: { es: { hello: text } },
      });
      assert.equal(answer.status, 400);
      assert.match(answer.body.message, reason);
    }
  });
});
