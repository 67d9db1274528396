/*
 * An exported manifest contains no secrets: most are stored only as hashes, and none leaves the
 * server. Variables (`${API_KEY_DEMO_DEV}`) replace them, which an apply reads from the
 * environment.
 */

/** Around the name of a variable while a manifest is put together. No stored text contains it. */
const MARK = "\0";

export interface ManifestSecrets {
  secret(...words: readonly string[]): string;
  /** The value with variables written out. Texts that look like one are written so that they stay texts. */
  writeOut(value: unknown): unknown;
  /** The names of all variables that `writeOut` wrote. */
  variables(): string[];
}

/** Its value must be a dollar sign: it keeps `${NAME}` in a text from being replaced. */
export const DOLLAR = "DOLLAR";

/** Replaces the secrets of a manifest by variables, and collects the variables' names. */
export function collectSecrets(): ManifestSecrets {
  const names = new Set<string>();
  let hasDollar = false;

  function writeText(text: string): string {
    if (text.startsWith(MARK)) return `\${${text.slice(1)}}`;
    return text.replaceAll(/\$\{(?=[A-Z][A-Z0-9_]*\})/g, () => {
      hasDollar = true;
      return `\${${DOLLAR}}{`;
    });
  }

  function writeOut(value: unknown): unknown {
    if (typeof value === "string") return writeText(value);
    if (Array.isArray(value)) return value.map(writeOut);
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, writeOut(each)]));
  }

  return {
    secret(...words) {
      const wanted = words
        .join("_")
        .normalize("NFKD")
        .toUpperCase()
        .replaceAll(/[^A-Z0-9]+/g, "_");
      let name = wanted;
      for (let number = 2; names.has(name); number++) name = `${wanted}_${number}`;
      names.add(name);
      return MARK + name;
    },
    writeOut,
    variables: () => [...names, ...(hasDollar ? [DOLLAR] : [])],
  };
}
