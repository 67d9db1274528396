import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { recordChanges } from "../../core/admin/audit/audit.ts";
import { RAPPORT } from "../../core/base/command.ts";
import type { Context } from "../../core/base/context/context.ts";
import { Problem } from "../../core/base/problem.ts";
import { folderOfCopy } from "../../core/database/backup/copy-folder.ts";
import type { StoringServices } from "../../core/database/storing-services.ts";

export type CopyServices = StoringServices & { readonly dataDir: string };

const COPY = /^copy-[0-9a-f-]{36}$/;

/**
 * Copies the files of the embedded engine, for `rapport backup`, which reads the copy and has it removed. It is
 * consistent and holds everything that was acknowledged before; requests wait while the files are copied.
 *
 * @returns the id of the copy, which is the folder `copy-ID` of the data folder.
 * @throws Problem INVALID_REQUEST if the server has no embedded engine in a folder.
 */
export async function copyEngine(services: CopyServices, context: Context): Promise<string> {
  const { database, clock, dataDir } = services;
  if (!database.copyTo) {
    const message =
      database.engine === "postgres"
        ? `This server stores its data in PostgreSQL: set DATABASE_URL, and run ${RAPPORT} backup again.`
        : "This server keeps its data in memory, which cannot be backed up.";
    throw new Problem("INVALID_REQUEST", message);
  }
  await removeCopies(dataDir);
  const id = clock.newId();
  await database.copyTo(folderOfCopy(dataDir, id));
  await database.transaction((tx) =>
    recordChanges(tx, clock, context, [
      { action: "copied", kind: "database", workspace: "", name: "engine" },
    ]),
  );
  return id;
}

/** Removes a copy that a backup has read, if it is there. @param id a UUID: no name of anything else. */
export async function removeCopy(
  { dataDir }: Pick<CopyServices, "dataDir">,
  id: string,
): Promise<void> {
  if (dataDir === "memory:") return;
  await rm(folderOfCopy(dataDir, id), { recursive: true, force: true });
}

/** Removes copies that interrupted backups have left. */
async function removeCopies(dataDir: string): Promise<void> {
  for (const name of await readdir(dataDir)) {
    if (COPY.test(name)) await rm(join(dataDir, name), { recursive: true, force: true });
  }
}
