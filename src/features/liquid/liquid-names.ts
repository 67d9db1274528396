/*
 * Two things that clients write inside a tag or an output are syntax errors for the library:
 *
 * - A name such as `${first_name}`. Every character that a name cannot contain is replaced, one for one, by a
 *   Unicode noncharacter, which no text contains, and restored in the output.
 * - An output of its own, with or without filters: `{% if {{${plan} | default: 'none'}} == 'pro' %}`. Its braces
 *   become parentheses and blanks, which the library reads as a group (`groupedExpressions`).
 *
 * Every character keeps its place.
 */

const PARTS =
  /\{%-?\s*raw\s*-?%\}|\{%-?\s*endraw\s*-?%\}|\{\{-?|\{%|\$\{[^{}\n]*\}|-?\}\}|%\}|["'\\]|\|\s*[\w-]+/g;

const MASKED = "{}$ !\"#%&'()*+,./:;<=>?@[\\]^`|~";

const FIRST_NONCHARACTER = 0xfdd0;

/** A filter of an output inside a tag: the library looks it up only when it renders. */
export interface NestedFilter {
  readonly name: string;
  readonly at: number;
}

/** A text that the library can read, with every character in its place. Takes time in proportion to its length. */
export const mask = (text: string): string => maskNested(text).masked;

/** The same, with the filters of all outputs inside of tags and outputs. */
export function maskNested(text: string): {
  readonly masked: string;
  readonly filters: readonly NestedFilter[];
} {
  const filters: NestedFilter[] = [];
  // Where the text is: outside of Liquid, in a tag or in an output, and in how many outputs inside of that.
  let within: "tag" | "output" | undefined;
  let depth = 0;
  let quote: string | undefined;
  let escapedAt = -1;
  let isRaw = false;

  const enter = (part: string): string => {
    quote = undefined;
    depth = 0;
    if (part.startsWith("{%") && part.length > 2) {
      isRaw = !part.includes("endraw");
      return part;
    }
    within = part === "{%" ? "tag" : "output";
    return part;
  };

  const masked = text.replace(PARTS, (part: string, at: number) => {
    if (isRaw) {
      if (part.includes("endraw")) isRaw = false;
      return part;
    }
    if (within === undefined) return part.startsWith("{") ? enter(part) : part;
    if (part.startsWith("$")) return maskName(part);
    // The end of a tag ends it, also between quotes.
    if (part === "%}" && within === "tag") {
      within = undefined;
      return part;
    }
    if (part === "\\") {
      if (quote !== undefined && escapedAt !== at) escapedAt = at + 1;
      return part;
    }
    if (part === '"' || part === "'") {
      if (quote === undefined) quote = part;
      else if (quote === part && escapedAt !== at) quote = undefined;
      return part;
    }
    if (quote !== undefined) return part;
    if (part.startsWith("|")) {
      if (depth > 0) filters.push({ name: part.slice(1).trim(), at });
      return part;
    }
    if (part.startsWith("{{")) {
      depth++;
      return "(".padStart(part.length);
    }
    if (!part.endsWith("}}")) return part;
    if (depth > 0) {
      depth--;
      return ")".padEnd(part.length);
    }
    if (within === "output") within = undefined;
    return part;
  });
  return { masked, filters };
}

/** A name such as `${first_name}`, in its form after a text is masked. */
export const maskName = (name: string): string => [...name].map(maskCharacter).join("");

function maskCharacter(character: string): string {
  const index = MASKED.indexOf(character);
  return index < 0 ? character : String.fromCharCode(FIRST_NONCHARACTER + index);
}

export const unmask = (text: string): string =>
  text.replace(/[\uFDD0-\uFDEF]/g, (character) => {
    return MASKED[character.charCodeAt(0) - FIRST_NONCHARACTER] ?? character;
  });
