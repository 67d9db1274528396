import { asciiDomain, LONGEST_ADDRESS, unicodeDomain } from "./domains.ts";
import { sum } from "./sum.ts";

/** Whether an address in lower case may have another form: it is beyond ASCII, or has punycode. */
const HAS_FORM = /[^\0-\x7f]|xn--/;

/**
 * What makes the addresses of users the same: case does not count, nor how a letter is composed (NFC), nor whether
 * the domain is written in Unicode or in punycode. Names of dashboard users have a form of their own
 * (`userNameKey`): in this one a person could take another's account. docs/decisions/addresses.md
 *
 * @param address in any case; or the beginning of an address.
 */
export function addressForm(address: string): string {
  const lower = address.toLowerCase();
  return HAS_FORM.test(lower) ? formOf(lower) : lower;
}

function formOf(lower: string): string {
  const at = lower.lastIndexOf("@") + 1;
  if (at === 0) return lower.normalize("NFC");
  return lower.slice(0, at).normalize("NFC") + asciiDomain(lower.slice(at));
}

/** The address as it was written, where lists show it so; null where they show its form: it differs in case alone. */
export const spellingOf = (address: string): string | null =>
  HAS_FORM.test(address.toLowerCase()) ? address : null;

/** The address as given and in its usual spellings: letters composed or decomposed, the domain in Unicode or in punycode. */
export function usualSpellings(address: string): string[] {
  const form = addressForm(address);
  if (spellingOf(address) === null) return [address];
  const at = form.lastIndexOf("@") + 1;
  const local = form.slice(0, at);
  const domain = unicodeDomain(form.slice(at));
  const domains = [domain, form.slice(at), domain.normalize("NFD")];
  const written = domains.flatMap((each) => [local + each, local.normalize("NFD") + each]);
  return [...new Set([address, ...written])];
}

/** Domains of users have one or two labels beyond ASCII; of one with more, all are written in one way. */
const MOST_MIXED_LABELS = 3;

/** Labels of a text that have another spelling, or may have one; a long one counts for each 20 letters. Each costs up to 40 µs. */
export const countSpelledLabels = (text: string): number =>
  sum(
    text
      .split(".")
      .filter((label) => /[^\0-\x7f]|xn--/i.test(label))
      .map(({ length }) => Math.ceil(length / 20)),
  );

/** The form of an address with each label of its domain in letters or in punycode; no address is longer than 254. */
export function labelSpellings(address: string): string[] {
  const form = addressForm(address);
  if (form.length > LONGEST_ADDRESS) return [form];
  const at = form.lastIndexOf("@") + 1;
  const labels = form.slice(at).split(".");
  const written = labels.map((label) => {
    const letters = label.startsWith("xn--") ? unicodeDomain(label) : label;
    return letters === label ? [label] : [label, letters];
  });
  const whole = [0, 1].map((place) => written.map((each) => each[place] ?? each[0]).join("."));
  const isMixed = written.filter(({ length }) => length > 1).length <= MOST_MIXED_LABELS;
  const domains = isMixed
    ? written.reduce<string[]>(
        (some, each, place) =>
          some.flatMap((before) =>
            each.map((label) => (place === 0 ? label : `${before}.${label}`)),
          ),
        [""],
      )
    : whole;
  return [...new Set(domains.map((domain) => form.slice(0, at) + domain))];
}
