import { isUtf8 } from "node:buffer";
import { type Line, linesOf } from "../../base/lines.ts";
import type { Fault } from "../../base/problem.ts";
import { type FileRecord, LONGEST_RECORD_BYTES } from "./record.ts";

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
  for await (const line of linesOf(chunks, LONGEST_RECORD_BYTES)) {
    const record = recordOf(name, line);
    if (record) yield record;
  }
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
