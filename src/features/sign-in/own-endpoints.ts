import Type from "typebox";
import { Problem } from "../../core/base/problem.ts";
import {
  ClosedObject,
  OnlySuccess,
  succeeding,
  Text,
  TextOrNull,
} from "../../core/base/values/schemas.ts";
import { endedCookie } from "../../core/http/browser.ts";
import { bySession, endpoint, success } from "../../core/http/endpoint.ts";
import {
  CREDENTIALS,
  type CredentialServices,
  SessionId,
  viewCredentials,
} from "./credentials-view.ts";
import type { LocalSignIn } from "./local-sign-in.ts";
import { CreatedPasskey, PasskeyOptions } from "./passkey-schemas.ts";
import {
  beginPasskey,
  dropPasskey,
  finishPasskey,
  type PasskeyServices,
  siteOf,
} from "./passkeys.ts";
import { LONGEST_PASSWORD, SHORTEST_PASSWORD } from "./password-hashes.ts";
import { changePassword, dropPassword } from "./passwords.ts";

/* How the person of a session signs in, and where they are signed in. */

interface OwnServices extends CredentialServices {
  readonly localSignIn: LocalSignIn;
}

/** Twice the characters that a password may have: some are two code units. */
const MOST_CODE_UNITS = 2 * LONGEST_PASSWORD;

const current_password = Type.Optional(
  Text(
    "The present password. Required of people who have one, unless the session began with an invitation.",
    "correct horse battery staple",
    { maxLength: MOST_CODE_UNITS },
  ),
);

const Confirmed = ClosedObject({ current_password });

const readEndpoint = endpoint({
  name: "getOwnCredentials",
  method: "GET",
  path: "/dashboard/credentials",
  summary: "Lists what the signed-in person signs in with, and where they are signed in.",
  access: bySession,
  replies: succeeding({
    ...CREDENTIALS,
    local: Type.Boolean({
      description: "Whether people may sign in with invitations, passwords and passkeys.",
    }),
    provider: TextOrNull("The name of the identity provider; null if none is set up.", "Okta"),
    passkeys_work: Type.Boolean({
      description: "Whether browsers have passkeys at this address: on https and localhost.",
    }),
    asks_password: Type.Boolean({ description: "Whether changes need current_password." }),
  }),
}).handledBy(async (services: OwnServices, { session }, { baseUrl }) => {
  const own = await viewCredentials(services, session.person.userId, session.id);
  return success({
    ...own,
    local: await services.localSignIn.isOn(),
    provider: services.localSignIn.provider,
    passkeys_work: siteOf(baseUrl) !== undefined,
    asks_password: own.password_set_at !== null && session.way !== "invitation",
  });
});

const setPassword = endpoint({
  name: "setPassword",
  method: "PUT",
  path: "/dashboard/password",
  summary: "Sets the password of the signed-in person, or changes it.",
  description: "It ends the person's other sessions, and invitations for them.",
  access: bySession,
  refusals: ["FORBIDDEN", "RATE_LIMITED"],
  body: ClosedObject({
    password: Text(
      `${SHORTEST_PASSWORD} to ${LONGEST_PASSWORD} characters, at least five of them different.`,
      "correct horse battery staple",
      { maxLength: MOST_CODE_UNITS },
    ),
    current_password,
  }),
  replies: { 200: OnlySuccess },
}).handledBy(async (services: PasskeyServices, context, { body }) => {
  const { password, current_password: currentPassword } = body;
  await changePassword(services, context, { password, currentPassword });
  return success();
});

const removePassword = endpoint({
  name: "removePassword",
  method: "DELETE",
  path: "/dashboard/password",
  summary: "Removes the password of the signed-in person.",
  access: bySession,
  refusals: ["FORBIDDEN", "NOT_FOUND", "RATE_LIMITED"],
  body: Confirmed,
  replies: { 200: OnlySuccess },
}).handledBy(async (services: PasskeyServices, context, { body }) => {
  await dropPassword(services, context, body.current_password);
  return success();
});

const PASSKEYS = "/dashboard/passkeys";

const passkeyOptions = endpoint({
  name: "beginPasskey",
  method: "POST",
  path: `${PASSKEYS}/options`,
  summary: "Returns what a browser needs to make a passkey for the signed-in person.",
  access: bySession,
  refusals: ["FORBIDDEN", "CONFLICT", "RATE_LIMITED"],
  body: Confirmed,
  replies: succeeding({ options: PasskeyOptions }),
}).handledBy(async (services: PasskeyServices, context, { body, baseUrl }) => {
  const options = await beginPasskey(services, context, baseUrl, body.current_password);
  return success({ options: options as unknown as Record<string, unknown> });
});

const addPasskey = endpoint({
  name: "addPasskey",
  method: "POST",
  path: PASSKEYS,
  summary: "Adds a passkey that the browser has made to the signed-in person.",
  access: bySession,
  refusals: ["FORBIDDEN", "CONFLICT"],
  body: ClosedObject({
    name: Text("To tell it from others.", "Laptop", { minLength: 1, maxLength: 100 }),
    response: CreatedPasskey,
  }),
  replies: { 200: OnlySuccess },
}).handledBy(async (services: PasskeyServices, context, { body, baseUrl }) => {
  await finishPasskey(services, context, baseUrl, body as never);
  return success();
});

const removePasskey = endpoint({
  name: "removePasskey",
  method: "DELETE",
  path: `${PASSKEYS}/:passkey`,
  params: Type.Object({
    passkey: Text("The id of the passkey.", "q83vEjRWeJA", { maxLength: 2_048 }),
  }),
  summary: "Removes a passkey of the signed-in person.",
  access: bySession,
  refusals: ["FORBIDDEN", "NOT_FOUND", "RATE_LIMITED"],
  body: Confirmed,
  replies: { 200: OnlySuccess },
}).handledBy(async (services: PasskeyServices, context, { params, body }) => {
  await dropPasskey(services, context, params.passkey, body.current_password);
  return success();
});

const endSession = endpoint({
  name: "endOwnSession",
  method: "DELETE",
  path: "/dashboard/sessions/:session",
  params: Type.Object({ session: SessionId }),
  summary: "Ends one session of the signed-in person.",
  access: bySession,
  refusals: ["NOT_FOUND"],
  replies: { 200: OnlySuccess },
}).handledBy(async ({ sessions }: CredentialServices, context, { params, baseUrl }) => {
  const { person, id } = context.session;
  if (!(await sessions.endOne(context, person.userId, params.session))) {
    throw new Problem("NOT_FOUND", "There is no such session, or it has ended.");
  }
  const isThisOne = id.startsWith(params.session);
  return { ...success(), ...(isThisOne && { headers: { "set-cookie": endedCookie(baseUrl) } }) };
});

export const ownEndpoints = [
  readEndpoint,
  setPassword,
  removePassword,
  passkeyOptions,
  addPasskey,
  removePasskey,
  endSession,
];
