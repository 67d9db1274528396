import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The sums of the pictures as they were taken, as `sha256sum` writes them. */
const SUMS = "pictures.sha256";

/** A line for each picture of the folder, in the order of their names. */
export const sumsOf = (folder: string): string =>
  readdirSync(folder)
    .filter((name) => name !== SUMS)
    .sort()
    .map((name) => {
      const sum = createHash("sha256").update(readFileSync(join(folder, name)));
      return `${sum.digest("hex")}  ${name}\n`;
    })
    .join("");

export const recordSums = (folder: string): void =>
  writeFileSync(join(folder, SUMS), sumsOf(folder));

export const recordedSums = (folder: string): string => readFileSync(join(folder, SUMS), "utf8");
