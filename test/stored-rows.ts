import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import type { LastingDatabase } from "./databases.ts";
import type { TestServer } from "./harness.ts";

/** A new folder below the system's folder for temporary files; it goes when the test file ends. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "rapport-test-"));
  // A server that still stops may write into it meanwhile.
  after(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }));
  return folder;
}

/**
 * Stops a server and asks its database, which outlives it: for what is written when it stops, or that no endpoint shows.
 */
export async function rowsAfterStop<Row>(
  server: TestServer,
  { database }: LastingDatabase,
  sql: string,
): Promise<Row[]> {
  await server.stop();
  // A plain array: a driver's own kind of list is not equal to one.
  return [...(await database.query<Row>(sql))];
}
