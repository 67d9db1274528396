import { existsSync } from "node:fs";
import { mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { PGlite } from "@electric-sql/pglite";
import { databaseOf } from "../src/core/database/embedded/one-connection.ts";
import { createStatementRunner } from "../src/core/database/embedded/pglite-statements.ts";
import { snapshotPath, writeSnapshot } from "../src/core/database/embedded/snapshot.ts";
import { migrate } from "../src/core/database/migrations/migrate.ts";

/* Run by the build: makes the database that new embedded data folders start from. */

/**
 * A new engine keeps one WAL segment at least, which a start in memory pays for: 1 MB instead of 16. Old
 * segments are removed, not kept for reuse, while the snapshot is made.
 */
const SMALL_WAL = ["--wal-segsize=1"];
const NO_OLD_WAL = ["-c", "wal_recycle=off"];

/** The engine has one database and creates no others from templates, each of which is 7 MB in 300 files. */
const ONE_DATABASE = ["template0", "template1"];

const path = await snapshotPath();

// Snapshots of earlier schemas would be packed with the program.
for (const name of await readdir(dirname(path))) {
  const isOther = name.startsWith("embedded-") && name !== basename(path);
  if (isOther) await rm(join(dirname(path), name));
}

if (!existsSync(path)) {
  const folder = await mkdtemp(join(tmpdir(), "rapport-snapshot-"));
  const engine = await PGlite.create(folder, {
    initDbStartParams: SMALL_WAL,
    startParams: [...PGlite.defaultStartParams, ...NO_OLD_WAL],
  });
  await migrate(
    databaseOf({
      run: createStatementRunner(engine).run,
      script: async (sql) => void (await engine.exec(sql)),
      close: () => engine.close(),
    }),
  );
  for (const name of ONE_DATABASE) {
    await engine.exec(`update pg_database set datistemplate = false where datname = '${name}'`);
    await engine.exec(`drop database ${name}`);
  }
  await engine.exec("vacuum full");
  await engine.exec("checkpoint");
  // In order, so that a start recovers nothing.
  await engine.close();
  await writeSnapshot(folder, `${path}.unfinished`);
  await rename(`${path}.unfinished`, path);
  await rm(folder, { recursive: true });
}
