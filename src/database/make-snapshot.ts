import { access, readdir, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { migrate } from "./migrate.ts";
import { databaseOf } from "./one-connection.ts";
import { openEngine, runStatements } from "./pglite-engine.ts";
import { snapshotPath } from "./snapshot.ts";

/* Run by the build: makes the database that new embedded data folders start from. */

const path = await snapshotPath();

// Those of earlier schemas would be packed with the program.
for (const name of await readdir(dirname(path))) {
  const isOther = name.startsWith("embedded-") && name !== basename(path);
  if (isOther) await rm(join(dirname(path), name));
}

const isMade = await access(path).then(
  () => true,
  () => false,
);
if (!isMade) {
  const engine = await openEngine("memory:");
  await migrate(
    databaseOf({
      run: (statements, as) => runStatements(engine, statements, as),
      script: async (sql) => void (await engine.exec(sql)),
      close: () => engine.close(),
    }),
  );
  const archive = Buffer.from(await (await engine.dumpDataDir("none")).arrayBuffer());
  await writeFile(`${path}.unfinished`, await promisify(gzip)(archive, { level: 1 }));
  await rename(`${path}.unfinished`, path);
  await engine.close();
}
