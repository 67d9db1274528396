import { LRUCache } from "lru-cache";
import tr46 from "tr46";

/*
 * Domains beyond ASCII, by UTS #46, non-transitional. The library has its own tables, so that every version of Node
 * gives the same result; the parser of URLs has the tables of its version, and reads `0x7f.1` as an IP address.
 */

/** Only letters, digits and hyphens of ASCII: a symbol such as U+2100 must not become a slash. */
const RULES = { useSTD3ASCIIRules: true };

/** No domain and no address is longer, and converting a text takes the square of its length. */
export const LONGEST_ADDRESS = 254;

/** A few domains have most of the addresses, and converting one takes 20 µs. */
const converted = new LRUCache<string, string>({ max: 1_000 });
const inLetters = new LRUCache<string, string>({ max: 10_000 });

/** The domain in ASCII; in NFC if it is not valid in UTS #46, or too long for a domain. */
export function asciiDomain(domain: string): string {
  if (domain.length > LONGEST_ADDRESS) return domain.normalize("NFC");
  const known = converted.get(domain);
  if (known !== undefined) return known;
  const ascii = tr46.toASCII(domain, RULES) ?? domain.normalize("NFC");
  converted.set(domain, ascii);
  return ascii;
}

/** The domain in letters; unchanged if it is not valid in UTS #46, or too long for a domain. */
export function unicodeDomain(domain: string): string {
  if (domain.length > LONGEST_ADDRESS) return domain;
  const known = inLetters.get(domain);
  if (known !== undefined) return known;
  const { domain: unicode, error } = tr46.toUnicode(domain, RULES);
  const letters = error ? domain : unicode;
  inLetters.set(domain, letters);
  return letters;
}

/** The letters that a label in punycode stands for; undefined unless it is the only punycode of valid letters. */
export function unicodeLabel(label: string): string | undefined {
  if (label.length > LONGEST_ADDRESS) return undefined;
  const { domain, error } = tr46.toUnicode(label, { ...RULES, checkJoiners: true });
  return error || tr46.toASCII(domain, RULES) !== label ? undefined : domain;
}

/** Whether every U+200C and U+200D of a word is between letters that need it (RFC 5892, A.1 and A.2). */
export const areJoinersNeeded = (word: string): boolean =>
  !tr46.toUnicode(word, { checkJoiners: true }).error;
