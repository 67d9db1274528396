/*
 * `npm run test:citus [name-part …]`: runs the suite against the cluster whose coordinator
 * DATABASE_URL names. Every test file gets a separate database on all nodes of that cluster, so the
 * user must be able to create databases and the extension there. Without DATABASE_URL, or if that
 * is not a coordinator, there is nothing to test.
 */
import postgres from "postgres";

const { DATABASE_URL: url = "" } = process.env;

/** The addresses of the workers, with the user and the password of the coordinator's. */
async function workersOf(coordinator: string): Promise<string[]> {
  const sql = postgres(coordinator, { max: 1, onnotice: () => {}, fetch_types: false });
  try {
    const [extension] = await sql`select 1 from pg_extension where extname = 'citus'`;
    if (!extension) return [];
    const nodes = await sql<{ nodename: string; nodeport: number }[]>`
      select nodename, nodeport from pg_dist_node
      where groupid <> 0 and isactive and noderole = 'primary' order by nodename, nodeport`;
    return nodes.map(({ nodename, nodeport }) => {
      const worker = new URL(coordinator);
      worker.hostname = nodename;
      worker.port = String(nodeport);
      return worker.href;
    });
  } finally {
    await sql.end();
  }
}

const workers = url ? await workersOf(url) : [];
if (workers.length > 0) {
  process.env.TEST_DATABASE_URL = url;
  process.env.TEST_CITUS_WORKERS = workers.join();
  await import("./suite.ts");
} else {
  const reason = url
    ? "DATABASE_URL names no coordinator with worker nodes (citus_add_node)"
    : "set DATABASE_URL to the coordinator of a Citus cluster";
  process.stdout.write(`Skipped the tests on Citus: ${reason}.\n`);
}
