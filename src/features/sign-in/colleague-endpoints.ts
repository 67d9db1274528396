import Type from "typebox";
import { Problem } from "../../core/base/problem.ts";
import { OnlySuccess, Success, succeeding, Text } from "../../core/base/values/schemas.ts";
import { byAdministratorOfCompany, endpoint, success } from "../../core/http/endpoint.ts";
import { endCredentials, findUser } from "../dashboard-users/feature.ts";
import {
  type CredentialServices,
  Credentials,
  SessionId,
  Time,
  viewCredentials,
} from "./credentials-view.ts";
import { type InviteServices, invite } from "./invite.ts";

/* What administrators do about how a colleague signs in. */

const PATH = "/admin/v1/dashboard-users/:id";

const id = Type.String({ format: "uuid", description: "The id of the dashboard user." });
const params = Type.Object({ id });

const inviteEndpoint = endpoint({
  name: "inviteDashboardUser",
  method: "POST",
  path: `${PATH}/invitations`,
  summary: "Makes a link that signs a dashboard user in once, within seven days.",
  description:
    "Only a person who has every permission of the dashboard user can make it, and it ends when they lose one or the user gets " +
    "more. It ends earlier invitations. With SMTP_URL set it is mailed as well.",
  access: byAdministratorOfCompany("manage_company_settings"),
  params,
  secrets: ["url"],
  refusals: ["NOT_FOUND", "CONFLICT", "RATE_LIMITED"],
  replies: {
    201: Type.Object({
      url: Text(
        "The link. It is shown this once: only its hash is stored.",
        "https://rapport.example/dashboard/sign-in?token=link_Zm9v",
      ),
      expires_at: Time("Until when it works."),
      mailed: Type.Boolean({
        description: "Whether a mail server accepted a mail with the link to the user.",
      }),
      message: Success,
    }),
  },
}).handledBy(async (services: InviteServices, context, { params, baseUrl }) => {
  const { url, expiresAt, mailed } = await invite(services, context, params.id, baseUrl);
  const body = { url, expires_at: expiresAt.toISOString(), mailed, message: "success" as const };
  return { status: 201, body };
});

const readEndpoint = endpoint({
  name: "getCredentials",
  method: "GET",
  path: `${PATH}/credentials`,
  summary: "Lists what a dashboard user signs in with, and where they are signed in.",
  access: byAdministratorOfCompany("manage_company_settings"),
  params,
  refusals: ["NOT_FOUND"],
  replies: { 200: Credentials },
}).handledBy(async (services: CredentialServices, context, { params }) => {
  const user = await findUser(services, context, params.id);
  if (!user) throw notFound();
  return success(await viewCredentials(services, user.id, undefined));
});

const endEndpoint = endpoint({
  name: "removeCredentials",
  method: "DELETE",
  path: `${PATH}/credentials`,
  summary: "Removes a dashboard user's password and passkeys, and ends their links and sessions.",
  description:
    "For a lost device or a leaked password. The user signs in again with a new invitation.",
  access: byAdministratorOfCompany("admin"),
  params,
  refusals: ["NOT_FOUND"],
  replies: succeeding({
    sessions: Type.Integer({ description: "How many sessions ended.", examples: [2] }),
  }),
}).handledBy(async (services: CredentialServices, context, { params }) => {
  const sessions = await endCredentials(services, context, params.id);
  if (sessions === undefined) throw notFound();
  return success({ sessions });
});

const endSessionEndpoint = endpoint({
  name: "endSessionOfDashboardUser",
  method: "DELETE",
  path: `${PATH}/sessions/:session`,
  summary: "Ends one session of a dashboard user.",
  access: byAdministratorOfCompany("admin"),
  params: Type.Object({ id, session: SessionId }),
  refusals: ["NOT_FOUND"],
  replies: { 200: OnlySuccess },
}).handledBy(async (services: CredentialServices, context, { params }) => {
  const user = await findUser(services, context, params.id);
  if (!user || !(await services.sessions.endOne(context, user.id, params.session))) {
    throw new Problem("NOT_FOUND", "There is no such session, or it has ended.");
  }
  return success();
});

const notFound = () => new Problem("NOT_FOUND", "User not found");

export const colleagueEndpoints = [inviteEndpoint, readEndpoint, endEndpoint, endSessionEndpoint];
