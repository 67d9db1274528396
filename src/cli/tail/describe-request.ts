import type { LiveRequest } from "../../dashboard/live-requests/request-view.ts";
import { paint } from "../terminal.ts";

/** A request in one line; with `details` each rejected item with its reason below it. */
export function describeRequest(request: LiveRequest, details: boolean): string[] {
  const { at, method, path, status, duration_ms, key } = request;
  const code = paint(status >= 500 ? "red" : status >= 400 ? "yellow" : "green", String(status));
  const head = [at.slice(11, 23), code, `${method} ${path}`, `${duration_ms} ms`, key.name];
  const line = [...head, verdictOf(request)].filter(Boolean).join("  ");
  return details ? [line, ...reasonsOf(request).map((reason) => `    ${reason}`)] : [line];
}

/** `2 of 3 accepted, INVALID_TIME`; for a refused request its sentence. */
function verdictOf({ status, items, response, code }: LiveRequest): string {
  const rejected = items.filter((item) => !item.accepted);
  const codes = [...new Set(rejected.flatMap(({ code }) => code ?? []))];
  const message = (response as { readonly message?: unknown } | null)?.message;
  if (status >= 400 && codes.length === 0) {
    return [code, message].filter((part) => typeof part === "string").join(" ");
  }
  if (items.length === 0) return "";
  const counts = `${items.length - rejected.length} of ${items.length} accepted`;
  return [counts, ...codes].join(", ");
}

const reasonsOf = ({ items }: LiveRequest): string[] =>
  items
    .filter(({ accepted, code }) => !accepted && code !== null)
    .map(({ kind, index, user, code, message }) =>
      `${kind}[${index}]${user === null ? "" : ` ${user}`}: ${code} ${message ?? ""}`.trimEnd(),
    );
