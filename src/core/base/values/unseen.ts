import { areJoinersNeeded } from "./domains.ts";

/**
 * Characters beyond ASCII that show nothing: spaces, controls, those that programs leave out when they show a text, and
 * an empty Braille pattern. PRECIS (RFC 8264) and IDNA (RFC 5892) have none of them.
 */
const UNSEEN = /(?![\0-\x7f])[\p{Default_Ignorable_Code_Point}\p{Z}\p{Cc}\u2800\ufff9-\ufffb]/gu;

/** Characters that are no letters: a domain has none of them either. */
const NO_LETTER = /[\ufffd\p{Co}\p{Noncharacter_Code_Point}]/u;

/** A word with a joiner in it. */
const JOINED = /[\p{L}\p{M}\u200c\u200d]*[\u200c\u200d][\p{L}\p{M}\u200c\u200d]*/gu;

const BEYOND_ASCII = /[^\0-\x7f]/;

/**
 * The first character of an address that shows nothing, such as `U+2060`; in the domain also one that stands for no
 * letter. U+200C and U+200D are allowed between letters that need them.
 */
export function findUnseen(address: string): string | undefined {
  if (!BEYOND_ASCII.test(address)) return undefined;
  for (const [letter] of address.matchAll(UNSEEN)) {
    const isJoiner = letter === "\u200c" || letter === "\u200d";
    if (!isJoiner || !(address.match(JOINED) ?? []).every(areJoinersNeeded)) return nameOf(letter);
  }
  const [letter] = NO_LETTER.exec(address.slice(address.lastIndexOf("@") + 1)) ?? [];
  return letter && nameOf(letter);
}

const nameOf = (letter: string): string =>
  `U+${letter.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0")}`;
