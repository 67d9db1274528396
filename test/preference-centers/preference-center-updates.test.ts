/* Updates of a preference center that name single fields, or a path that is none of a center. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { startServer, type TestWorkspace } from "../harness.ts";
import { createCenter, emptyWorkspace, PATH } from "../preference-center-calls.ts";

const server = await startServer();

const read = async (workspace: TestWorkspace, id: string) =>
  (await workspace.call<any>("GET", `${PATH}/${id}`)).body;

test("an update with one field changes that field alone, and one without fields changes nothing", async () => {
  const workspace = await emptyWorkspace(server);
  const id = await createCenter(workspace, { redirect_page_html: "https://shop.example/" });
  const before = await read(workspace, id);
  for (const [method, changes] of [
    ["PUT", { preference_center_title: "One" }],
    ["POST", { preference_center_page_html: "<p>One</p>" }],
    ["PUT", { confirmation_page_html: "<p>Two</p>", options: null }],
    ["POST", { redirect_page_html: null }],
    ["PUT", { state: "draft" }],
    ["PUT", {}],
  ] as const) {
    const last = await read(workspace, id);
    const answer = await workspace.call<any>(method, `${PATH}/${id}`, changes);
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    const { options: _, ...changed } = changes as Record<string, unknown>;
    const { updated_at, ...now } = await read(workspace, id);
    assert.deepEqual({ ...now, updated_at: last.updated_at }, { ...last, ...changed });
    assert.ok(updated_at >= last.updated_at);
  }
  assert.notDeepEqual(await read(workspace, id), before);
});

test("an update of 'url' names the path of links, unless a center has that id", async () => {
  const workspace = await emptyWorkspace(server);
  const path = "GET /preference_center/v1/{preference_center_id}/url/{user_id}";
  for (const method of ["PUT", "POST"]) {
    const answer = await workspace.call<any>(method, `${PATH}/url`, { user_id: "ada" });
    assert.equal(answer.status, 404);
    assert.ok(answer.body.message.includes(path), answer.body.message);
  }
  const own = await server.workspace({
    preference_centers: [
      { id: "url", name: "links", page_html: "<p>1</p>", confirmation_html: "<p>2</p>" },
    ],
  });
  const answer = await own.call<any>("POST", `${PATH}/url`, { preference_center_title: "Mine" });
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
});
