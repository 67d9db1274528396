import { callAdmin, type Reply } from "../../../cli/admin-client.ts";
import type { AdminTarget } from "../../../cli/target.ts";

type TimelineEntry = Reply<"getUserTimeline">["entries"][number];

export interface TimelineOptions {
  readonly kind?: readonly string[];
  readonly since?: string;
  /** How many entries at most; all of them without it. */
  readonly limit?: number;
}

const PAGE = 200;

/**
 * The timeline of a user, the newest first, page by page.
 *
 * @param onSince gets, for each page, the time from which it has every change of attributes, if
 * there are any.
 */
export async function* readTimeline(
  target: AdminTarget,
  userPath: string,
  { kind = [], since, limit = Number.POSITIVE_INFINITY }: TimelineOptions,
  onSince: (time: string) => void = () => {},
): AsyncGenerator<TimelineEntry> {
  let left = limit;
  let cursor: string | undefined;
  do {
    const query = new URLSearchParams({ limit: String(Math.min(PAGE, left)) });
    for (const each of kind) query.append("kind", each);
    if (since !== undefined) query.set("since", since);
    if (cursor !== undefined) query.set("cursor", cursor);
    const path = `${userPath}/timeline?${query}`;
    const page: Reply<"getUserTimeline"> = await callAdmin<"getUserTimeline">(target, "GET", path);
    if (page.attributes_since) onSince(page.attributes_since);
    yield* page.entries;
    left -= page.entries.length;
    cursor = page.next_cursor;
  } while (cursor !== undefined && left > 0);
}

/** An entry in one line. */
export function describeEntry(entry: TimelineEntry): string {
  const { kind, at, id: _id, ...members } = entry;
  const shown = Object.entries(members)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => (isText(value) ? String(value) : `${name}=${JSON.stringify(value)}`));
  return `${at}  ${kind.padEnd(12)}  ${shown.join("  ")}`;
}

const isText = (value: unknown): boolean => typeof value === "string" || typeof value === "number";
