/*
 * Clients name an attribute as `${first_name}` inside a tag, which is a syntax error for the
 * library. Every character that a name cannot contain is therefore replaced, one for one, by a
 * Unicode noncharacter, which no text contains, and restored in the output.
 */

const PARTS = /\{[{%]|\$\{[^{}\n]*\}|\}\}|%\}/g;

const CLOSING: Readonly<Record<string, string>> = { "{{": "}}", "{%": "%}" };

const MASKED = "{}$ !\"#%&'()*+,./:;<=>?@[\\]^`|~";

const FIRST_NONCHARACTER = 0xfdd0;

/** A text that the library can read, with every character in its place. */
export function mask(text: string): string {
  let closing: string | undefined;
  return text.replace(PARTS, (part) => {
    if (closing === undefined) closing = CLOSING[part];
    else if (part === closing) closing = undefined;
    else if (part.startsWith("$")) return maskName(part);
    return part;
  });
}

/** A name such as `${first_name}`, in its form after a text is masked. */
export const maskName = (name: string): string => [...name].map(maskCharacter).join("");

function maskCharacter(character: string): string {
  const index = MASKED.indexOf(character);
  return index < 0 ? character : String.fromCharCode(FIRST_NONCHARACTER + index);
}

/** Restores a masked text. */
export const unmask = (text: string): string =>
  text.replace(/[\uFDD0-\uFDEF]/g, (character) => {
    return MASKED[character.charCodeAt(0) - FIRST_NONCHARACTER] ?? character;
  });
