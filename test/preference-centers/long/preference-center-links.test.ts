/* Links to pages: one click in a mail program, the person whose page a link opens, and its language. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { linkOf, readLink } from "../../../src/features/preference-centers/link.ts";
import { ALERTS, NEWSLETTER, startOwnServer, startServer, type TestServer } from "../../harness.ts";
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

describe("one-click unsubscribe in a mail program (RFC 8058)", () => {
  const oneClick = async (path: string, body: FormData | URLSearchParams) => {
    body.set("List-Unsubscribe", "One-Click");
    const url = server.url + path;
    return fetch(url, { method: "POST", body, redirect: "manual" });
  };

  for (const [kind, form] of [
    ["urlencoded", () => new URLSearchParams()],
    ["multipart", () => new FormData()],
  ] as const) {
    test(`a one-click request sent as ${kind} unsubscribes from all mail without a redirect`, async () => {
      const { workspace, path } = await opened(server, {
        redirect_page_html: "https://shop.example/",
      });
      assert.equal((await oneClick(path, form())).status, 200);
      assert.equal(await emailStateOf(workspace), "unsubscribed");
      assert.equal(await stateOf(workspace), "Subscribed");
      assert.equal((await oneClick(path, form())).status, 200);
    });
  }

  test("GET and HEAD requests to a preference link change nothing", async () => {
    const { workspace, path } = await opened(server);
    await htmlOf(server, path);
    await fetch(server.url + path, { method: "HEAD" });
    assert.equal(await emailStateOf(workspace), "subscribed");
  });

  test("a one-click request of a user without an address unsubscribes from every group", async () => {
    const { workspace, path } = await opened(server);
    await workspace.track({ attributes: [{ external_id: "ada", email: null }] });
    assert.equal((await oneClick(path, new URLSearchParams())).status, 200);
    assert.equal(await stateOf(workspace), "Unsubscribed");
    assert.equal(await stateOf(workspace, ALERTS), "Unsubscribed");
  });
});

describe("a preference link", () => {
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

  test("a forged or altered preference link shows one error page that reveals nothing", async () => {
    const { workspace, path } = await opened(server);
    const refusal = await openPage(server, "/preferences/x");
    assert.equal(refusal.status, 404);
    assert.match(refusal.body, /This link is invalid/);
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

  test("a link to a deleted user, a removed center or a draft shows the same error page", async () => {
    const refusal = (await openPage(server, "/preferences/x")).body;
    const deleted = await opened(server);
    await deleted.workspace.call("POST", "/users/delete", { external_ids: ["ada"] });
    await assertTellsNothing(deleted.path, refusal);
    const draft = await opened(server, { state: "draft" });
    await assertTellsNothing(draft.path, refusal);
    const gone = await opened(server);
    const { name } = gone.workspace;
    await server.admin(
      "DELETE",
      `/admin/v1/workspaces/${name}/preference-centers/${gone.centerId}`,
    );
    await assertTellsNothing(gone.path, refusal);
    const reset = await opened(server);
    await server.admin("POST", `/admin/v1/workspaces/${reset.workspace.name}/reset`);
    await assertTellsNothing(reset.path, refusal);
  });

  test("a link created by another installation does not open", async () => {
    const other = await startOwnServer();
    const workspace = await emptyWorkspace(other);
    await workspace.track({ attributes: [{ external_id: "ada" }] });
    const path = await pageOf(workspace, await createCenter(workspace));
    const refusal = (await openPage(server, "/preferences/x")).body;
    await assertTellsNothing(path, refusal);
  });

  test("the link of a merged user opens the page of the kept user, who took over the address", async () => {
    const { workspace, path } = await opened(server);
    await workspace.track({ attributes: [{ external_id: "kept", first_name: "Kept" }] });
    await workspace.call("POST", "/users/merge", {
      merge_updates: [
        {
          identifier_to_merge: { external_id: "ada" },
          identifier_to_keep: { external_id: "kept" },
        },
      ],
    });
    assert.equal(textIn(await htmlOf(server, path), "first"), "Kept");
    await submit(server, path, { [newsletterField]: "unsubscribed" });
    assert.equal(await stateOf(workspace, NEWSLETTER, "kept"), "Unsubscribed");
  });
});

describe("a preference link in the mailbox of an earlier address", () => {
  const movedAway = async () => {
    const { workspace, path } = await opened(server);
    const moved = { external_id: "ada", email: "ada@new.example", first_name: "Augusta" };
    await workspace.track({ attributes: [moved] });
    return { workspace, path };
  };
  const isUnsubscribed = async (workspace: any, external_id: string) => {
    const { body } = await workspace.call("POST", "/users/export/ids", {
      external_ids: [external_id],
    });
    return body.users[0].email_subscribe === "unsubscribed";
  };

  test("a link that was mailed to an earlier address shows nothing of the user, and unsubscribes that address alone", async () => {
    const { workspace, path } = await movedAway();
    const page = await openPage(server, path);
    assert.equal(page.status, 200);
    assert.match(page.body, /Unsubscribe from all emails/);
    assert.doesNotMatch(page.body, /ada@|Augusta|newsletter/i);
    assert.equal(
      (await fetch(server.url + path, { method: "POST", body: new URLSearchParams() })).status,
      200,
    );
    assert.equal(await isUnsubscribed(workspace, "ada"), false);
    await workspace.track({ attributes: [{ external_id: "next", email: "ada@example.com" }] });
    assert.equal(await isUnsubscribed(workspace, "next"), true);
  });

  test("a link that was mailed to an earlier address sets no choices, and still unsubscribes it with one click", async () => {
    const { workspace, path } = await movedAway();
    const choose = (body: Record<string, string>) =>
      fetch(server.url + path, { method: "POST", body: new URLSearchParams(body) });
    assert.equal((await choose({ [newsletterField]: "unsubscribed" })).status, 404);
    assert.equal((await choose({ email_global_state: "opted_in" })).status, 404);
    assert.equal(await stateOf(workspace), "Subscribed");
    assert.equal((await choose({ "List-Unsubscribe": "One-Click" })).status, 200);
    assert.equal(await isUnsubscribed(workspace, "ada"), false);
    assert.equal(await stateOf(workspace), "Subscribed");
  });

  test("a link still opens after its user lost the address, or got another case of it", async () => {
    const { workspace, path } = await opened(server);
    await workspace.track({ attributes: [{ external_id: "ada", email: "ADA@Example.com" }] });
    assert.match((await openPage(server, path)).body, /<form/);
    await workspace.track({ attributes: [{ external_id: "ada", email: null }] });
    assert.equal((await openPage(server, path)).status, 200);
  });
});

describe("a preference link after a merge or a rotation", () => {
  const merge = async (workspace: any, from: string, into: string) =>
    assert.equal(
      (
        await workspace.call("POST", "/users/merge", {
          merge_updates: [
            {
              identifier_to_merge: { external_id: from },
              identifier_to_keep: { external_id: into },
            },
          ],
        })
      ).status,
      202,
    );

  test("the link of a merged user never shows a kept user with another address", async () => {
    const { workspace, path } = await opened(server);
    const kept = { external_id: "kept", email: "kept@example.com", first_name: "Kept" };
    await workspace.track({ attributes: [kept] });
    await merge(workspace, "ada", "kept");
    for (const method of ["GET", "POST"]) {
      const body =
        method === "POST" ? new URLSearchParams({ email_global_state: "unsubscribed" }) : null;
      const response = await fetch(server.url + path, { method, body });
      assert.equal(response.status, 404);
      assert.doesNotMatch(await response.text(), /kept/i);
    }
  });

  test("the link of a merged user still opens if the kept user has the same address", async () => {
    const { workspace, path } = await opened(server);
    await workspace.track({
      attributes: [{ external_id: "kept", email: "ADA@example.com", first_name: "Kept" }],
    });
    await merge(workspace, "ada", "kept");
    assert.equal(textIn(await htmlOf(server, path), "first"), "Kept");
  });

  test("after a rotation, new links open, and old links open only during the overlap", async () => {
    const own = await startOwnServer();
    const { workspace, centerId, path } = await opened(own);
    const rotate = (overlap_days: number) =>
      own.admin("POST", "/admin/v1/preference-page-links/rotate", { overlap_days });
    assert.equal((await rotate(7)).status, 200);
    const second = await pageOf(workspace, centerId);
    assert.notEqual(second, path);
    for (const each of [path, second]) assert.equal((await openPage(own, each)).status, 200);
    assert.equal((await rotate(0)).status, 200);
    for (const each of [path, second]) assert.equal((await openPage(own, each)).status, 404);
    assert.equal((await openPage(own, await pageOf(workspace, centerId))).status, 200);
  });
});

test("a link to a page opens until the end of the day on which it expires, and not after", () => {
  const key = { version: 1, secret: "secret", goodUntil: null };
  const profileId = "0198c9a4-0000-7000-8000-000000000001";
  const target = { workspaceId: 1, profileId, centerId: "center" };
  const link = linkOf(key, target, "ada@example.com", new Date("2026-05-28T12:00:00Z"));
  const centerAt = (time: string) => readLink([key], link, new Date(time))?.centerId;
  assert.equal(centerAt("2026-05-28T23:59:59Z"), "center");
  assert.equal(centerAt("2026-05-29T00:00:00Z"), undefined);
});

describe("the language of a page", () => {
  const page = `<html><body><h1 id="h">{% translation hello %}Hello {{\${first_name}}}{% endtranslation %}</h1>
<p id="m">{% translation more %}More{% endtranslation %}</p><p id="l">{{preference_center_locale}}</p></body></html>`;
  const translations = {
    es: { hello: `Hola {{\${first_name}}}`, preference_center_title: "Preferencias" },
    "es-MX": { hello: `Qué onda {{\${first_name}}}` },
    "pt-BR": { hello: "Olá", more: "Mais" },
  };
  const seen = (html: string) => [textIn(html, "h"), textIn(html, "m"), textIn(html, "l")];

  test("a page is shown in the user's language, else the browser's, else the source language", async () => {
    const { workspace, path } = await opened(server, {
      preference_center_page_html: page,
      translations,
    });
    const as = async (accept?: string) =>
      seen(await htmlOf(server, path, accept ? { "accept-language": accept } : {}));
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
    const spanish = await htmlOf(server, path, { "accept-language": "es" });
    assert.match(spanish, /<html lang="es"><head>.*<title>Preferencias<\/title>/);
  });

  test("an invalid translation is refused with its language and its id", async () => {
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
