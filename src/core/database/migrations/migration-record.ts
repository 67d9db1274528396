/** The one file that may still change, until the first release: then this constant goes. */
const OPEN = "0001-baseline.sql";

/** The hashes of migrations by file name, in the order of the names. */
export type Hashes = ReadonlyMap<string, string>;

/** Reads `migrations/SHA256SUMS`: one line for each file, its hash and its name. */
export const parseRecord = (text: string): Hashes =>
  new Map(
    text
      .split("\n")
      .filter(Boolean)
      .map((line) => line.split("  ").reverse() as [string, string]),
  );

/**
 * Extends the record by files that it does not have yet.
 *
 * @returns the text of the extended record.
 * @throws when a recorded file was changed or removed: migrations are append-only.
 */
export function extendRecord(recorded: Hashes, files: Hashes): string {
  const changed = [...recorded].filter(([name, hash]) => name !== OPEN && files.get(name) !== hash);
  if (changed.length > 0) {
    const names = changed.map(([name]) => name).join(", ");
    throw new Error(
      `Migrations are append-only, but ${names} changed. Restore it and add a new file instead.`,
    );
  }
  return [...files].map(([name, hash]) => `${hash}  ${name}\n`).join("");
}
