/**
 * Names a value in the sentence that refuses it: a text in quotes; a number, `true`, `false` or
 * `null` as written; otherwise "an array" or "an object". At most about 70 characters.
 */
export function describeValue(value: unknown): string {
  if (typeof value === "string") return `'${printable(value)}'`;
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" && value !== null ? "an object" : String(value);
}

/** A text from outside, cut to a length and with control characters and lone surrogates escaped. */
export function printable(text: string, maxLength = 60): string {
  // The cut must not leave half of a surrogate pair behind.
  const shown =
    text.length > maxLength ? `${text.slice(0, maxLength).replace(/[\ud800-\udbff]$/, "")}…` : text;
  return shown.replace(/[\p{Cc}\p{Cs}]/gu, escapeCharacter);
}

const escapeCharacter = (character: string): string =>
  `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** `["a", "b", "c"]` as `'a', 'b' and 'c'`. */
export function listed(names: readonly string[]): string {
  const quoted = names.map((name) => `'${name}'`);
  if (quoted.length < 2) return quoted.join("");
  return `${quoted.slice(0, -1).join(", ")} and ${quoted.at(-1)}`;
}
