/* Callbacks of exports whose name servers never answer: what one workspace may take of the process's look-ups. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, test } from "node:test";
import { startOwnServer } from "../../../harness.ts";
import { startNameServer } from "../../../system/reach/name-server.ts";

const names = await startNameServer();
const server = await startOwnServer({ outboundAllow: ["127.0.0.1"] });

/** An API key's workspace with a segment; `exportTo` starts an export whose callback is at a host. */
async function withSegment() {
  const workspace = await server.workspace();
  const segment_id = randomUUID();
  const path = `/admin/v1/workspaces/${workspace.name}/segments/${segment_id}`;
  const filter = { custom_attribute: "plan", equals: "pro" };
  assert.ok((await server.admin("PUT", path, { name: "Pro", filter })).status < 300);
  return (host: string) =>
    workspace.call("POST", "/users/export/segment", {
      segment_id,
      fields_to_export: ["external_id"],
      callback_endpoint: `http://${host}:1/`,
    });
}

describe("callbacks whose names are never answered for", () => {
  test("are refused like private hosts or, beyond a line of them, with 429; another workspace's are checked meanwhile", async () => {
    const [exportTo, exportOfOthersTo] = [await withSegment(), await withSegment()];
    const silent = Array.from({ length: 50 }, (_, index) =>
      exportTo(names.ignore(`silent-${index}`)),
    );
    const other = await exportOfOthersTo(names.answer("quick", ["127.0.0.1"]));
    assert.equal(other.status, 201, JSON.stringify(other.body));
    const statuses = (await Promise.all(silent)).map(({ status }) => status);
    const count = (wanted: number) => statuses.filter((status) => status === wanted).length;
    assert.ok(count(400) >= 39, `${statuses}`);
    assert.ok(count(429) > 0, `${statuses}`);
    assert.equal(count(400) + count(429), statuses.length, `${statuses}`);
    assert.equal(names.ofSystem.times, 0);
  });
});
