import { asciiDomain } from "../../base/values/domains.ts";

/** Whether a text in lower case may have another form: it is beyond ASCII, or has punycode. */
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
