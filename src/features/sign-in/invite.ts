import type { Logger } from "pino";
import { createAllowance } from "../../core/base/allowance.ts";
import type { CompanyContext } from "../../core/base/context/context.ts";
import { Problem } from "../../core/base/problem.ts";
import { quoted } from "../../core/mail/mail-job.ts";
import type { Mailer } from "../../core/mail/mailer.ts";
import { createInvitation, type LinkServices, type SignInLink } from "./links.ts";

export interface InviteServices extends LinkServices {
  readonly log: Logger;
  /** Undefined if no SMTP_URL is set. */
  readonly mailer: Mailer | undefined;
}

/** Links for one colleague: each is mailed, and nobody is to be flooded. */
const MOST_A_MINUTE = 5;

const allowance = createAllowance(10_000);

/** A mail server that keeps silent longer delays the link to copy too much. */
const MAIL_MS = 8_000;

/**
 * Makes an invitation, and mails it if there is a mail server. The link is nowhere stored, so it cannot wait in a queue: whether it
 * was mailed is part of the response, and the maker can copy it.
 *
 * @throws Problem as `createInvitation` does; RATE_LIMITED.
 */
export async function invite(
  services: InviteServices,
  context: CompanyContext,
  userId: string,
  baseUrl: string,
): Promise<SignInLink & { readonly mailed: boolean }> {
  const retryAfterSeconds = allowance.take(userId.toLowerCase(), MOST_A_MINUTE);
  if (retryAfterSeconds > 0) {
    throw new Problem("RATE_LIMITED", "Too many invitations for this person. Try again later.", {
      retryAfterSeconds,
    });
  }
  const { userName, ...link } = await createInvitation(services, context, userId, baseUrl);
  return { ...link, mailed: await mail(services, context, userName, link) };
}

async function mail(
  { mailer, log, clock }: InviteServices,
  { company, person }: CompanyContext,
  to: string,
  { url, expiresAt }: SignInLink,
): Promise<boolean> {
  if (!mailer) return false;
  const text = [
    `${person?.userId ? person.userName : "An administrator"} invites you to Rapport, for ${quoted(company.name)}.`,
    "",
    `Open this link and choose how you sign in from now on:`,
    url,
    "",
    `It works once, until ${expiresAt.toISOString().slice(0, 16).replace("T", " ")} UTC. Do not forward it: it signs in as you.`,
    "If you expected no invitation, ignore this mail.",
  ].join("\n");
  const sent = mailer.send({ to, subject: "Your invitation to Rapport", text, id: clock.newId() });
  return new Promise<boolean>((resolve) => {
    const timer = setTimeout(() => resolve(false), MAIL_MS);
    sent
      .then(
        () => resolve(true),
        (error: Error & { code?: string; responseCode?: number }) => {
          log.warn(
            { code: error.code, response_code: error.responseCode },
            "an invitation was not mailed",
          );
          resolve(false);
        },
      )
      .finally(() => clearTimeout(timer));
  });
}
