import { isUtf8 } from "node:buffer";
import type { Fault } from "../../base/problem.ts";
import { type FileRecord, LONGEST_RECORD_BYTES } from "./record.ts";

const NEWLINE = 0x0a;

/**
 * The records of NDJSON: one JSON value a line, empty lines are passed over. A line that cannot be read is a
 * record with a fault; one that is too long is never held in memory.
 *
 * @throws in words where the file is one JSON array.
 */
export async function* readNdjson(
  name: string,
  chunks: AsyncIterable<Buffer>,
): AsyncGenerator<FileRecord> {
  for await (const line of linesOf(chunks)) {
    const record = recordOf(name, line);
    if (record) yield record;
  }
}

interface Line {
  readonly number: number;
  readonly endsAt: number;
  /** Undefined where it is too long. */
  readonly bytes: Buffer | undefined;
}

async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<Line> {
  let number = 0;
  let offset = 0;
  let parts: Buffer[] = [];
  let length = 0;
  const add = (part: Buffer) => {
    length += part.length;
    if (length <= LONGEST_RECORD_BYTES) parts.push(part);
    else parts = [];
  };
  const end = (): Line => {
    number += 1;
    const bytes = length > LONGEST_RECORD_BYTES ? undefined : Buffer.concat(parts);
    parts = [];
    length = 0;
    return { number, endsAt: offset, bytes };
  };
  for await (const chunk of chunks) {
    let start = 0;
    for (;;) {
      const at = chunk.indexOf(NEWLINE, start);
      if (at === -1) break;
      add(chunk.subarray(start, at));
      offset += at + 1 - start;
      start = at + 1;
      yield end();
    }
    add(chunk.subarray(start));
    offset += chunk.length - start;
  }
  if (length > 0) yield end();
}

function recordOf(name: string, { number, endsAt, bytes }: Line): FileRecord | undefined {
  const faulty = (fault: Fault, value: unknown = null) => ({ line: number, endsAt, value, fault });
  if (!bytes) {
    const message = `the line is longer than ${LONGEST_RECORD_BYTES} bytes`;
    return faulty({ code: "LINE_TOO_LONG", message });
  }
  if (!isUtf8(bytes)) {
    const message = "the line is not UTF-8: convert the file, for example with iconv";
    return faulty({ code: "INVALID_UTF8", message }, bytes.toString("latin1"));
  }
  const text = withoutMark(bytes.toString("utf8"), number).trim();
  if (text === "") return undefined;
  try {
    return { line: number, endsAt, value: JSON.parse(text), json: text };
  } catch {
    if (number === 1 && text.startsWith("[")) {
      throw new Error(`${name} is one JSON array. Write one object a line: jq -c '.[]' ${name}`);
    }
    return faulty({ code: "INVALID_JSON", message: "the line is not one JSON value" }, text);
  }
}

const withoutMark = (text: string, number: number): string =>
  number === 1 && text.startsWith("\uFEFF") ? text.slice(1) : text;
