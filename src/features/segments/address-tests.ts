import { labelSpellings } from "../../core/base/values/address-form.ts";
import { arrayLiteral } from "../../core/database/parameters/array-literal.ts";
import type { ValueTest } from "./leaf.ts";
import { decided, type Values } from "./sql.ts";
import { opposite } from "./value-tests.ts";

/*
 * Whole addresses in segments, whichever way they are written (docs/decisions/addresses.md). SQL has no punycode, so an
 * address is compared in every mixture of labels in letters and in punycode; the rest of the form SQL computes itself:
 * capitals beyond ASCII, which engines fold differently by themselves, full stops and NFC.
 */

const [CAPITALS, SMALL] = letters();

/** Letters whose small form is one letter, and the other full stops of domains. */
function letters(): [from: string, to: string] {
  const from = ["\u3002", "\uff0e", "\uff61"];
  const to = [".", ".", "."];
  for (let code = 0x80; code <= 0xffff; code++) {
    // Surrogates are no letters.
    if (code === 0xd800) code = 0xe000;
    const letter = String.fromCharCode(code);
    const small = letter.toLowerCase();
    if (small !== letter && small.length === 1 && small.charCodeAt(0) >= 0x80) {
      from.push(letter);
      to.push(small);
    }
  }
  return [from.join(""), to.join("")];
}

/** The email of `profiles p` as far as SQL can bring it into the form of addresses; looked at more closely only beyond ASCII. */
const writtenSql = (values: Values): string =>
  `(case when octet_length(p.email) = length(p.email) then lower(p.email collate "C")
    else normalize(translate(lower(p.email collate "C"), ${values.bind(CAPITALS, "text")}, ${values.bind(SMALL, "text")}), nfc) end)`;

/** Whether an email is one of these addresses, in any spelling. */
function isOneOf(addresses: readonly string[], words: string): ValueTest {
  const spellings = [...new Set(addresses.flatMap(labelSpellings))];
  return {
    words,
    sql: (_value, values) =>
      decided(
        `coalesce(${writtenSql(values)} = any(${values.bind(arrayLiteral(spellings), "text[]")}), false)`,
      ),
  };
}

const POSITIVE: readonly string[] = ["equals", "one_of"];
const NEGATIVE: readonly string[] = ["not_equals", "none_of"];

/** The same test for addresses, if one of them can be written in several ways; otherwise the test as it is. */
export function ofAddresses(comparator: string, operand: unknown, test: ValueTest): ValueTest {
  const given = [operand].flat().map(String);
  const hasForms = given.some(
    (address) => labelSpellings(address).length > 1 || /[^\0-\x7f]/.test(address),
  );
  if (!hasForms) return test;
  if (POSITIVE.includes(comparator)) return isOneOf(given, test.words);
  return NEGATIVE.includes(comparator) ? opposite(isOneOf(given, test.words), test.words) : test;
}
