import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import postgres from "postgres";
import { nameOf, parentOf } from "../processes/process-table.ts";
import type { Dataset, Engine } from "./engine.ts";

export interface PostgresEngine extends Engine {
  /** The database of this name, made empty if it is not there. */
  named(name: string): Promise<{ dataset: Dataset; isNew: boolean }>;
}

/**
 * A PostgreSQL that runs already; every database of the benchmark is made and dropped there.
 *
 * @param url `postgres://user@host:port`; a database in it is used to connect to.
 * @param folder for the data folders of servers; is there already, and removed by its owner.
 */
export async function openPostgresEngine(
  url: string,
  folder: string,
  logFile?: string,
): Promise<PostgresEngine> {
  const admin = postgres(url, { max: 1, onnotice: () => {} });
  const [server] = await admin<{ version: string; backend: number }[]>`
    select current_setting('server_version') as version, pg_backend_pid() as backend`;
  const processId = server && isLocal(url) ? postmasterOf(server.backend) : undefined;
  let databases = 0;
  const newName = () => `rapport_bench_${process.pid}_${++databases}`;

  async function dataset(name: string): Promise<Dataset> {
    const own = new URL(url);
    own.pathname = `/${name}`;
    const dataDir = await mkdtemp(join(folder, "server-"));
    return {
      environment: { DATABASE_URL: own.href, DATA_DIR: dataDir },
      floorTarget: { engine: "postgres", url: own.href },
      processId,
      async run(statements) {
        const sql = postgres(own.href, { max: 1, onnotice: () => {} });
        try {
          let rows: Record<string, unknown>[] = [];
          for (const statement of statements) rows = [...(await sql.unsafe(statement))];
          return rows;
        } finally {
          await sql.end();
        }
      },
      async copy() {
        const copied = newName();
        await admin.unsafe(`create database ${copied} template ${name}`);
        await admin.unsafe("checkpoint");
        return dataset(copied);
      },
      async remove() {
        await admin.unsafe(`drop database if exists ${name} with (force)`);
        await rm(dataDir, { recursive: true, force: true });
      },
    };
  }

  return {
    name: "postgres",
    logFile,
    version: `PostgreSQL ${server?.version}`,
    async create() {
      const name = newName();
      await admin.unsafe(`create database ${name}`);
      return dataset(name);
    },
    async named(name) {
      const [known] = await admin`select from pg_database where datname = ${name}`;
      if (!known) await admin.unsafe(`create database ${name}`);
      return { dataset: await dataset(name), isNew: !known };
    },
    close: () => admin.end(),
  };
}

const isLocal = (url: string): boolean =>
  ["127.0.0.1", "localhost", "[::1]"].includes(new URL(url).hostname);

/** The parent of all processes of the engine, if they run on this machine. */
function postmasterOf(backend: number): number | undefined {
  // A container numbers its processes itself: here, the number may belong to an unrelated process.
  if (nameOf(backend) !== "postgres") return undefined;
  return parentOf(backend);
}
