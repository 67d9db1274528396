import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { nameOfResult, type Result } from "../result.ts";
import { chartOf } from "./chart.ts";

/** Writes a result as JSON and as a chart; @returns the paths without their endings. */
export async function writeResult(folder: string, result: Result): Promise<string> {
  await mkdir(folder, { recursive: true });
  const path = join(folder, nameOfResult(result));
  await writeFile(`${path}.json`, `${JSON.stringify(result, null, 2)}\n`);
  await writeFile(`${path}.svg`, chartOf(result));
  return path;
}
