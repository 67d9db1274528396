import { cp, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { PGlite } from "@electric-sql/pglite";
import type { Dataset, Engine } from "./engine.ts";

/** The folder of the engine below the server's data folder. */
const ENGINE_FOLDER = "engine";

/**
 * The embedded engine: every database is a data folder below the given one.
 *
 * @param folder is there already, and removed by its owner.
 */
export async function openEmbeddedEngine(folder: string): Promise<Engine> {
  const newFolder = () => mkdtemp(join(folder, "embedded-"));
  const engine = await PGlite.create("memory://");
  const { rows } = await engine.query<{ server_version: string }>("show server_version");
  await engine.close();

  function dataset(dataDir: string): Dataset {
    const engineFolder = join(dataDir, ENGINE_FOLDER);
    return {
      environment: { DATA_DIR: dataDir, DATABASE_URL: "" },
      floorTarget: { engine: "embedded", folder: engineFolder },
      processId: undefined,
      async run(statements) {
        const database = await PGlite.create(engineFolder);
        try {
          let rows: Record<string, unknown>[] = [];
          for (const statement of statements) {
            rows = (await database.exec(statement)).at(-1)?.rows ?? [];
          }
          return rows;
        } finally {
          await database.close();
        }
      },
      async copy() {
        const copied = await newFolder();
        await cp(dataDir, copied, { recursive: true });
        return dataset(copied);
      },
      remove: () => rm(dataDir, { recursive: true, force: true }),
    };
  }

  return {
    name: "embedded",
    version: `PGlite, PostgreSQL ${rows[0]?.server_version}`,
    create: async () => dataset(await newFolder()),
    close: async () => {},
  };
}
