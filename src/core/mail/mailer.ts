import type { createTransport } from "nodemailer";

export interface Mail {
  /** One address: recipients do not see each other. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** Identifies the mail, so that a mail that is sent twice can be recognized. */
  readonly id: string;
}

export type Mailer = ReturnType<typeof createMailer>;

/** How long a server may keep silent, in milliseconds. */
const PATIENCE_MS = 30_000;

/**
 * Sends mails through an SMTP server.
 *
 * @param url `smtp://user:password@host:port`, or `smtps://…`.
 * @param from the sender, such as `Rapport <rapport@acme.example>`.
 */
export function createMailer(url: string, from: string) {
  let transport: ReturnType<typeof createTransport> | undefined;
  const domain = /@([^>\s]+)/.exec(from)?.[1] ?? "localhost";
  return {
    /** @throws the error of the SMTP client, with the server's `responseCode` if it answered. */
    async send({ to, subject, text, id }: Mail) {
      transport ??= await connect(url);
      await transport.sendMail({
        from,
        to,
        subject,
        text,
        messageId: `<${id}@${domain}>`,
      });
    },
  };
}

/** Its client is large, and many servers never send a mail: it is loaded for the first one. */
async function connect(url: string): Promise<ReturnType<typeof createTransport>> {
  const { createTransport } = await import("nodemailer");
  return createTransport({
    url,
    connectionTimeout: PATIENCE_MS,
    greetingTimeout: PATIENCE_MS,
    socketTimeout: PATIENCE_MS,
  });
}
