/* Colleagues as tests need them: added by an administrator, invited, signed in with what they chose. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { continueSession, cookieIn, type SignedIn } from "./dashboard-users/signed-in.ts";
import type { TestServer } from "./harness.ts";

const PEOPLE = "/admin/v1/dashboard-users";

export const PASSWORD = "seven green umbrellas";

export interface Colleague {
  readonly id: string;
  readonly userName: string;
}

interface Granted {
  readonly company?: readonly string[];
  /** Permissions by the name of the workspace. */
  readonly workspaces?: Readonly<Record<string, readonly string[]>>;
  /** Roles by the name of the workspace. */
  readonly roles?: Readonly<Record<string, string>>;
}

export const permissionsOf = ({ company = [], workspaces = {}, roles = {} }: Granted) => ({
  companyPermissions: company,
  appGroup: [
    ...Object.entries(workspaces).map(([appGroupName, appGroupPermissions]) => ({
      appGroupName,
      appGroupPermissions,
    })),
    ...Object.entries(roles).map(([appGroupName, name]) => ({
      appGroupName,
      appGroupPermissionSets: [{ appGroupPermissionSetName: name }],
    })),
  ],
});

/** Adds a colleague with the admin token. */
export async function addColleague(
  server: TestServer,
  granted: Granted = { company: ["add_remove_app_groups"] },
): Promise<Colleague> {
  const userName = `${randomUUID()}@acme.example`;
  const { status, body } = await server.admin("POST", PEOPLE, {
    user_name: userName,
    given_name: "Grace",
    family_name: "Hopper",
    department: "marketing",
    permissions: permissionsOf(granted),
  });
  assert.equal(status, 201, JSON.stringify(body));
  return { id: body.person.id, userName };
}

/** Invites a colleague with the admin token. @returns the path of the link. */
export async function inviteColleague(server: TestServer, { id }: Colleague): Promise<string> {
  const { status, body } = await server.admin("POST", `${PEOPLE}/${id}/invitations`);
  assert.equal(status, 201, JSON.stringify(body));
  return pathOf(body.url);
}

/** The path of a link. */
export const pathOf = (url: string): string => {
  const { pathname, search } = new URL(url);
  return pathname + search;
};

/** Presses the button of a link, as a browser does. */
export const follow = (
  server: TestServer,
  path: string,
  headers: Record<string, string> = {},
): Promise<Response> =>
  fetch(server.url + path, {
    method: "POST",
    redirect: "manual",
    headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
  });

/** Signs a colleague in with a new invitation. */
export async function enter(server: TestServer, colleague: Colleague): Promise<SignedIn> {
  const response = await follow(server, await inviteColleague(server, colleague));
  assert.equal(response.status, 303, await response.text());
  return continueSession(server, cookieIn(response));
}

/** Sets the password of a person who was invited. */
export async function choosePassword(browser: SignedIn, password = PASSWORD): Promise<void> {
  const { status, body } = await browser.call("PUT", "/dashboard/password", { password });
  assert.equal(status, 200, JSON.stringify(body));
}

export const signInWith = (
  server: TestServer,
  userName: string,
  password = PASSWORD,
  headers: Record<string, string> = {},
) =>
  server.send(
    "POST",
    "/dashboard/session/password",
    { user_name: userName, password },
    { headers },
  );

/** Signs a person in who has a password. */
export async function enterWith(
  server: TestServer,
  { userName }: Colleague,
  password = PASSWORD,
): Promise<SignedIn> {
  const answer = await signInWith(server, userName, password);
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return continueSession(server, cookieIn(answer));
}

/** Whether a browser is still signed in. */
export const isIn = async (browser: SignedIn): Promise<boolean> =>
  (await browser.call("GET", "/dashboard/session")).status === 200;
