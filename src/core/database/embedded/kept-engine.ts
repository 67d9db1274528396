import { setTimeout as pause } from "node:timers/promises";
import type { EngineEvent } from "../database.ts";
import type { Use } from "../planner.ts";
import { EngineError, type EngineThread } from "./engine-thread.ts";
import type { FolderDisk } from "./folder-disk.ts";
import type { Connection } from "./one-connection.ts";

/** How often a start is tried again. */
const TRY_EVERY_MS = 1_000;

/** SQLSTATEs of an engine that cannot write its files; XX000 has the others, such as a quota. */
const CANNOT_WRITE = /^(53100|42501|58030|58P01|XX000)$/;

const READ_ONLY_TRANSACTION = "25006";

/**
 * How often a look is taken at what the engine does. Time is counted in such turns of a timer: on a machine that is so busy
 * that they come late, a statement has that much more time.
 */
const LOOK_EVERY_MS = 250;

/** After so many looks at the same statement others are refused, so that each has its response within two seconds. */
const LOOKS_UNTIL_STALLED = 6;

/**
 * After so many the engine is ended and started again: nothing else ends a statement, because it runs on the only thread of
 * the engine. What writes, and what reads by key, takes a quarter of a second at most, because larger work is done in slices.
 * Exports, counts and searches read what there is, on a slow machine too. Migrations and resets take as long as they take.
 */
const LOOKS_UNTIL_ENDED: Readonly<Record<Use, number>> = {
  intake: 14,
  lookup: 240,
  analysis: 240,
  maintenance: Number.POSITIVE_INFINITY,
};

const RECOVERS = "The database failed and recovers.";
const BUSY = "The database has been busy with one statement for too long.";
const NEVER_ENDS = "A statement held the embedded engine for too long.";

interface Kept {
  readonly start: () => Promise<EngineThread>;
  readonly disk: FolderDisk;
  readonly tell: (event: EngineEvent) => void;
  /** Undefined between two engines. */
  engine: EngineThread | undefined;
  /** The latest settings of the engine. */
  isReadOnly: boolean;
  isClosing: boolean;
  restarting: Promise<void> | undefined;
  /** The statement that others no longer wait for. */
  stalledId: number | undefined;
}

interface Session extends Connection {
  /** Decides how long a statement may hold the engine. */
  readonly use: Use;
}

/**
 * One engine after the other on the same folder. If one fails (it panics if it cannot write its
 * log), another is started, which recovers from the write-ahead log. While the disk is in trouble,
 * transactions are read-only.
 *
 * @param start opens the folder again.
 */
export function keepEngine(
  first: EngineThread,
  start: () => Promise<EngineThread>,
  disk: FolderDisk,
  tell: (event: EngineEvent) => void,
): Connection {
  const none = { engine: undefined, restarting: undefined, stalledId: undefined };
  const kept: Kept = { start, disk, tell, ...none, isReadOnly: false, isClosing: false };
  use(kept, first);
  let tellStalled: (session: Connection) => void = () => {};
  const endWatch = watch(kept, (session) => tellStalled(session));
  return {
    begin(use) {
      const hasTrouble = disk.trouble() !== undefined;
      if (kept.engine && hasTrouble !== kept.isReadOnly) {
        kept.isReadOnly = hasTrouble;
        const value = hasTrouble ? "on" : "off";
        // The engine keeps the order; if this fails, everything that follows fails.
        kept.engine.script(kept, `set default_transaction_read_only = ${value}`).catch(() => {});
      }
      return connectionTo(kept, kept.engine, use);
    },
    stall: {
      refusal: () => (isStalled(kept) ? new EngineUnavailable(BUSY) : undefined),
      onBegin: (listen) => {
        tellStalled = (session) => listen(session, new EngineUnavailable(BUSY));
      },
    },
    // The engine's own work, such as a checkpoint, has no deadline.
    run: (...statements) => connectionTo(kept, kept.engine).run(...statements),
    script: (sql) => connectionTo(kept, kept.engine).script(sql),
    async close() {
      kept.isClosing = true;
      endWatch();
      disk.close();
      await kept.restarting;
      await kept.engine?.close();
    },
  };
}

const isStalled = ({ engine, stalledId }: Kept): boolean =>
  stalledId !== undefined && engine?.running()?.id === stalledId;

/**
 * Looks whether a statement holds the engine.
 *
 * @param tellStalled learns of one for which others should not wait.
 * @returns what ends this.
 */
function watch(kept: Kept, tellStalled: (session: Connection) => void): () => void {
  let seen: { readonly engine: EngineThread; readonly id: number; looks: number } | undefined;
  const look = () => {
    const { engine } = kept;
    const running = engine?.running();
    const session = running?.session as Partial<Session> | undefined;
    const { use = "maintenance" } = session ?? {};
    if (!engine || !running || use === "maintenance") seen = undefined;
    else if (seen?.engine !== engine || seen.id !== running.id) {
      seen = { engine, id: running.id, looks: 0 };
    } else if (++seen.looks === LOOKS_UNTIL_STALLED) {
      kept.stalledId = running.id;
      tellStalled(session as Session);
    } else if (seen.looks === LOOKS_UNTIL_ENDED[use]) engine.kill(NEVER_ENDS);
  };
  const timer = setInterval(look, LOOK_EVERY_MS).unref();
  return () => clearInterval(timer);
}

function use(kept: Kept, engine: EngineThread): void {
  kept.engine = engine;
  kept.isReadOnly = false;
  kept.stalledId = undefined;
  void engine.failed.then((error) => {
    kept.engine = undefined;
    if (!kept.isClosing) kept.restarting = engine.ended.then(() => restart(kept, error));
  });
}

async function restart(kept: Kept, { message: reason }: Error): Promise<void> {
  const { tell } = kept;
  const failedAt = performance.now();
  tell({ level: "error", message: "the embedded engine failed and restarts", details: { reason } });
  kept.disk.suspect();
  for (let tries = 1; !kept.isClosing; tries++) {
    try {
      use(kept, await kept.start());
      const seconds = Math.round(performance.now() - failedAt) / 1_000;
      tell({ level: "info", message: "the embedded engine is back", details: { seconds, tries } });
      return;
    } catch (error) {
      const details = { reason: (error as Error).message };
      if (tries === 1) tell({ level: "error", message: "the engine cannot start yet", details });
      await pause(TRY_EVERY_MS);
    }
  }
}

/** The connection to one engine: work that has begun on it must not continue in the next one. */
function connectionTo(
  kept: Kept,
  engine: EngineThread | undefined,
  use: Use = "maintenance",
): Connection {
  const open = (): EngineThread => {
    if (engine && engine === kept.engine) return engine;
    throw refusal(kept);
  };
  const session: Session = {
    use,
    run: async (...statements) => watched(kept, open().run(session, ...statements)),
    script: async (sql) => watched(kept, open().script(session, sql)),
    close: async () => {},
  };
  return session;
}

/** The refusal of work while there is no engine. */
function refusal({ disk }: Kept): Error {
  const trouble = disk.trouble();
  return trouble ? new DiskError(trouble.sentence) : new EngineUnavailable(RECOVERS);
}

async function watched<Result>({ disk }: Kept, work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    const { code = "" } = error as { code?: string };
    if (CANNOT_WRITE.test(code)) disk.suspect();
    const trouble = code === READ_ONLY_TRANSACTION ? disk.trouble() : undefined;
    throw trouble ? new DiskError(trouble.sentence) : error;
  }
}

/** There is no engine at present, or it does not respond. Its message is for operators and callers. */
class EngineUnavailable extends EngineError {
  constructor(sentence: string) {
    super({ message: sentence, code: "57P03" });
    this.name = "EngineUnavailable";
  }
}

/** The engine takes no writes, because its disk does not. */
class DiskError extends EngineError {
  constructor(sentence: string) {
    super({ message: sentence, code: "53100" });
    this.name = "DiskError";
  }
}
