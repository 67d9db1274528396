import { after } from "node:test";
import { SMTPServer } from "smtp-server";
import { readConfig } from "../src/server/config.ts";

export interface Received {
  readonly from: string;
  readonly to: readonly string[];
  readonly user: string | undefined;
  readonly text: string;
}

/** A mail server that keeps its mails; it can be told to refuse the first ones. */
export async function startMailServer() {
  const received: Received[] = [];
  const waiting: (() => void)[] = [];
  const refusals: (Error & { responseCode: number })[] = [];
  const server = new SMTPServer({
    disabledCommands: ["STARTTLS"],
    allowInsecureAuth: true,
    logger: false,
    onAuth: (auth, _session, done) =>
      auth.username === "rapport" && auth.password === "p@ss"
        ? done(null, { user: auth.username })
        : done(new Error("no")),
    onMailFrom: (_address, _session, done) => done(refusals.shift()),
    onData(stream, session, done) {
      let text = "";
      stream.setEncoding("utf8").on("data", (part: string) => {
        text += part;
      });
      stream.on("end", () => {
        const { mailFrom, rcptTo } = session.envelope;
        received.push({
          from: mailFrom ? mailFrom.address : "",
          to: rcptTo.map((each) => each.address),
          user: session.user,
          text,
        });
        done();
        for (const go of waiting.splice(0)) go();
      });
    },
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  after(() => new Promise<void>((resolve) => server.close(resolve)));
  const { port } = server.server.address() as { port: number };
  return {
    url: `smtp://rapport:p%40ss@127.0.0.1:${port}`,
    received,
    refuseNext: (responseCode: number) =>
      refusals.push(Object.assign(new Error("not now"), { responseCode })),
    /** Waits for this many mails. */
    async mails(count: number): Promise<readonly Received[]> {
      while (received.length < count) await new Promise<void>((go) => waiting.push(go));
      return received;
    },
  };
}

/** The settings for mails, as an environment has them. */
export function sendsMails(environment: NodeJS.ProcessEnv) {
  const { smtpUrl, smtpFrom } = readConfig(environment);
  return { smtpUrl, smtpFrom };
}
