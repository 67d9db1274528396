import { type SeenBeside, watchBeside } from "./beside.ts";
import type { ProbeReading } from "./server-probe.ts";
import { type Attack, type Target, Undefended } from "./target.ts";

/** What an attack came to, and what it did to the server and to others. */
export interface Effect extends SeenBeside, ProbeReading {
  readonly outcome: string;
  /** Whether the defence held: undefined if it did, else why not. */
  readonly fault: string | undefined;
  readonly tookMs: number;
}

/** No attack takes longer; one that does is reported as such. */
const LONGEST_MS = 60_000;

/** Runs an attack with health and legitimate requests beside it. */
export async function measure(attack: Attack, target: Target): Promise<Effect> {
  await attack.prepare?.(target);
  const { url, processId } = target.server;
  const endWatch = await watchBeside({ url, processId });
  await target.server.read();
  const startedAt = performance.now();
  let outcome = "";
  let fault: string | undefined;
  try {
    outcome = await Promise.race([attack.run(target), tooLong()]);
  } catch (error) {
    if (!(error instanceof Undefended)) throw error;
    outcome = fault = error.message;
  }
  const tookMs = performance.now() - startedAt;
  const reading = await target.server.read();
  return { outcome, fault, tookMs, ...(await endWatch()), ...reading };
}

const tooLong = (): Promise<never> =>
  new Promise((_, reject) => {
    const late = () => reject(new Undefended(`It takes longer than ${LONGEST_MS} ms.`));
    setTimeout(late, LONGEST_MS).unref();
  });
