/* What a refusal says: what is missing, and what a text must be. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { NEWSLETTER, startServer } from "../../harness.ts";

const server = await startServer();

test("a 401 tells a request without a key from one with a wrong key, and begins with the words that clients know", async () => {
  const workspace = await server.workspace();
  const said = async (options: object) => {
    const answer = await workspace.call<{ message: string }>(
      "GET",
      "/events/list",
      undefined,
      options,
    );
    assert.equal(answer.status, 401);
    return answer.body.message;
  };
  const none = "Invalid API key: the request has none. Send it as 'Authorization: Bearer KEY'";
  assert.equal(await said({ key: null }), none);
  assert.equal(await said({ key: null, headers: { authorization: "Basic YTpi" } }), none);
  assert.equal(await said({ key: null, headers: { authorization: "Bearer " } }), none);
  assert.equal(await said({ key: "wrong" }), "Invalid API key");
  const inBody = await workspace.track({ api_key: workspace.key, attributes: [] }, { key: null });
  assert.deepEqual([inBody.status, inBody.body.message], [401, none]);
});

test("a text of the wrong form is refused with the form that it must have, wherever the form is more than its characters", async () => {
  const workspace = await server.workspace();
  const base = `/admin/v1/workspaces/${workspace.name}`;
  const hook = (secret: string) => ({ name: "h", url: "https://example.com/h", secret });
  const apply = (settings: object) => ({
    company: { name: "Test" },
    workspaces: [{ name: workspace.name, settings }],
  });
  for (const [method, path, body, sentence] of [
    [
      "PUT",
      `${base}/webhooks/${NEWSLETTER}`,
      hook("short"),
      /secret' must be 'whsec_' and 24 to 64 bytes in base64/,
    ],
    [
      "PUT",
      `${base}/webhooks/${NEWSLETTER}`,
      hook("whsec_###"),
      /secret' must be 'whsec_' and 24 to 64 bytes/,
    ],
    [
      "POST",
      "/admin/v1/apply",
      apply({ brand: { color: "red" } }),
      /color' must be # and six hexadecimal digits/,
    ],
    [
      "POST",
      "/admin/v1/apply",
      apply({ brand: { logo_url: "http://a.example/x.png" } }),
      /logo_url' must be an https address/,
    ],
    [
      "POST",
      "/admin/v1/apply",
      apply({ page_image_hosts: ["https://a.example"] }),
      /page_image_hosts.* must be a host in lower case/,
    ],
    [
      "PUT",
      `${base}/locales/${NEWSLETTER}`,
      { name: "S", country: "MX", language: "es", locale_key: "e s" },
      /locale_key' must be a language/,
    ],
  ] as const) {
    const answer = await server.admin(method, path, body);
    assert.equal(answer.status, 400, JSON.stringify(answer.body));
    assert.match(answer.body.message, sentence);
  }
});

test("both spellings of a Mexican mobile number are one user in track, exports and merges", async () => {
  const workspace = await server.workspace();
  const [former, present] = ["+5215512345678", "+525512345678"];
  await workspace.track({ attributes: [{ external_id: "ana", phone: former }] });
  await workspace.track({ attributes: [{ phone: present, hit: 1 }] });
  await workspace.track({ attributes: [{ phone: former, hit_again: 1 }] });
  const ana = await workspace.profile({ external_ids: ["ana"] });
  assert.deepEqual([ana.phone, ana.custom_attributes], [present, { hit: 1, hit_again: 1 }]);
  for (const phone of [former, present]) {
    assert.equal((await workspace.profile({ phone })).external_id, "ana");
  }
  await workspace.track({ attributes: [{ external_id: "kept" }] });
  const merged = await workspace.call("POST", "/users/merge", {
    merge_updates: [
      {
        identifier_to_merge: { phone: former, prioritization: ["most_recently_updated"] },
        identifier_to_keep: { external_id: "kept" },
      },
    ],
  });
  assert.deepEqual([merged.status, Object(merged.body).skipped], [202, undefined]);
  assert.equal((await workspace.profile({ phone: former })).external_id, "kept");
});
