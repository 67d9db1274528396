/* How the tests of subscriptions set and read states. */
import assert from "node:assert/strict";
import {
  ALERTS,
  type Answer,
  NEWSLETTER,
  type TestServer,
  type TestWorkspace,
} from "../../../harness.ts";

export const CHAT = "3b0e2f57-6c1d-4d53-9b55-1a8c5d0e7f42";

/** Existing numbers, in E.164. */
export const PHONE = "+14155552671";
export const OTHER_PHONE = "+442083661177";

/** A workspace with a group of every channel. */
export const workspaceWithGroups = (
  server: TestServer,
  declared: Record<string, unknown> = {},
): Promise<TestWorkspace> =>
  server.workspace({
    subscription_groups: [
      { id: NEWSLETTER, name: "Newsletter", channel: "email" },
      { id: ALERTS, name: "Alerts", channel: "sms" },
      { id: CHAT, name: "Chat", channel: "whatsapp" },
    ],
    ...declared,
  });

export interface Names {
  readonly external_ids?: readonly unknown[];
  readonly emails?: readonly unknown[];
  readonly phones?: readonly unknown[];
}

export type SetCall = (
  workspace: TestWorkspace,
  groupId: string,
  state: string,
  names: Names,
) => Promise<Answer<any>>;

export const setV2: SetCall = (workspace, groupId, state, names) =>
  workspace.call("POST", "/v2/subscription/status/set", {
    subscription_groups: [{ subscription_group_id: groupId, subscription_state: state, ...names }],
  });

export const setV1: SetCall = (workspace, groupId, state, { external_ids, emails, phones }) =>
  workspace.call("POST", "/subscription/status/set", {
    subscription_group_id: groupId,
    subscription_state: state,
    external_id: external_ids,
    email: emails,
    phone: phones,
  });

/** The two versions of the call, for tests of both. */
export const VERSIONS: readonly SetCall[] = [setV2, setV1];

/** The state of users in a group, by external_id. */
export async function statesOf(
  workspace: TestWorkspace,
  groupId: string,
  ...externalIds: string[]
): Promise<Record<string, string>> {
  const query = new URLSearchParams({ subscription_group_id: groupId });
  for (const id of externalIds) query.append("external_id[]", id);
  const answer = await workspace.call<any>("GET", `/subscription/status/get?${query}`);
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return answer.body.status;
}

export const emailStatus = (
  workspace: TestWorkspace,
  email: unknown,
  state: unknown,
): Promise<Answer<any>> =>
  workspace.call("POST", "/email/status", { email, subscription_state: state });

/** The email state that an export shows for a user. */
export const emailStateOf = async (workspace: TestWorkspace, externalId: string): Promise<string> =>
  (await workspace.profile({ external_ids: [externalId] })).email_subscribe;

/** The history of a workspace, the newest change first. */
export async function historyOf(
  server: TestServer,
  workspace: TestWorkspace,
  query: Record<string, string> = {},
): Promise<Record<string, any>[]> {
  const path = `/admin/v1/workspaces/${workspace.name}/subscription-history`;
  const answer = await server.admin("GET", `${path}?${new URLSearchParams(query)}`);
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return answer.body.changes;
}

/** Sends users to track and expects all of them to be taken. */
export async function users(
  workspace: TestWorkspace,
  ...attributes: Record<string, unknown>[]
): Promise<void> {
  const answer = await workspace.track({ attributes });
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  assert.equal(answer.body.errors, undefined);
}
