import { join } from "node:path";

/** The folder of a copy of the embedded engine, which a running server makes for a backup. @param id a UUID. */
export const folderOfCopy = (dataDir: string, id: string): string => join(dataDir, `copy-${id}`);
