import { setTimeout as pause } from "node:timers/promises";
import { type SeenBeside, watchBeside } from "./beside.ts";
import type { ProbeReading } from "./server-probe.ts";
import { type Attack, type Target, Undefended } from "./target.ts";

/** The result of an attack, and its effects on the server and on others. */
export interface Effect extends SeenBeside, ProbeReading {
  readonly outcome: string;
  /** Whether the defence held: undefined if it did, otherwise the reason. */
  readonly fault: string | undefined;
  readonly tookMs: number;
  /** The served track requests of others in a second, as a share of those in a second without the attack. */
  readonly trackShare: number | undefined;
}

/** How long requests of others are counted before an attack that has a bound on them. */
const QUIET_MS = 3_000;

/** Which bound an attack did not keep. */
export function brokenBound({ bounds = {} }: Attack, effect: Effect): string | undefined {
  const { healthP99Ms, grownMb, trackShare } = bounds;
  if (healthP99Ms !== undefined && effect.healthP99Ms > healthP99Ms)
    return `health p99 ${Math.round(effect.healthP99Ms)} ms, allowed ${healthP99Ms}`;
  if (grownMb !== undefined && effect.grownMb > grownMb)
    return `${effect.grownMb} MB more memory, allowed ${grownMb}`;
  if (trackShare !== undefined && (effect.trackShare ?? 1) < trackShare)
    return `others got ${Math.round((effect.trackShare ?? 0) * 100)} % of their requests through`;
  return undefined;
}

/** The longest time of an attack; a longer one is reported as such. */
const LONGEST_MS = 60_000;

/** Runs an attack with health and legitimate requests beside it. */
export async function measure(attack: Attack, target: Target): Promise<Effect> {
  await attack.prepare?.(target);
  const { url, processId } = target.server;
  const quiet = attack.bounds?.trackShare && (await servedWithout(url, processId));
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
  const seen = await endWatch();
  const trackShare = quiet ? seen.served / tookMs / quiet : undefined;
  return { outcome, fault, tookMs, trackShare, ...seen, ...reading };
}

/** How many track requests of others are served in a millisecond. */
async function servedWithout(url: string, processId: number): Promise<number> {
  const endWatch = await watchBeside({ url, processId });
  await pause(QUIET_MS);
  return (await endWatch()).served / QUIET_MS;
}

const tooLong = (): Promise<never> =>
  new Promise((_, reject) => {
    const late = () => reject(new Undefended(`It takes longer than ${LONGEST_MS} ms.`));
    setTimeout(late, LONGEST_MS).unref();
  });
