/*
 * The messages of PostgreSQL's protocol that a floor needs, with parameters in binary form: the
 * cheapest way into both engines (lab/NOTEBOOK.md has what the other ways cost). Statements that
 * are sent before one Sync run in one transaction, in one round trip.
 *
 * https://www.postgresql.org/docs/current/protocol-message-formats.html
 */

/** One parameter of a statement: an array in binary form. */
export type ArrayParameter =
  | { readonly of: "uuid"; readonly values: readonly Uint8Array[] }
  | { readonly of: "smallint"; readonly values: readonly number[] }
  | { readonly of: "text"; readonly values: readonly string[] }
  /** Each a JSON text of ASCII characters, or null. */
  | { readonly of: "jsonb"; readonly values: readonly (string | null)[] }
  /** Microseconds since the epoch. */
  | { readonly of: "timestamptz"; readonly values: readonly bigint[] };

export interface Messages {
  /** Makes a prepared statement. */
  parse(statement: string, sql: string): void;
  /** Runs a prepared statement. */
  execute(statement: string, parameters: readonly ArrayParameter[]): void;
  /** Commits the statements since the last commit; the engine responds when that is done. */
  sync(): void;
  /** The bytes to send; the next messages begin in an empty buffer. */
  take(): Buffer;
}

/** The types' numbers in every PostgreSQL. */
const TYPE = { uuid: 2_950, smallint: 21, text: 25, jsonb: 3_802, timestamptz: 1_184 } as const;

const JSONB_VERSION = 1;

/** PostgreSQL counts from the year 2000. */
const EPOCH_MICROS = 946_684_800_000_000n;

const BINARY = 1;

export function createMessages(): Messages {
  let buffer = Buffer.allocUnsafe(1 << 20);
  let end = 0;

  function reserve(bytes: number): void {
    if (end + bytes <= buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(buffer.length * 2, end + bytes));
    buffer.copy(larger, 0, 0, end);
    buffer = larger;
  }

  function byte(value: number): void {
    reserve(1);
    buffer[end++] = value;
  }

  function int16(value: number): void {
    reserve(2);
    end = buffer.writeInt16BE(value, end);
  }

  function int32(value: number): void {
    reserve(4);
    end = buffer.writeInt32BE(value, end);
  }

  function name(text: string): void {
    reserve(Buffer.byteLength(text) + 1);
    end += buffer.write(text, end);
    byte(0);
  }

  /** Four bytes of length, which may include themselves, and then the content. */
  function measured(own: number, content: () => void): void {
    const start = end;
    int32(0);
    content();
    buffer.writeInt32BE(end - start - 4 + own, start);
  }

  function message(type: string, content: () => void): void {
    byte(type.charCodeAt(0));
    measured(4, content);
  }

  function array({ of, values }: ArrayParameter): void {
    measured(0, () => {
      int32(1); // dimensions
      int32(1); // may hold nulls
      int32(TYPE[of]);
      int32(values.length);
      int32(1); // counted from
      for (const value of values) WRITE[of](value as never);
    });
  }

  const WRITE = {
    uuid(value: Uint8Array) {
      reserve(20);
      end = buffer.writeInt32BE(16, end);
      buffer.set(value, end);
      end += 16;
    },
    smallint(value: number) {
      reserve(6);
      end = buffer.writeInt32BE(2, end);
      end = buffer.writeInt16BE(value, end);
    },
    text(value: string) {
      reserve(4 + value.length * 3);
      const bytes = buffer.write(value, end + 4);
      buffer.writeInt32BE(bytes, end);
      end += 4 + bytes;
    },
    jsonb(value: string | null) {
      if (value === null) return int32(-1);
      reserve(5 + value.length);
      end = buffer.writeInt32BE(value.length + 1, end);
      buffer[end++] = JSONB_VERSION;
      end += buffer.write(value, end, "latin1");
    },
    timestamptz(value: bigint) {
      reserve(12);
      end = buffer.writeInt32BE(8, end);
      end = buffer.writeBigInt64BE(value - EPOCH_MICROS, end);
    },
  };

  return {
    parse(statement, sql) {
      message("P", () => {
        name(statement);
        name(sql);
        int16(0); // the types of the parameters follow from the statement
      });
    },
    execute(statement, parameters) {
      message("B", () => {
        name(""); // portal
        name(statement);
        int16(1);
        int16(BINARY);
        int16(parameters.length);
        for (const parameter of parameters) array(parameter);
        int16(1);
        int16(BINARY);
      });
      message("E", () => {
        name(""); // portal
        int32(0); // all rows
      });
    },
    sync: () => message("S", () => {}),
    take() {
      const taken = Buffer.from(buffer.subarray(0, end));
      end = 0;
      return taken;
    },
  };
}

/** The message of an error in the engine's response, or undefined. */
export function findError(answer: Uint8Array): string | undefined {
  const view = Buffer.from(answer.buffer, answer.byteOffset, answer.byteLength);
  for (let start = 0; start + 5 <= view.length; start += 1 + view.readInt32BE(start + 1)) {
    if (view[start] !== "E".charCodeAt(0)) continue;
    const fields = view.toString("utf8", start + 5, start + 1 + view.readInt32BE(start + 1));
    return fields
      .split("\0")
      .find((field) => field.startsWith("M"))
      ?.slice(1);
  }
  return undefined;
}
