import { domainToASCII } from "node:url";

/** Words that can be written in several ways: with composed and decomposed letters, and some in capitals. */
export const WORDS = [
  "münchen",
  "josé",
  "ångström",
  "việt",
  "한국",
  "がぎ",
  "ελλάδα",
  "σίσυφος",
  "ёжик",
  "नमस्ते",
  "مثال",
] as const;

/** Capitals, where they are letter for letter the same word. */
const inCapitals = (text: string): string =>
  [...text]
    .map((letter) => {
      const capital = letter.toUpperCase();
      return [...capital].length === 1 && capital.toLowerCase() === letter ? capital : letter;
    })
    .join("");

const everySecond = (text: string, change: (part: string) => string): string =>
  [...text].map((letter, place) => (place % 2 === 0 ? change(letter) : letter)).join("");

/**
 * Ways to write an address that names the same mailbox. Node's own converter of domains makes the punycode, so that
 * the product's is compared with another.
 *
 * @param address with a domain that is valid in UTS #46.
 */
export function spellingsOf(address: string): string[] {
  const at = address.lastIndexOf("@");
  const local = address.slice(0, at);
  const domain = address.slice(at + 1);
  const labels = domain.split(".");
  const ascii = domainToASCII(domain).split(".");
  const domains = [
    domain,
    domain.normalize("NFD"),
    ascii.join("."),
    ascii.join(".").toUpperCase(),
    labels.map((label, place) => (place % 2 === 0 ? label : ascii[place])).join("."),
    labels.map((label, place) => (place % 2 === 0 ? ascii[place] : label)).join("."),
    inCapitals(domain),
    everySecond(domain, (letter) => letter.normalize("NFD")),
    domain.replaceAll(".", "。"),
  ];
  const locals = [
    local,
    local.normalize("NFD"),
    inCapitals(local),
    everySecond(local, (letter) => letter.normalize("NFD")),
  ];
  return domains.flatMap((each) => locals.map((one) => `${one}@${each}`));
}
