import { Problem } from "../problem.ts";

/**
 * Refuses a part of a request with text that no engine stores unchanged: a NUL character or a lone
 * surrogate, in a value or in a key. docs/conformance.md#bodies
 *
 * Endpoints whose requests have items check each item instead.
 *
 * @param value any JSON value, of any depth.
 * @throws Problem INVALID_REQUEST with the code INVALID_TEXT, naming the nearest key.
 */
export function refuseUnstorableText(value: unknown, part: string): void {
  const waiting: [name: string, value: unknown][] = [["", value]];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const [name, found] = next;
    if (typeof found === "string") refuseUnstorable(name, found, part);
    if (found === null || typeof found !== "object") continue;
    for (const [key, member] of Object.entries(found)) {
      if (!Array.isArray(found)) refuseUnstorable(name, key, part);
      waiting.push([Array.isArray(found) ? name : key, member]);
    }
  }
}

function refuseUnstorable(name: string, text: string, part: string): void {
  if (text.isWellFormed() && !text.includes("\0")) return;
  const what = text.includes("\0") ? "a NUL character" : "a lone surrogate";
  const place = name ? `'${name}' in the ${part}` : `The ${part}`;
  throw new Problem("INVALID_REQUEST", `${place} holds ${what}`, {
    body: { code: "INVALID_TEXT" },
  });
}
