import { EventEmitter } from "node:events";
import { type PGlite, types } from "@electric-sql/pglite";
import { LRUCache } from "lru-cache";
import { parse, serialize } from "pg-protocol";
import type {
  BackendMessage,
  CommandCompleteMessage,
  DatabaseError,
  DataRowMessage,
  MessageName,
  RowDescriptionMessage,
} from "pg-protocol/dist/messages.js";
import { checkWritten, NOT_PREPARED } from "../database.ts";
import { readTimestamp } from "../parameters/parameters.ts";
import type { Statement } from "./one-connection.ts";

/*
 * Statements on the embedded engine. Its own `query` sends six messages for each, parses and analyzes each again,
 * and copies every value of a result twice. Here a statement is prepared once, and a whole transaction is one message:
 * see "Extended Query" in https://www.postgresql.org/docs/current/protocol-flow.html.
 */

/** More than the statements of the write path and of requests; each takes tens of kilobytes of the engine's memory. */
const MOST_PREPARED = 250;

/** A statement that the engine has prepared. */
interface Prepared {
  readonly name: string;
  /** The columns of its rows; unknown until it has run, empty if it returns none. */
  columns: readonly Column[] | undefined;
}

interface Column {
  readonly name: string;
  readonly read: (text: string) => unknown;
}

/** The effect of a statement. */
interface Outcome {
  readonly rows: Record<string, unknown>[];
  /** How many rows the engine says that it wrote. */
  written: number;
}

/** Runs statements on the engine and keeps the latest ones prepared. */
export function createStatementRunner(engine: PGlite) {
  /** Messages to send with the next statements. */
  let closing: Uint8Array[] = [];
  const prepared = new LRUCache<string, Prepared>({
    max: MOST_PREPARED,
    dispose: ({ name }) => closing.push(serialize.close({ type: "S", name })),
  });
  let lastName = 0;
  const ask = createAsker(engine);

  async function run(statements: readonly Statement[], as: "transaction" | "part") {
    if (as === "part") return resultsOf(statements, await send([], statements));
    try {
      const results = resultsOf(statements, await send([serialize.query("begin")], statements));
      await script("commit");
      return results;
    } catch (error) {
      if (!isFatal(error)) await script("rollback");
      throw error;
    }
  }

  async function script(sql: string): Promise<void> {
    await ask(serialize.query(sql), () => {});
  }

  async function send(first: readonly Uint8Array[], statements: readonly Statement[]) {
    const messages = [...closing, ...first];
    closing = [];
    const running: Prepared[] = [];
    for (const { sql, parameters } of statements) {
      let statement = prepared.get(sql);
      if (!statement) {
        // The unnamed statement ends with the next one.
        const isKept = !sql.startsWith(NOT_PREPARED);
        statement = { name: isKept ? `s${++lastName}` : "", columns: undefined };
        if (isKept) prepared.set(sql, statement);
        messages.push(serialize.parse({ name: statement.name, text: sql, types: [] }));
      }
      running.push(statement);
      messages.push(
        serialize.bind({ statement: statement.name, values: parameters.map(parameterOf) }),
      );
      if (!statement.columns) messages.push(serialize.describe({ type: "P" }));
      messages.push(serialize.execute({}));
    }
    messages.push(serialize.sync());
    const outcomes = running.map((): Outcome => ({ rows: [], written: 0 }));
    // Before the first statement there may be answers to `close` and `begin`.
    let at = -1;
    try {
      await ask(Buffer.concat(messages), (message) => {
        if (message.name === "bindComplete") at++;
        const [statement, outcome] = [running[at], outcomes[at]];
        if (statement && outcome) READERS[message.name]?.(message, statement, outcome);
      });
      return outcomes;
    } catch (error) {
      // It may not have been prepared, or the tables have changed. Next time it is prepared under a new name.
      for (const { sql } of statements) prepared.delete(sql);
      throw error;
    }
  }

  return {
    /**
     * Runs statements one after the other, in their own transaction or within the running one.
     *
     * @returns the rows of each, or how many it wrote.
     */
    run,
    /** Runs several statements without parameters. */
    script,
  };
}

const resultsOf = (statements: readonly Statement[], outcomes: readonly Outcome[]): unknown[] =>
  statements.map(({ answer, mustWrite }, index) => {
    const { rows, written } = outcomes[index] as Outcome;
    const count = checkWritten(written, mustWrite);
    return answer === "rows" ? rows : count;
  });

/** A parameter as text, or in the binary form of the protocol. */
function parameterOf(value: unknown): string | Buffer | null {
  if (value === null || value === undefined) return null;
  if (value instanceof Uint8Array) {
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  }
  return String(value);
}

/** Sends messages of the protocol to an engine and reads its answers. */
function createAsker(engine: PGlite) {
  // The library reads a stream.
  const answers = new EventEmitter();
  let take: (message: BackendMessage) => void = () => {};
  void parse(answers as unknown as NodeJS.ReadableStream, (message) => take(message));
  // A copy: the engine writes its next answers to the same place.
  const onRawData = (data: Uint8Array) => void answers.emit("data", Buffer.from(data));

  /** @throws the first error of the engine, with its SQLSTATE. */
  return async (
    messages: Uint8Array,
    onMessage: (message: BackendMessage) => void,
  ): Promise<void> => {
    let error: DatabaseError | undefined;
    take = (message) => {
      if (message.name === "error") error = worseOf(error, message as DatabaseError);
      else onMessage(message);
    };
    // Without `onRawData` the engine would also parse its responses, and keep all of them.
    try {
      await engine.execProtocolRawStream(messages, { onRawData });
    } catch (thrown) {
      throw error ?? Object.assign(thrown as Error, { severity: "PANIC" });
    } finally {
      take = () => {};
    }
    if (error) throw error;
  };
}

/** The first of two errors, unless only the second one ends the engine. */
const worseOf = (first: DatabaseError | undefined, second: DatabaseError): DatabaseError =>
  first && (isFatal(first) || !isFatal(second)) ? first : second;

/** Whether the engine can do nothing more after an error: it panicked, or its code failed. */
export const isFatal = (error: unknown): boolean =>
  /^(PANIC|FATAL)$/.test((error as { severity?: string }).severity ?? "");

/** The part of a response that describes its statement. */
const READERS: {
  readonly [Name in MessageName]?: (
    message: BackendMessage,
    statement: Prepared,
    outcome: Outcome,
  ) => void;
} = {
  rowDescription(message, statement) {
    statement.columns = (message as RowDescriptionMessage).fields.map(columnOf);
  },
  noData(_message, statement) {
    statement.columns = [];
  },
  dataRow(message, { columns = [] }, { rows }) {
    const { fields } = message as DataRowMessage;
    const row: Record<string, unknown> = {};
    for (const [index, { name, read }] of columns.entries()) {
      // The library's type leaves out that a field may be null.
      const text = fields[index] as string | null;
      row[name] = text === null ? null : read(text);
    }
    rows.push(row);
  },
  commandComplete(message, _statement, outcome) {
    outcome.written = Number(/ (\d+)$/.exec((message as CommandCompleteMessage).text)?.[1] ?? 0);
  },
};

const asText = (text: string): string => text;

function columnOf({ name, dataTypeID }: RowDescriptionMessage["fields"][number]): Column {
  if (dataTypeID === types.TIMESTAMPTZ) return { name, read: readTimestamp };
  const read = types.parsers[dataTypeID as keyof typeof types.parsers];
  return { name, read: read ? (text) => read(text, dataTypeID) : asText };
}
