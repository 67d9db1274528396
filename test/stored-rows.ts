import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { openDatabase } from "../src/server/open-database.ts";
import type { TestServer } from "./harness.ts";

/** A new folder below the system's folder for temporary files; it goes when the test file ends. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "rapport-test-"));
  // A server that still stops may write into it meanwhile.
  after(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }));
  return folder;
}

/**
 * Stops a server and asks its database: for stored data that no endpoint shows. The server must
 * have been started with `dataDir: await temporaryFolder()`, so that the embedded engine keeps it.
 */
export async function rowsAfterStop<Row>(server: TestServer, sql: string): Promise<Row[]> {
  await server.stop();
  const database = await openDatabase(server.config);
  const rows = await database.query<Row>(sql).finally(() => database.close());
  // A plain array: a driver's own kind of list is not equal to one.
  return [...rows];
}
