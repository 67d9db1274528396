import type { FailedAttempts } from "../../core/admin/access/failed-attempts.ts";
import { recordChanges } from "../../core/admin/audit/audit.ts";
import { hashSecret, newSecret } from "../../core/admin/secrets/secrets.ts";
import { later } from "../../core/base/clock.ts";
import type { CompanyContext, Context } from "../../core/base/context/context.ts";
import { Problem } from "../../core/base/problem.ts";
import { type Transaction, withRetries } from "../../core/database/database.ts";
import type { Sessions, StartedSession } from "../dashboard-users/feature.ts";
import {
  ADMINISTRATOR,
  covers,
  endInvitations,
  findLink,
  findUser,
  lockActiveUser,
  personOf,
  saveLink,
  takeLink,
} from "../dashboard-users/feature.ts";
import type { CredentialServices } from "./credentials-view.ts";
import type { LocalSignIn } from "./local-sign-in.ts";

/*
 * Links that sign in once. One kind signs in its maker within 15 minutes: the administrator, in the first minutes of a server, or
 * the dashboard user who made it. The other kind invites a colleague and lasts seven days. Only hashes are stored, so that a link
 * works on every server process, and none can be read out of the database. docs/decisions/sign-in.md
 */

export interface LinkServices extends CredentialServices {
  readonly failedAttempts: FailedAttempts;
  readonly localSignIn: LocalSignIn;
}

const LINK_MINUTES = 15;

const INVITATION_DAYS = 7;

export interface SignInLink {
  readonly url: string;
  readonly expiresAt: Date;
}

/** The token of a new link; its name in the audit, from which the token cannot be derived; and its address. */
function newLink(baseUrl: string) {
  const token = newSecret("link");
  const hash = hashSecret(token);
  return { hash, name: nameOf(hash), url: `${baseUrl}/dashboard/sign-in?token=${token}` };
}

const nameOf = (hash: string): string => hash.slice(0, 16);

const makerOf = ({ person, adminPrint }: Context, { adminPrints }: Sessions) => {
  const madeBy = person?.userId ?? null;
  return { madeBy, adminPrint: madeBy === null ? (adminPrint ?? adminPrints[0] ?? null) : null };
};

/** @param baseUrl where people reach the server. */
export async function createSignInLink(
  { database, clock, sessions }: CredentialServices,
  context: Context,
  baseUrl: string,
): Promise<SignInLink> {
  const { hash, name, url } = newLink(baseUrl);
  const maker = makerOf(context, sessions);
  const userId = maker.madeBy;
  const expiresAt = later(clock.now(), { minutes: LINK_MINUTES });
  const created = {
    action: "created",
    kind: "sign_in_link",
    name: userId ?? ADMINISTRATOR.userName,
    details: { link: name },
  };
  await withRetries(database, async (tx) => {
    await saveLink(tx, { hash, expiresAt, userId, isInvitation: false, ...maker });
    await recordChanges(tx, clock, context, [created]);
  });
  return { url, expiresAt };
}

/**
 * Makes a link that signs a colleague in once within seven days, and ends the colleague's earlier invitations.
 *
 * @returns the link, and the user name of the colleague.
 * @throws Problem NOT_FOUND; CONFLICT if the colleague is deactivated, or if people sign in with an identity provider only;
 *   FORBIDDEN for a maker who lacks a permission of the colleague, and for an invitation to oneself.
 */
export async function createInvitation(
  { database, clock, sessions, localSignIn }: Omit<LinkServices, "failedAttempts">,
  context: CompanyContext,
  userId: string,
  baseUrl: string,
): Promise<SignInLink & { readonly userName: string }> {
  if (!(await localSignIn.isOn())) throw localSignIn.off("CONFLICT");
  const known = await findUser({ database, clock }, context, userId);
  if (!known) throw new Problem("NOT_FOUND", "User not found");
  const { person } = context;
  if (person?.userId === known.id) {
    throw new Problem(
      "FORBIDDEN",
      "You cannot invite yourself. Change your password and your passkeys under your own sign-in.",
    );
  }
  const { hash, name, url } = newLink(baseUrl);
  const expiresAt = later(clock.now(), { days: INVITATION_DAYS });
  const userName = known.attributes.userName;
  await withRetries(database, async (tx) => {
    const found = await lockActiveUser(tx, known.id);
    if (!found) {
      throw new Problem(
        "CONFLICT",
        `${userName} is deactivated. Reactivate them before you invite them.`,
      );
    }
    if (person && !covers(person, personOf(known.id, found.attributes, found.sets))) {
      throw new Problem(
        "FORBIDDEN",
        `You lack a permission that ${userName} has, so you cannot make a link that signs in as them.`,
      );
    }
    const ended = await endInvitations(tx, known.id);
    const link = { hash, expiresAt, userId: known.id, isInvitation: true };
    await saveLink(tx, { ...link, ...makerOf(context, sessions) });
    const details = {
      link: name,
      user_name: userName,
      expires_at: expiresAt.toISOString(),
      ...(ended > 0 && { ended }),
    };
    const created = { action: "created", kind: "invitation", name: known.id, details };
    await recordChanges(tx, clock, context, [created]);
  });
  return { url, expiresAt, userName };
}

/**
 * Signs in whom the link is for.
 *
 * @returns the session, and whether the link was an invitation.
 * @throws Problem UNAUTHENTICATED for a link that was used or has expired, or whose maker may no longer make it; FORBIDDEN if the
 *   person was removed or deactivated, or if people sign in with an identity provider only.
 */
export async function followSignInLink(
  services: LinkServices,
  context: Context,
  token: string,
  userAgent: string | undefined,
): Promise<StartedSession & { readonly isInvitation: boolean }> {
  const { database, clock, sessions, failedAttempts, localSignIn } = services;
  const from = context.address ?? "";
  failedAttempts.refuseLocked("link", from);
  const hash = hashSecret(token);
  const link = await withRetries(database, async (tx) => {
    const found = await findLink(tx, hash, clock.now());
    if (!found || (await isStillGood(tx, found, sessions))) return found;
    await takeLink(tx, hash);
    return undefined;
  });
  if (!link) throw failedAttempts.refuse("link", from);
  const { userId, isInvitation } = link;
  const adminPrint = userId === null ? link.adminPrint : null;
  if (isInvitation && !(await localSignIn.isOn())) throw localSignIn.off("FORBIDDEN");
  const how = {
    way: isInvitation ? "invitation" : "link",
    link: nameOf(hash),
    adminPrint,
    userAgent,
  } as const;
  // It is used up where the session begins, with the user locked: what ends the user's links and sessions comes before or after both.
  const started = await sessions
    .start(context, userId, how, (tx) => takeLink(tx, hash))
    .catch((error: unknown) => {
      const isUsed = error instanceof Problem && error.code === "UNAUTHENTICATED";
      throw isUsed ? failedAttempts.refuse("link", from) : error;
    });
  return { ...started, isInvitation };
}

/**
 * Whether the maker could make the link now. Meanwhile the maker may have lost permissions, or the colleague may have been given
 * more than the maker has: a link that was copied earlier must not open them.
 */
async function isStillGood(
  tx: Transaction,
  { userId, isInvitation, madeBy, adminPrint }: NonNullable<Awaited<ReturnType<typeof findLink>>>,
  sessions: Sessions,
): Promise<boolean> {
  if (adminPrint !== null && !sessions.adminPrints.includes(adminPrint)) return false;
  if (!isInvitation || madeBy === null || userId === null) return true;
  // In one order for all, so that two people who invite each other do not wait for each other.
  const ids = [madeBy, userId].sort();
  const locked = new Map<string, Awaited<ReturnType<typeof lockActiveUser>>>();
  for (const id of ids) locked.set(id, await lockActiveUser(tx, id));
  const [maker, colleague] = [locked.get(madeBy), locked.get(userId)];
  return (
    maker !== undefined &&
    colleague !== undefined &&
    covers(
      personOf(madeBy, maker.attributes, maker.sets),
      personOf(userId, colleague.attributes, colleague.sets),
    )
  );
}
