/* Two users with data, merged, for the tests of a merge's result. */
import assert from "node:assert/strict";
import { type TestServer, type TestWorkspace, WEB_APP } from "../../../harness.ts";
import { id, merge, succeeds, userOf } from "./identity-calls.ts";

export const OTHER_APP = "0b8e1a3e-58a5-4c6d-9d0b-4f1c8f0f7a11";

export const [EARLY, MIDDLE, LATE] = [
  "2026-01-01T00:00:00.000Z",
  "2026-02-01T00:00:00.000Z",
  "2026-03-01T00:00:00.000Z",
] as const;

/** The data of one of two users. */
export interface Side {
  readonly attributes?: object;
  readonly events?: readonly object[];
  readonly purchases?: readonly object[];
  readonly imported?: object;
}

export const workspaceWithApps = (server: TestServer, settings: object = {}) =>
  server.workspace({
    settings,
    apps: [
      { id: WEB_APP, name: "Web", platform: "web" },
      { id: OTHER_APP, name: "Phone", platform: "ios" },
    ],
  });

/** Makes a user. */
export async function make(
  server: TestServer,
  workspace: TestWorkspace,
  name: string,
  side: Side,
): Promise<void> {
  const of = (objects: readonly object[] = []) => objects.map((each) => ({ ...each, ...id(name) }));
  const answer = await workspace.track({
    attributes: [{ ...side.attributes, ...id(name) }],
    events: of(side.events),
    purchases: of(side.purchases),
  });
  assert.deepEqual([answer.body.errors, answer.body.skipped], [undefined, undefined]);
  if (!side.imported) return;
  const path = `/admin/v1/workspaces/${workspace.name}/import`;
  const imported = await server.admin("POST", path, { users: [{ ...side.imported, ...id(name) }] });
  assert.deepEqual([imported.status, imported.body.errors], [200, undefined]);
}

/** Makes two users, merges the second into the first, and reads the first. */
export async function merged(
  server: TestServer,
  kept: Side,
  gone: Side,
  fields_to_export?: readonly string[],
): Promise<Record<string, any>> {
  const workspace = await workspaceWithApps(server);
  await make(server, workspace, "k", kept);
  await make(server, workspace, "m", gone);
  await succeeds(merge(workspace, [[id("m"), id("k")]]));
  assert.equal(await userOf(workspace, "m"), undefined);
  return workspace.profile({ external_ids: ["k"], ...(fields_to_export && { fields_to_export }) });
}
