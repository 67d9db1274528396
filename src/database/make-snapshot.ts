import { access, rename, writeFile } from "node:fs/promises";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { PGlite } from "@electric-sql/pglite";
import { migrate } from "./migrate.ts";
import { database } from "./pglite.ts";
import { snapshotPath } from "./snapshot.ts";

/* Run by the build: makes the database that new embedded data folders start from. */

const path = await snapshotPath();
const isMade = await access(path).then(
  () => true,
  () => false,
);
if (!isMade) {
  const pglite = await PGlite.create("memory://");
  await migrate(await database(pglite, async () => {}));
  const archive = Buffer.from(await (await pglite.dumpDataDir("none")).arrayBuffer());
  await writeFile(`${path}.unfinished`, await promisify(gzip)(archive, { level: 1 }));
  await rename(`${path}.unfinished`, path);
  await pglite.close();
}
