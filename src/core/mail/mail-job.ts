import type { Logger } from "pino";
import { type Job, type JobKey, type JobKind, TryAgain } from "../admin/jobs/job.ts";
import { insertJobs } from "../admin/jobs/store.ts";
import type { Clock } from "../base/clock.ts";
import { type Database, type Transaction, withRetries } from "../database/database.ts";
import type { StoringServices } from "../database/storing-services.ts";
import { planMail } from "./mail-store.ts";
import type { Mailer } from "./mailer.ts";

export interface MailServices extends StoringServices {
  readonly log: Logger;
  /** Undefined if no SMTP_URL is set. */
  readonly mailer: Mailer | undefined;
}

/** A mail to everyone who wants to know about a thing. */
export interface Notice {
  readonly contacts: readonly string[];
  /** Holds no text that a role of a workspace can choose: a mail in the company's name must not say what they like. */
  readonly subject: string;
  readonly text: string;
}

const MOST_TRIES = 8;
const FIRST_DELAY_MS = 1_000;

/** Between two mails about the same thing. */
const PAUSE = { hours: 1 };

/**
 * Enqueues a mail within the transaction that it reports: a killed process does not lose it, and a mail server that is
 * down delays nothing else. A thing has one mail an hour: a further one waits, and then reports the latest state.
 *
 * @param key `subject` is the thing.
 */
export async function enqueueMail(tx: Transaction, clock: Clock, key: JobKey): Promise<void> {
  const runAt = await planMail(tx, key, clock.now(), PAUSE.hours);
  if (!runAt) return;
  // The time tells the mail that waits from one that is being sent.
  const subject = `${key.subject} ${runAt.getTime()}`;
  await insertJobs(tx, [{ ...key, subject, id: clock.newId(), runAt }]);
}

/**
 * The two kinds of jobs that mail about something, such as a sync. The first finds the contacts and enqueues the second for
 * each of them, so that a refused address repeats nobody else's mail.
 *
 * @param about the subject of the mails, for the log.
 * @param write undefined if there is no longer anything to report.
 */
export function mailJobsOf(
  name: string,
  about: string,
  write: (database: Database, workspaceId: number, thing: string) => Promise<Notice | undefined>,
): JobKind<MailServices>[] {
  const toOne = `${name}.contact`;
  const giveUp: JobKind<MailServices>["giveUp"] = async ({ database, log }, job, reason) => {
    log.error({ job: job.kind, reason }, `no mail is sent about ${about}`);
    await database.transaction((tx) => job.finish(tx));
  };
  return [
    {
      name,
      takes: "wait",
      giveUp,
      async run({ database, clock, log, mailer }, job) {
        const { workspaceId } = job;
        const thing = job.subject.replace(/ \S+$/, "");
        const notice = await write(database, workspaceId, thing);
        const contacts = notice?.contacts ?? [];
        if (contacts.length > 0 && !mailer) {
          log.warn(`no mail is sent about ${about}: SMTP_URL is not set`);
        }
        const jobs = (mailer ? contacts : []).map((contact) => {
          const subject = JSON.stringify([thing, contact]);
          return { workspaceId, kind: toOne, subject, id: clock.newId(), runAt: clock.now() };
        });
        await withRetries(database, async (tx) => {
          await job.finish(tx);
          await insertJobs(tx, jobs);
        });
      },
    },
    {
      name: toOne,
      takes: "wait",
      giveUp,
      async run({ database, log, mailer }, job) {
        const [thing, to] = JSON.parse(job.subject) as [string, string];
        const notice = await write(database, job.workspaceId, thing);
        if (notice?.contacts.includes(to)) {
          const { subject, text } = notice;
          await mailer
            ?.send({ to, subject, text, id: job.id })
            .catch((error) => tryAgain(log, job, error));
        }
        await database.transaction((tx) => job.finish(tx));
      },
    },
  ];
}

/** A name in the text of a mail: it cannot pass for a sentence of Rapport, nor fill the mail. */
export const quoted = (name: string): string =>
  JSON.stringify(name.length > 100 ? `${name.slice(0, 99)}…` : name);

/** @throws TryAgain unless the server refuses for good, or was asked often enough. */
function tryAgain(log: Logger, job: Job, error: Error & { code?: string; responseCode?: number }) {
  const { code, responseCode } = error;
  const isFinal = (responseCode ?? 0) >= 500 || job.failures + 1 >= MOST_TRIES;
  log.warn({ code, response_code: responseCode, is_final: isFinal }, "a mail was not sent");
  if (!isFinal) throw new TryAgain(FIRST_DELAY_MS * 4 ** job.failures, error);
}
