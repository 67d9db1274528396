/* Common parts of the tests of preference centers. */
import assert from "node:assert/strict";
import { type Answer, NEWSLETTER, type TestServer, type TestWorkspace } from "./harness.ts";

export const PATH = "/preference_center/v1";

/** A page with all that is publicly known, each value in an element that a test can find. */
export const PAGE = `<!doctype html>
<html lang="en"><head><title>Choices</title></head><body>
<p id="email">{{\${email_address}}}</p>
<p id="first">{{\${first_name} | default: 'nobody'}}</p>
<p id="plan">{{custom_attribute.\${plan}}}</p>
<p id="global">{{subscribed_state.\${email_global}}}</p>
<p id="group">{{subscribed_state.\${${NEWSLETTER}}}}</p>
<form action="{{preference_center_submit_url}}" method="post">
<select name="{% form_field_name :email_global_state %}">
<option value="subscribed">All</option><option value="unsubscribed">None</option>
</select>
<input type="checkbox" name="{% form_field_name :subscription_group ${NEWSLETTER} %}"
  value="subscribed"{% if subscribed_state.\${${NEWSLETTER}} == 'subscribed' %} checked{% endif %}>
<button>Save</button>
</form></body></html>`;

export const CONFIRMATION = `<p id="done">Saved for {{\${first_name}}}: {{subscribed_state.\${${NEWSLETTER}}}}</p>`;

export const center = (changes: Record<string, unknown> = {}) => ({
  name: "main",
  preference_center_title: "What you receive",
  preference_center_page_html: PAGE,
  confirmation_page_html: CONFIRMATION,
  ...changes,
});

/** A workspace without any center, and without the limit of ten changes a minute. */
export const emptyWorkspace = (server: TestServer, declared: Record<string, unknown> = {}) =>
  server.workspace({
    preference_centers: [],
    settings: { rate_limits: { "preference_center.update": "off" } },
    ...declared,
  });

/** @returns the id of the new center. */
export async function createCenter(
  workspace: TestWorkspace,
  changes: Record<string, unknown> = {},
): Promise<string> {
  const answer = await workspace.call<any>("POST", PATH, center(changes));
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  return answer.body.preference_center_api_id;
}

/** The address of a user's page, as a path. */
export async function pageOf(
  workspace: TestWorkspace,
  centerId: string,
  userId = "ada",
): Promise<string> {
  const path = `${PATH}/${centerId}/url/${encodeURIComponent(userId)}`;
  const answer = await workspace.call<any>("GET", path);
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return new URL(answer.body.preference_center_url).pathname;
}

/** Opens a page as a browser does, without a key. */
export const openPage = (
  server: TestServer,
  path: string,
  headers: Record<string, string> = {},
): Promise<Answer<any>> => server.send("GET", path, undefined, { headers });

/** Sends a form as a browser does. */
export async function submit(
  server: TestServer,
  path: string,
  fields: Record<string, string> | [string, string][],
): Promise<Response & { html: string }> {
  const response = await fetch(server.url + path, {
    method: "POST",
    redirect: "manual",
    body: new URLSearchParams(fields),
  });
  return Object.assign(response, { html: await response.text() });
}

/** The contents of the element with this id. */
export const textIn = (html: string, id: string): string | undefined =>
  new RegExp(`id="${id}">([^<]*)<`).exec(html)?.[1];

export const newsletterField = `subscription_group_${NEWSLETTER}`;

export async function stateOf(
  workspace: TestWorkspace,
  groupId = NEWSLETTER,
  userId = "ada",
): Promise<string> {
  const answer = await workspace.call<any>(
    "GET",
    `/subscription/status/get?subscription_group_id=${groupId}&external_id=${userId}`,
  );
  return answer.body.status[userId];
}

export const ADA = {
  external_id: "ada",
  email: "Ada@example.com",
  first_name: "Ada",
  plan: "gold",
  subscription_groups: [{ subscription_group_id: NEWSLETTER, subscription_state: "subscribed" }],
};

/** A workspace with Ada in it, a center, and her page. */
export async function opened(
  server: TestServer,
  changes: Record<string, unknown> = {},
  ada: object = ADA,
) {
  const workspace = await emptyWorkspace(server);
  await workspace.track({ attributes: [ada] });
  const centerId = await createCenter(workspace, changes);
  return { workspace, centerId, path: await pageOf(workspace, centerId) };
}

export async function htmlOf(
  server: TestServer,
  path: string,
  headers: Record<string, string> = {},
): Promise<string> {
  const answer = await openPage(server, path, headers);
  assert.equal(answer.status, 200);
  return answer.body;
}

export const emailStateOf = async (workspace: TestWorkspace, userId = "ada"): Promise<string> =>
  (await workspace.profile({ external_ids: [userId] })).email_subscribe;
