/**
 * The one-letter code of a gender, undefined if the text names none: M, F, O (other), N (not
 * applicable) or P (prefer not to say). Takes the letter or a common English word for it, in any
 * case. "Unknown" is null, which a client says by sending null. docs/decisions/values.md
 */
export function genderCode(text: string): string | undefined {
  return text.length > 1
    ? codesByWord.get(text.toLowerCase().replaceAll(/[-_ ]+/g, " "))
    : codes[text.toUpperCase()];
}

const codes: Readonly<Record<string, string>> = { M: "M", F: "F", O: "O", N: "N", P: "P" };

const words = {
  M: ["male", "man", "men", "boy"],
  F: ["female", "woman", "women", "girl"],
  O: ["other", "diverse", "divers", "non binary", "nonbinary", "genderqueer"],
  N: ["not applicable"],
  P: ["prefer not to say", "prefer not to answer", "prefer not to disclose", "undisclosed"],
};

const codesByWord = new Map(
  Object.entries(words).flatMap(([code, named]) => named.map((word) => [word, code] as const)),
);
