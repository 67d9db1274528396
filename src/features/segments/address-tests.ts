import { countSpelledLabels, labelSpellings } from "../../core/base/values/address-form.ts";
import { LONGEST_ADDRESS } from "../../core/base/values/domains.ts";
import { sum } from "../../core/base/values/sum.ts";
import { arrayLiteral } from "../../core/database/parameters/array-literal.ts";
import type { ValueTest } from "./leaf.ts";
import { decided, type Values } from "./sql.ts";
import { opposite } from "./value-tests.ts";

/*
 * Whole addresses in segments, whichever way they are written (docs/decisions/addresses.md). SQL has no punycode, so an
 * address is compared in every mixture of labels in letters and in punycode; the rest of the form SQL computes itself:
 * capitals beyond ASCII, which engines fold differently by themselves, full stops and NFC.
 */

/** Its small form depends on the letters around it, so SQL leaves it and the wanted addresses have it too. */
const SIGMA = "\u03a3";
/** Its small form has two letters. */
const DOTTED_I = "\u0130";

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
    if (small !== letter && small.length === 1 && letter !== SIGMA) {
      from.push(letter);
      to.push(small);
    }
  }
  return [from.join(""), to.join("")];
}

/** The email of `profiles p` as far as SQL can bring it into the form of addresses; looked at more closely only beyond ASCII. */
function writtenSql(values: Values): string {
  const lower = 'lower(p.email collate "C")';
  const bind = (text: string) => values.bind(text, "text");
  const dotted = `replace(${lower}, ${bind(DOTTED_I)}, ${bind(DOTTED_I.toLowerCase())})`;
  return `(case when octet_length(p.email) = length(p.email) then ${lower}
    else normalize(translate(${dotted}, ${bind(CAPITALS)}, ${bind(SMALL)}), nfc) end)`;
}

/** Sigmas are capitals one by one; with more of them in whole words, and with more words in the whole address. */
const MOST_SIGMA_PARTS = 3;

/** An address in lower case, and with capital sigmas where they have the same small form. */
function withSigmas(address: string): string[] {
  if (!/[\u03c2\u03c3]/.test(address) || address.length > LONGEST_ADDRESS) return [address];
  const ways = [/[\u03c2\u03c3]/g, /[^.@]*[\u03c2\u03c3][^.@]*/g, /.*[\u03c2\u03c3].*/g];
  const parts = ways
    .map((way) => [...address.matchAll(way)])
    .find(({ length }) => length <= MOST_SIGMA_PARTS);
  const written = [address];
  for (const { index, 0: part } of parts ?? []) {
    const capitals = part.replace(/[\u03c2\u03c3]/g, SIGMA);
    const withPart = (each: string) =>
      each.slice(0, index) + capitals + each.slice(index + part.length);
    written.push(...written.map(withPart));
  }
  return written.filter((each) => each.toLowerCase() === address);
}

/** Whether an email is one of these addresses, in any spelling. */
function isOneOf(addresses: readonly string[], words: string): ValueTest {
  let list: string | undefined;
  return {
    words,
    sql(_value, values) {
      // Most filters are only shown.
      list ??= arrayLiteral([...new Set(addresses.flatMap(labelSpellings).flatMap(withSigmas))]);
      return decided(
        `coalesce(${values.once(writtenSql(values))} = any(${values.bind(list, "text[]")}), false)`,
      );
    },
  };
}

/** Labels beyond ASCII, or in punycode, that the whole addresses of a condition have. */
export const spelledLabelsOf = (comparators: Readonly<Record<string, unknown>>): number =>
  sum(
    [...POSITIVE, ...NEGATIVE]
      .flatMap((name) => comparators[name] ?? [])
      .map((operand) => countSpelledLabels(String(operand))),
  );

const POSITIVE: readonly string[] = ["equals", "one_of"];
const NEGATIVE: readonly string[] = ["not_equals", "none_of"];

/** The same test for addresses if it is about whole ones; otherwise the test as it is. */
export function ofAddresses(comparator: string, operand: unknown, test: ValueTest): ValueTest {
  const given = () => [operand].flat().map(String);
  if (POSITIVE.includes(comparator)) return isOneOf(given(), test.words);
  return NEGATIVE.includes(comparator) ? opposite(isOneOf(given(), test.words), test.words) : test;
}
