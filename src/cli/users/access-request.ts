import { callAdmin } from "../admin-client.ts";
import type { AdminTarget } from "../target.ts";
import { readTimeline } from "./timeline.ts";

export type AccessFormat = "json" | "ndjson";

/** The stored data about a user, without the timeline. */
export async function readRecord(target: AdminTarget, userPath: string): Promise<object> {
  const answer = await callAdmin<Record<string, unknown>>(target, "GET", userPath);
  const { message: _message, ...record } = answer;
  return record;
}

/**
 * Everything that is stored about a user, as the text of one JSON document, or as one JSON object a line:
 * first the record, then the entries of the timeline. The memory that it takes does not grow with the
 * length of the timeline.
 */
export async function* accessRequest(
  target: AdminTarget,
  userPath: string,
  format: AccessFormat,
): AsyncGenerator<string> {
  const head = { exported_at: new Date().toISOString(), ...(await readRecord(target, userPath)) };
  const entries = readTimeline(target, userPath, {});
  if (format === "ndjson") {
    yield `${JSON.stringify(head)}\n`;
    for await (const entry of entries) yield `${JSON.stringify(entry)}\n`;
    return;
  }
  yield `${JSON.stringify(head, null, 2).replace(/\n\}$/, "")},\n  "timeline": [`;
  let separator = "\n    ";
  for await (const entry of entries) {
    yield `${separator}${JSON.stringify(entry)}`;
    separator = ",\n    ";
  }
  yield "\n  ]\n}\n";
}
