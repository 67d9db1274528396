/*
 * The effects of an attack on everyone else. `duringAttack()` runs an attack and, beside it, asks
 * `/health/live` and sends a legitimate request again and again, and measures how late the event
 * loop runs. The server runs in the test's own process, so an attack must prepare its bytes in
 * advance: work of the attacker would count as a delay of the server.
 */
import assert from "node:assert/strict";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as pause } from "node:timers/promises";

export interface Effect {
  /** The slowest response of `/health/live`, in milliseconds. */
  readonly worstHealthMs: number;
  /** The longest time that the event loop did not get to anything else, in milliseconds. */
  readonly worstDelayMs: number;
  /** Legitimate requests that were served and that were not. */
  readonly served: number;
  readonly refused: number;
}

export interface Beside {
  /** The address of the server. */
  readonly url: string;
  /** Sends one legitimate request. @returns its status. */
  readonly legitimate: () => Promise<number>;
}

/** Health and legitimate requests are sent so often. */
const EVERY_MS = 10;

/** The delay that no input may cause (issue: the event loop never stalls for more than 50 ms). */
export const LONGEST_STALL_MS = 50;

/** Runs an attack to its end. @returns its effects on the requests beside it. */
export async function duringAttack(
  { url, legitimate }: Beside,
  attack: () => Promise<unknown>,
): Promise<Effect> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  let isOver = false;
  let worstHealthMs = 0;
  let served = 0;
  let refused = 0;
  const untilOver = async (turn: () => Promise<void>) => {
    while (!isOver) {
      await turn();
      await pause(EVERY_MS);
    }
  };
  const askHealth = async () => {
    const startedAt = performance.now();
    const { status } = await fetch(`${url}/health/live`);
    assert.equal(status, 200);
    worstHealthMs = Math.max(worstHealthMs, performance.now() - startedAt);
  };
  const sendLegitimate = async () => {
    const status = await legitimate();
    if (status < 300) served++;
    else refused++;
  };
  // Once before the measurement: the first request of a process compiles the code that the next
  // ones only run.
  await askHealth();
  await sendLegitimate();
  worstHealthMs = served = refused = 0;
  delay.enable();
  const beside = [untilOver(askHealth), untilOver(sendLegitimate)];
  try {
    await attack();
  } finally {
    isOver = true;
    await Promise.all(beside);
    delay.disable();
  }
  return { worstHealthMs, worstDelayMs: delay.max / 1e6, served, refused };
}

/**
 * Checks that health responds in time, that the event loop never stalls, and that every legitimate
 * request is served, while an attack runs. A busy machine delays a process too, so the best of a
 * few attempts counts: a delay of the code itself occurs every time.
 */
export async function assertHarmless(
  beside: Beside,
  attack: () => Promise<unknown>,
  attempts = 4,
): Promise<void> {
  const effects: Effect[] = [];
  while (effects.length < attempts) {
    const effect = await duringAttack(beside, attack);
    assert.equal(effect.refused, 0, "A legitimate request beside the attack was refused.");
    if (effect.worstHealthMs <= LONGEST_STALL_MS && effect.worstDelayMs <= LONGEST_STALL_MS) return;
    effects.push(effect);
  }
  assert.fail(`Health or the event loop was late in every attempt: ${JSON.stringify(effects)}`);
}
