import type { Logger } from "pino";
import type { Database } from "../../database/database.ts";
import { type Job, type JobKind, TryAgain } from "./job.ts";
import type { Mail, Mailer } from "./mailer.ts";

export interface MailServices {
  readonly database: Database;
  readonly log: Logger;
  /** Undefined if no SMTP_URL is set. */
  readonly mailer: Mailer | undefined;
}

const MOST_TRIES = 8;
const FIRST_DELAY_MS = 1_000;

/**
 * A mail as a job, enqueued by the transaction that it reports: a killed process does not lose it,
 * and a mail server that is down delays nothing else.
 *
 * @param about the subject of the mails, for the log.
 * @param write undefined if there is no longer anything to report.
 */
export const mailJobOf = (
  name: string,
  about: string,
  write: (database: Database, job: Job) => Promise<Mail | undefined>,
): JobKind<MailServices> => ({
  name,
  async run({ database, log, mailer }, job) {
    const mail = await write(database, job);
    if (mail && !mailer) log.warn(`no mail is sent about ${about}: SMTP_URL is not set`);
    if (mail) await mailer?.send(mail).catch((error) => tryAgain(log, job, error));
    await database.transaction((tx) => job.finish(tx));
  },
});

/** @throws TryAgain unless the server refuses for good, or was asked often enough. */
function tryAgain(log: Logger, job: Job, error: Error & { code?: string; responseCode?: number }) {
  const { code, responseCode } = error;
  const isFinal = (responseCode ?? 0) >= 500 || job.failures + 1 >= MOST_TRIES;
  log.warn({ code, response_code: responseCode, is_final: isFinal }, "a mail was not sent");
  if (!isFinal) throw new TryAgain(FIRST_DELAY_MS * 4 ** job.failures, error);
}
