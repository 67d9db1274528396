/*
 * Databases for tests on PostgreSQL: TEST_DATABASE_URL names a server where databases may be made.
 * If TEST_CITUS_WORKERS (URLs, separated by commas) names worker nodes too, every database is a
 * separate Citus cluster on those nodes.
 */
import { after } from "node:test";
import postgres from "postgres";

let databases = 0;

/** The start of the names of all databases that a run of the suite makes. */
const namesOf = (run: string): string => `rapport_test_${run}_`;

/** A new, empty database; it goes when the test file ends. Undefined on the embedded engine. */
export async function freshDatabase(): Promise<string | undefined> {
  const name = nextName();
  const url = await createDatabase(name);
  if (url !== undefined) after(() => dropEverywhere(name));
  return url;
}

const nextName = (): string =>
  `${namesOf(process.env.TEST_RUN ?? "alone")}${process.pid}_${++databases}`;

async function createDatabase(name: string): Promise<string | undefined> {
  const server = process.env.TEST_DATABASE_URL;
  if (!server) return undefined;
  const workers = workerUrls();
  for (const node of [server, ...workers]) await run(node, `create database ${name}`);
  const url = onDatabase(server, name);
  if (workers.length > 0) await joinNodes(url, name, workers);
  return url;
}

let template: Promise<string> | undefined;

/**
 * A new database with the tables that `migrate` makes: the copy of one where it has run. That takes a fifth of the time, for
 * processes that need many. A cluster cannot be copied.
 *
 * @param migrate brings a database up to date, and leaves it.
 */
export async function migratedDatabase(
  migrate: (url: string) => Promise<void>,
): Promise<string | undefined> {
  const server = process.env.TEST_DATABASE_URL;
  if (!server || workerUrls().length > 0) return freshDatabase();
  template ??= createDatabase(nextName()).then(async (url = "") => {
    await migrate(url);
    return new URL(url).pathname.slice(1);
  });
  const [original, name] = [await template, nextName()];
  // With the files instead of the log of each page: a quarter of the processor time.
  await run(server, `create database ${name} template ${original} strategy file_copy`);
  after(() => dropEverywhere(name));
  return onDatabase(server, name);
}

async function dropEverywhere(name: string): Promise<void> {
  await dropDatabase(process.env.TEST_DATABASE_URL ?? "", name);
  for (const node of workerUrls()) {
    await endPrepared(onDatabase(node, name));
    await dropDatabase(node, name);
  }
}

/** Drops what test processes of a run left behind because they were killed. */
export async function dropDatabasesOf(run: string): Promise<void> {
  const server = process.env.TEST_DATABASE_URL;
  if (!server) return;
  const sql = postgres(server, { max: 1, onnotice: () => {}, fetch_types: false });
  const left = await sql<{ datname: string }[]>`
    select datname from pg_database where starts_with(datname, ${namesOf(run)})`;
  await sql.end();
  for (const { datname } of left) await dropEverywhere(datname);
}

function onDatabase(server: string, name: string): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

async function run(url: string, ...statements: string[]): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {}, fetch_types: false });
  try {
    for (const statement of statements) await sql.unsafe(statement);
  } finally {
    await sql.end();
  }
}

/** Tried again, because the maintenance daemon of a Citus opens connections to its databases. */
async function dropDatabase(node: string, name: string, tries = 10): Promise<void> {
  try {
    await run(node, `drop database if exists ${name} with (force)`);
  } catch (error) {
    if (tries === 1) throw error;
    await new Promise((resolve) => setTimeout(resolve, 200));
    await dropDatabase(node, name, tries - 1);
  }
}

/** Commits that were cut off between their two phases would keep the database of a worker node. */
async function endPrepared(url: string): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {}, fetch_types: false });
  const prepared = await sql`
    select gid from pg_prepared_xacts where database = current_database()`;
  for (const { gid } of prepared) await sql.unsafe(`rollback prepared '${gid}'`);
  await sql.end();
}

/** Leaves a plain database on the coordinator, and on the workers databases that `joinAgain` takes up. */
export const leaveCluster = (url: string): Promise<void> =>
  run(url, "drop extension citus cascade");

/** Makes a database that left its cluster the coordinator's again. */
export const joinAgain = (url: string): Promise<void> =>
  joinNodes(url, new URL(url).pathname.slice(1), workerUrls());

const workerUrls = (): string[] =>
  (process.env.TEST_CITUS_WORKERS ?? "").split(",").filter(Boolean);

async function joinNodes(url: string, name: string, workers: readonly string[]): Promise<void> {
  for (const node of [url, ...workers.map((worker) => onDatabase(worker, name))]) {
    await run(node, "create extension if not exists citus");
  }
  const { hostname, port } = new URL(url);
  await oneAtATime(() =>
    run(
      url,
      `select citus_set_coordinator_host('${hostname}', ${port})`,
      ...workers.map((worker) => {
        const node = new URL(worker);
        return `select citus_add_node('${node.hostname}', ${node.port})`;
      }),
    ),
  );
}

/** An arbitrary number that nothing else locks in the database of TEST_DATABASE_URL. */
const JOIN_LOCK = 7_270_413;

/** Adding a node alters roles, which all databases of the node share, and two processes at once would fail. */
async function oneAtATime(work: () => Promise<void>): Promise<void> {
  const server = process.env.TEST_DATABASE_URL ?? "";
  const sql = postgres(server, { max: 1, onnotice: () => {}, fetch_types: false });
  try {
    await sql.begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(${JOIN_LOCK})`;
      await work();
    });
  } finally {
    await sql.end();
  }
}
