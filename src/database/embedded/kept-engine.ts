import { setTimeout as pause } from "node:timers/promises";
import type { EngineEvent } from "../database.ts";
import { EngineError, type EngineThread } from "./engine-thread.ts";
import type { FolderDisk } from "./folder-disk.ts";
import type { Connection } from "./one-connection.ts";

/** How often a start is tried again. */
const TRY_EVERY_MS = 1_000;

/** SQLSTATEs of an engine that cannot write its files; XX000 has the others, such as a quota. */
const CANNOT_WRITE = /^(53100|42501|58030|58P01|XX000)$/;

const READ_ONLY_TRANSACTION = "25006";

interface Kept {
  readonly start: () => Promise<EngineThread>;
  readonly disk: FolderDisk;
  readonly tell: (event: EngineEvent) => void;
  /** Undefined between two engines. */
  engine: EngineThread | undefined;
  /** Why there is none. */
  cause: Error | undefined;
  /** The latest settings of the engine. */
  isReadOnly: boolean;
  isClosing: boolean;
  restarting: Promise<void> | undefined;
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
  const none = { engine: undefined, cause: undefined, restarting: undefined };
  const kept: Kept = { start, disk, tell, ...none, isReadOnly: false, isClosing: false };
  use(kept, first);
  return {
    begin() {
      const hasTrouble = disk.trouble() !== undefined;
      if (kept.engine && hasTrouble !== kept.isReadOnly) {
        kept.isReadOnly = hasTrouble;
        const value = hasTrouble ? "on" : "off";
        // The engine keeps the order; if this fails, everything that follows fails.
        kept.engine.script(`set default_transaction_read_only = ${value}`).catch(() => {});
      }
      return connectionTo(kept, kept.engine);
    },
    run: (...statements) => connectionTo(kept, kept.engine).run(...statements),
    script: (sql) => connectionTo(kept, kept.engine).script(sql),
    async close() {
      kept.isClosing = true;
      disk.close();
      await kept.restarting;
      await kept.engine?.close();
    },
  };
}

function use(kept: Kept, engine: EngineThread): void {
  kept.engine = engine;
  kept.isReadOnly = false;
  void engine.failed.then((error) => {
    kept.engine = undefined;
    kept.cause = error;
    if (!kept.isClosing) kept.restarting = restart(kept, error);
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
      kept.cause = error as Error;
      const details = { reason: kept.cause.message };
      if (tries === 1) tell({ level: "error", message: "the engine cannot start yet", details });
      await pause(TRY_EVERY_MS);
    }
  }
}

/** The connection to one engine: work that has begun on it must not continue in the next one. */
function connectionTo(kept: Kept, engine: EngineThread | undefined): Connection {
  const open = (): EngineThread => {
    if (engine && engine === kept.engine) return engine;
    throw refusal(kept);
  };
  return {
    run: async (...statements) => watched(kept, open().run(...statements)),
    script: async (sql) => watched(kept, open().script(sql)),
    close: async () => {},
  };
}

/** What refuses work while there is no engine. */
function refusal({ disk, cause }: Kept): Error {
  const trouble = disk.trouble();
  if (trouble) return new DiskError(trouble.sentence);
  return new EngineError({ message: cause?.message ?? "The engine restarts.", code: "57P03" });
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

/** The engine takes no writes, because its disk does not. */
class DiskError extends EngineError {
  constructor(sentence: string) {
    super({ message: sentence, code: "53100" });
    this.name = "DiskError";
  }
}
