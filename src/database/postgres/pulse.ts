import { setTimeout as pause } from "node:timers/promises";
import { type EngineEvent, isUnreachable } from "../database.ts";
import { databaseError } from "../lost-node.ts";

/*
 * A PostgreSQL that is stopped refuses connections. A server that is frozen, or behind a network
 * that drops packets, sends nothing at all, and the operating system would wait for many minutes.
 * If every connection of this process has been silent for half a second, or one was lost, the
 * server is therefore asked for a sign of life on a separate connection. Without one in time it
 * counts as lost: all waiting calls fail, and later calls fail at once, until it gives one.
 */

/** How often silence is measured. */
const TICK_MS = 250;

/** After how many silent ticks a sign of life is requested, and how many more it may take. */
const TICKS_UNTIL_ASKED = 2;
const TICKS_FOR_A_SIGN = 5;

/**
 * How long a call waits for a lost server: enough time for a server that is back. A call may
 * already have waited for another silent one, and its caller is promised a response within two
 * seconds.
 */
const PATIENCE_MS = 100;

export interface Pulse {
  /**
   * For a lost server: resolves when it is back. @throws the reason why it is lost, a moment later.
   * Undefined of another.
   */
  recovery(): Promise<void> | undefined;
  /** Rejects a call as soon as the server is lost. @returns what to call at its end: with a response, or without. */
  waitFor(reject: (error: unknown) => void): (hasResponse: boolean) => void;
  /** A connection was lost: the rest may be, too. */
  suspect(): void;
  readonly onEvent: (listen: (event: EngineEvent) => void) => void;
  stop(): void;
}

/** How a server is asked. */
interface Line {
  /** Resolves with a sign of life. */
  ask(): Promise<unknown>;
  /** Closes all connections to the server, including those that are being opened. */
  disconnect(): void;
}

/**
 * Watches one server through the calls that wait for it.
 *
 * @param line how to ask for a sign of life and to disconnect.
 */
export function createPulse({ ask, disconnect }: Line): Pulse {
  let tell: (event: EngineEvent) => void = () => {};
  const waiting = new Set<(error: unknown) => void>();
  let silentTicks = 0;
  let sign: { readonly verdict: Promise<void>; ticks: number; expire(): void } | undefined;
  let lost: { readonly since: number; readonly error: unknown } | undefined;

  function lose(error: unknown): void {
    const isNew = !lost;
    lost = { since: lost?.since ?? performance.now(), error };
    if (isNew) tell(lossOf(error));
    disconnect();
    for (const reject of waiting) reject(error);
    waiting.clear();
  }

  function find(): void {
    silentTicks = 0;
    if (!lost) return;
    const { since } = lost;
    lost = undefined;
    tell(returnAfter(performance.now() - since));
  }

  /** Asks for a sign of life, unless one is already awaited. */
  function askOnce(): Promise<void> {
    if (sign) return sign.verdict;
    let expire: () => void = () => {};
    const late = new Promise<never>((_, reject) => {
      expire = () => reject(silence());
    });
    const verdict = Promise.race([ask(), late]).then(find, (error) => {
      // One that says no is there.
      if (isUnreachable(error)) lose(error);
      else find();
    });
    const asked = { verdict, ticks: 0, expire };
    sign = asked;
    void verdict.then(() => {
      if (sign === asked) sign = undefined;
    });
    return verdict;
  }

  /*
   * Silence is counted in ticks, not in time: if this machine is so busy that ticks come late, the
   * server and the connections to it have that much more time.
   */
  const isLate = () => (sign?.ticks ?? 0) > TICKS_FOR_A_SIGN;
  const timer = setInterval(() => {
    silentTicks = waiting.size > 0 ? silentTicks + 1 : 0;
    if (silentTicks >= TICKS_UNTIL_ASKED || lost) void askOnce();
    if (!sign) return;
    const { expire } = sign;
    // Responses that have arrived are read first.
    if (++sign.ticks > TICKS_FOR_A_SIGN) setImmediate(() => isLate() && expire());
  }, TICK_MS).unref();

  return {
    recovery() {
      if (!lost) return undefined;
      const patience = pause(PATIENCE_MS, undefined, { ref: false });
      return Promise.race([askOnce(), patience]).then(() => {
        if (lost) throw lost.error;
      });
    },
    waitFor(reject) {
      waiting.add(reject);
      return (hasResponse) => {
        waiting.delete(reject);
        if (!hasResponse) return;
        silentTicks = 0;
        if (sign) sign.ticks = 0;
      };
    },
    suspect: () => void askOnce(),
    onEvent: (listen) => {
      tell = listen;
    },
    stop: () => clearInterval(timer),
  };
}

const silence = (): Error => databaseError("ETIMEDOUT", "The database sends nothing.");

function lossOf(error: unknown): EngineEvent {
  const { code, message: reason } = error as { code?: string; message?: string };
  const message = "the database is lost";
  return { level: "error", message, details: { code, reason }, isUp: false };
}

function returnAfter(ms: number): EngineEvent {
  const details = { after_s: Math.round(ms / 100) / 10 };
  return { level: "info", message: "the database is back", details, isUp: true };
}
