/*
 * Texts that break readers of lines. Some readers end a line, or a text, at each of these characters; only `\n` ends a
 * line of the files that Rapport writes, and those are escaped or quoted there.
 */

/**
 * Characters that are line breaks in some programs, or are dropped: separators, controls next to
 * NUL, marks.
 */
export const AWKWARD_CHARACTERS = [
  "\u2028",
  "\u2029",
  "\r",
  "\n",
  "\r\n",
  "\u0085",
  "\u000b",
  "\u000c",
  "\u0001",
  "\u0002",
  "\u001a",
  "\u001c",
  "\u007f",
  "\ufeff",
  "\ufffe",
  "\u00a0",
  '"',
  "\\",
  "\\n",
] as const;

/** All of them, between letters, at the start and at the end. */
export const AWKWARD_TEXT = `\ufeff${AWKWARD_CHARACTERS.join("x")}\u2028`;

/** A megabyte on one line. */
export const LONG_TEXT = "\u2028long ".repeat(120_000);

/** Custom attributes of nearly 1 MiB, as much as a profile may hold, so that its row is such a line. */
export const LONG_ATTRIBUTES = Object.fromEntries(
  Array.from({ length: 10 }, (_, n) => {
    const texts = Array.from({ length: 370 }, (_, m) => [`text ${m}`, `\u2028${"x".repeat(248)}`]);
    return [`long ${n}`, Object.fromEntries(texts)];
  }),
);
