import fc from "fast-check";

/** From here on numbers are no characters: UTF-16 writes those above U+FFFF with them. */
const SURROGATES = 0xd800;
const AFTER_SURROGATES = 0xe000;
const SKIPPED = AFTER_SURROGATES - SURROGATES;

/**
 * Any character, like the unit `binary` of `fc.string`. That unit first makes a table of all 1.1 million, which takes each process
 * a second.
 */
const anyCharacter = fc.nat(0x10ffff - SKIPPED).map(
  (number) => String.fromCodePoint(number < SURROGATES ? number : number + SKIPPED),
  (character) => {
    const [only, ...rest] = typeof character === "string" ? character : "";
    const point = only?.codePointAt(0) ?? SURROGATES;
    if (rest.length > 0 || (point >= SURROGATES && point < AFTER_SURROGATES)) {
      throw new Error("It is not one character.");
    }
    return point < SURROGATES ? point : point - SKIPPED;
  },
);

/** Any text that can be written in UTF-8, also names that objects have by themselves. */
export const anyText = (constraints: Omit<fc.StringConstraints, "unit"> = {}) =>
  fc.string({ ...constraints, unit: anyCharacter });
