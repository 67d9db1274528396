import { setTimeout as pause } from "node:timers/promises";
import { type EngineEvent, isRefusedEntry, isUnreachable } from "../database.ts";
import { databaseError } from "../lost-node.ts";

/*
 * A PostgreSQL that is stopped refuses connections. A server that is frozen, or behind a network
 * that drops packets, sends nothing at all, and the operating system would wait for many minutes.
 * If every connection of this process has been silent for half a second, or one was lost, the
 * server is therefore asked for a sign of life on a separate connection. Without one in time it
 * counts as lost: all waiting calls fail, and later calls fail at once, until it gives one.
 *
 * A server that refuses new connections (the login, the name of the database, too many of them) is lost, too, once no
 * open connection works any more. It is then tried with one call from time to time, because the connection of the sign of
 * life may be an older one that still works.
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

/** For how long connections must be refused, without a response on any that is open, before the server counts as lost. */
const REFUSED_MS = 1_000;

/** How often a server is tried that refuses connections. */
const TRY_EVERY_MS = 250;

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
  /** A new connection was refused. */
  refuse(error: unknown): void;
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
  const loss = createLoss();
  const waiting = new Set<(error: unknown) => void>();
  let silentTicks = 0;
  let sign: { readonly verdict: Promise<void>; ticks: number; expire(): void } | undefined;

  function lose(error: unknown): void {
    loss.begin(error);
    disconnect();
    for (const reject of waiting) reject(error);
    waiting.clear();
  }

  function find(): void {
    silentTicks = 0;
    loss.end();
  }

  /** Asks for a sign of life, unless one is already awaited. */
  function askOnce(): Promise<void> {
    if (sign) return sign.verdict;
    let expire: () => void = () => {};
    const late = new Promise<never>((_, reject) => {
      expire = () => reject(silence());
    });
    const verdict = Promise.race([ask(), late]).then(
      () => {
        if (!loss.now()?.triedAt) find();
      },
      (error) => {
        if (isUnreachable(error)) lose(error);
        else if (!isRefusedEntry(error)) find();
        // One that says no is there.
        else if (loss.now()) loss.begin(error, performance.now());
      },
    );
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
    const lost = loss.now();
    if (silentTicks >= TICKS_UNTIL_ASKED || (lost && !lost.triedAt)) void askOnce();
    if (!sign) return;
    const { expire } = sign;
    // Responses that have arrived are read first.
    if (++sign.ticks > TICKS_FOR_A_SIGN) setImmediate(() => isLate() && expire());
  }, TICK_MS).unref();

  return {
    recovery() {
      const lost = loss.now();
      if (!lost) return undefined;
      if (lost.triedAt) return tryOnce(lost);
      const patience = pause(PATIENCE_MS, undefined, { ref: false });
      return Promise.race([askOnce(), patience]).then(() => {
        const still = loss.now();
        if (still) throw still.error;
      });
    },
    waitFor(reject) {
      waiting.add(reject);
      return (hasResponse) => {
        waiting.delete(reject);
        if (!hasResponse) return;
        silentTicks = 0;
        loss.respond();
        if (sign) sign.ticks = 0;
      };
    },
    refuse: loss.refuse,
    suspect: () => void askOnce(),
    onEvent: loss.onEvent,
    stop: () => clearInterval(timer),
  };
}

/** A server that is lost. */
interface Lost {
  readonly since: number;
  readonly error: unknown;
  /** When it last refused a connection; undefined if it does not respond at all. */
  triedAt?: number;
}

/** Lets one call in a while try a server that refuses connections. @throws for all others. */
function tryOnce(lost: Lost): Promise<void> | undefined {
  const now = performance.now();
  if (now - (lost.triedAt ?? 0) < TRY_EVERY_MS) return Promise.reject(lost.error);
  lost.triedAt = now;
  return undefined;
}

/** Remembers whether the server is lost, and tells once when that begins and once when it ends. */
function createLoss() {
  let tell: (event: EngineEvent) => void = () => {};
  let lost: Lost | undefined;
  /** Since when connections are refused and none that is open has had a response. */
  let refusedSince: number | undefined;
  function begin(error: unknown, triedAt?: number): void {
    if (!lost) tell(lossOf(error));
    lost = { since: lost?.since ?? performance.now(), error, ...(triedAt && { triedAt }) };
  }
  function end(): void {
    if (!lost) return;
    const { since } = lost;
    lost = undefined;
    tell(returnAfter(performance.now() - since));
  }
  return {
    now: () => lost,
    begin,
    end,
    /** An open connection has had a response. */
    respond(): void {
      refusedSince = undefined;
      if (lost?.triedAt) end();
    },
    refuse(error: unknown): void {
      const now = performance.now();
      refusedSince ??= now;
      if (lost || now - refusedSince >= REFUSED_MS) begin(error, now);
    },
    onEvent: (listen: (event: EngineEvent) => void) => {
      tell = listen;
    },
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
