import { isIP } from "node:net";
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  RegistrationResponseJSON,
} from "@simplewebauthn/server";
import { recordChanges } from "../../core/admin/audit/audit.ts";
import type { Context, SessionContext } from "../../core/base/context/context.ts";
import { Problem } from "../../core/base/problem.ts";
import { sha256 } from "../../core/base/values/hashes.ts";
import { type Queryable, type Transaction, withRetries } from "../../core/database/database.ts";
import {
  addPasskey,
  findPasskey,
  listPasskeys,
  lockSignedIn,
  removePasskey,
  type StartedSession,
  saveAnsweredChallenge,
  savePasskeyUse,
} from "../dashboard-users/feature.ts";
import type { Challenges } from "./challenges.ts";
import { changeOf, confirmPerson, type PasswordServices } from "./passwords.ts";

/*
 * Passkeys (WebAuthn), checked by @simplewebauthn/server. A browser has them on https and on localhost only, and never for an IP
 * address. The library is loaded when it is first used.
 */

export interface PasskeyServices extends PasswordServices {
  readonly challenges: Challenges;
}

interface Site {
  readonly origin: string;
  /** The host, by which browsers and authenticators name the site. */
  readonly rpId: string;
}

/** Undefined where browsers have no passkeys. @param baseUrl where people reach the server. */
export function siteOf(baseUrl: string): Site | undefined {
  const { protocol, origin, hostname } = new URL(baseUrl);
  const isAddress = isIP(hostname.replace(/^\[|\]$/g, "")) > 0;
  const isSecure = protocol === "https:" || /(^|\.)localhost$/.test(hostname);
  return isSecure && !isAddress ? { origin, rpId: hostname } : undefined;
}

function requireSite(baseUrl: string): Site {
  const site = siteOf(baseUrl);
  if (site) return site;
  throw new Problem(
    "CONFLICT",
    "Passkeys work on https and on localhost only, and not at an IP address. Open the dashboard at such an address, or use a password.",
  );
}

const SIGN_IN = "sign-in";

const purposeOf = ({ session }: SessionContext): string => `passkey of ${session.id}`;

const MOST_PASSKEYS = 20;

/**
 * What a browser needs to make a passkey for the person of a session.
 *
 * @throws Problem as `confirmPerson` does; CONFLICT where there are no passkeys, or with as many as a person may have.
 */
export async function beginPasskey(
  services: PasskeyServices,
  context: SessionContext,
  baseUrl: string,
  currentPassword: string | undefined,
): Promise<PublicKeyCredentialCreationOptionsJSON> {
  const { rpId } = requireSite(baseUrl);
  const userId = await confirmPerson(services, context, currentPassword);
  const present = await requireRoom(services.database, userId);
  const { userName, displayName } = context.session.person;
  const { generateRegistrationOptions } = await import("@simplewebauthn/server");
  return generateRegistrationOptions({
    rpName: "Rapport",
    rpID: rpId,
    userName,
    userDisplayName: displayName,
    userID: new Uint8Array(Buffer.from(userId)),
    challenge: new Uint8Array(
      Buffer.from(services.challenges.issue(purposeOf(context), services.clock.now()), "base64url"),
    ),
    excludeCredentials: present.map(({ id, transports }) => ({ id, transports: [...transports] })),
    authenticatorSelection: { residentKey: "required", userVerification: "required" },
  });
}

/** @returns the passkeys of a person. @throws Problem CONFLICT if they have as many as a person may have. */
async function requireRoom(database: Queryable, userId: string) {
  const present = await listPasskeys(database, userId);
  if (present.length < MOST_PASSKEYS) return present;
  throw new Problem(
    "CONFLICT",
    `You have ${MOST_PASSKEYS} passkeys, the most that a person may have.`,
  );
}

/** @throws Problem INVALID_REQUEST for a passkey that is none; CONFLICT; UNAUTHENTICATED. */
export async function finishPasskey(
  services: PasskeyServices,
  context: SessionContext,
  baseUrl: string,
  { name, response }: { readonly name: string; readonly response: RegistrationResponseJSON },
): Promise<void> {
  const { origin, rpId } = requireSite(baseUrl);
  const { person, id: sessionId } = context.session;
  const { database, clock } = services;
  const userId = person.userId;
  if (userId === null || !(await services.localSignIn.isOn())) {
    throw services.localSignIn.off("FORBIDDEN");
  }
  let answered: Answered | undefined;
  const { verifyRegistrationResponse } = await import("@simplewebauthn/server");
  const verified = await refuseAttested(response)
    .then(() =>
      verifyRegistrationResponse({
        response,
        expectedChallenge: (challenge) => {
          answered = answeredBy(services, challenge, purposeOf(context));
          return answered !== undefined;
        },
        expectedOrigin: origin,
        expectedRPID: rpId,
      }),
    )
    .catch(() => undefined);
  const credential = verified?.registrationInfo?.credential;
  if (!credential || !answered) {
    throw new Problem("INVALID_REQUEST", "'response' is no passkey for this request. Try again.");
  }
  const { hash, until } = answered;
  const passkey = {
    id: credential.id,
    userId,
    name,
    publicKey: Buffer.from(credential.publicKey).toString("base64url"),
    counter: credential.counter,
    transports: credential.transports ?? [],
    createdAt: clock.now(),
    lastUsedAt: null,
  };
  await withRetries(database, async (tx) => {
    await lockSignedIn(tx, userId, sessionId);
    // Options for many may have been asked for before the first was added.
    await requireRoom(tx, userId);
    const isNew = await saveAnsweredChallenge(tx, hash, until);
    if (!isNew || !(await addPasskey(tx, passkey))) {
      throw new Problem("CONFLICT", "This passkey was added before.");
    }
    const created = changeOf(context, "dashboard_passkey", "created", { passkey: name });
    await recordChanges(tx, clock, context, [created]);
  });
}

/**
 * Refuses a passkey with a certificate of its maker: Rapport asks for none. Checking it would have the server call addresses that
 * the certificate names.
 */
async function refuseAttested({ response }: RegistrationResponseJSON): Promise<void> {
  const { decodeAttestationObject, isoBase64URL } = await import("@simplewebauthn/server/helpers");
  const decoded = decodeAttestationObject(isoBase64URL.toBuffer(response.attestationObject));
  const isPlain = decoded.get("fmt") === "none";
  const isBySelf = decoded.get("fmt") === "packed" && !decoded.get("attStmt").get("x5c");
  if (!isPlain && !isBySelf) throw new Error("It has a certificate.");
}

interface Answered {
  readonly hash: string;
  readonly until: Date;
}

function answeredBy(
  { challenges, clock }: PasskeyServices,
  challenge: string,
  purpose: string,
): Answered | undefined {
  const until = challenges.check(challenge, purpose, clock.now());
  return until && { hash: sha256(challenge), until };
}

/** Removes a passkey of the person of a session. @throws Problem as `confirmPerson` does; NOT_FOUND. */
export async function dropPasskey(
  services: PasskeyServices,
  context: SessionContext,
  id: string,
  currentPassword: string | undefined,
): Promise<void> {
  const userId = await confirmPerson(services, context, currentPassword);
  await withRetries(services.database, async (tx) => {
    const name = await removePasskey(tx, userId, id);
    if (name === undefined) throw new Problem("NOT_FOUND", "You have no such passkey.");
    const removed = changeOf(context, "dashboard_passkey", "removed", { passkey: name });
    await recordChanges(tx, services.clock, context, [removed]);
  });
}

/** What a browser needs to sign in with a passkey. It names no person. @throws Problem CONFLICT, FORBIDDEN. */
export async function beginPasskeySignIn(
  { challenges, clock, localSignIn }: PasskeyServices,
  baseUrl: string,
): Promise<{ readonly challenge: string; readonly rpId: string }> {
  const { rpId } = requireSite(baseUrl);
  if (!(await localSignIn.isOn())) throw localSignIn.off("FORBIDDEN");
  return { challenge: challenges.issue(SIGN_IN, clock.now()), rpId };
}

/**
 * Signs in with a passkey.
 *
 * @throws Problem UNAUTHENTICATED, always with the same sentence; RATE_LIMITED; CONFLICT; FORBIDDEN.
 */
export async function signInWithPasskey(
  services: PasskeyServices,
  context: Context,
  baseUrl: string,
  response: AuthenticationResponseJSON,
  userAgent: string | undefined,
): Promise<StartedSession> {
  const { clock, sessions, failedAttempts, localSignIn } = services;
  const from = context.address ?? "";
  failedAttempts.refuseLocked("passkey", from);
  const site = requireSite(baseUrl);
  if (!(await localSignIn.isOn())) throw localSignIn.off("FORBIDDEN");
  const found = await verifyAnswer(services, site, response);
  if (!found) throw failedAttempts.refuse("passkey", from);
  const { passkey, counter, hash, until } = found;
  const isStillGood = async (tx: Transaction) =>
    (await saveAnsweredChallenge(tx, hash, until)) &&
    (await savePasskeyUse(tx, passkey.id, counter, clock.now()));
  return sessions
    .start(context, passkey.userId, { way: "passkey", userAgent }, isStillGood)
    .catch((error: unknown) => {
      // The challenge was answered before, or the passkey or its person ended meanwhile.
      throw error instanceof Problem ? failedAttempts.refuse("passkey", from) : error;
    });
}

/** @returns the passkey and the challenge that it has answered; undefined for every other response. */
async function verifyAnswer(
  services: PasskeyServices,
  { origin, rpId }: Site,
  response: AuthenticationResponseJSON,
) {
  const passkey = await findPasskey(services.database, response.id);
  if (!passkey) return undefined;
  let answered: Answered | undefined;
  const { verifyAuthenticationResponse } = await import("@simplewebauthn/server");
  const verified = await verifyAuthenticationResponse({
    response,
    expectedChallenge: (challenge) => {
      answered = answeredBy(services, challenge, SIGN_IN);
      return answered !== undefined;
    },
    expectedOrigin: origin,
    expectedRPID: rpId,
    credential: {
      id: passkey.id,
      publicKey: new Uint8Array(Buffer.from(passkey.publicKey, "base64url")),
      counter: passkey.counter,
    },
  }).catch(() => undefined);
  const handle = Buffer.from(response.response.userHandle ?? "", "base64url").toString();
  if (!verified?.verified || !answered || handle !== passkey.userId) return undefined;
  return { passkey, counter: verified.authenticationInfo.newCounter, ...answered };
}
