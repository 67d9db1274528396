/* What a night brings. Each fault begins, lasts for a while under load, and ends. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import postgres from "postgres";
import type { Cluster } from "../../bench/engines/postgres-cluster.ts";
import { LOCKED_USER, type Load } from "./load.ts";
import { openSql, type Stage } from "./stage.ts";

export interface Outage {
  readonly name: string;
  /** Runs the fault from its beginning to its end. */
  run(stage: Stage, load: Load): Promise<void>;
  /** The server that it stops: its requests are not measured. */
  readonly victim?: number;
  /** Which engines know it; all without it. */
  readonly engines?: readonly Stage["engine"][];
  /** Whether it takes a disk of its own, which only root can mount. */
  readonly needsDisk?: true;
}

const first = ({ nodes }: Stage): Cluster => nodes[0] as Cluster;

export const OUTAGES: readonly Outage[] = [
  { name: "no fault", run: () => sleep(10_000) },
  {
    name: "kill",
    async run(stage) {
      await first(stage).crash();
      await sleep(1_000);
      await first(stage).start();
    },
  },
  {
    name: "stop",
    async run(stage) {
      await first(stage).stop();
      await sleep(3_000);
      await first(stage).start();
    },
  },
  {
    name: "freeze",
    async run(stage) {
      signalAll(first(stage), "SIGSTOP");
      await sleep(5_000);
      signalAll(first(stage), "SIGCONT");
    },
  },
  {
    name: "full disk",
    engines: ["postgres"],
    needsDisk: true,
    async run({ disk }) {
      if (!disk) throw new Error("It takes root to mount a small disk.");
      for (const endsAt = performance.now() + 8_000; performance.now() < endsAt; await sleep(250)) {
        await disk.fill();
      }
      await disk.free();
    },
  },
  {
    name: "cut at commit",
    async run({ network }) {
      network.cutAtCommit(true);
      await sleep(4_000);
      network.cutAtCommit(false);
    },
  },
  {
    name: "cut at random",
    async run({ network }) {
      for (let cuts = 0; cuts < 25; cuts++) {
        await sleep(Math.random() * 320);
        network.cut();
      }
    },
  },
  {
    name: "lock of a row",
    run: (stage) =>
      holdFor(stage, 30_000, (sql) =>
        // A cluster knows no `for update` across shards.
        sql.unsafe(
          `update profiles set version = version where external_id = '${LOCKED_USER}' and workspace_id =
             (select workspace_id from workspaces where name = 'north')`,
        ),
      ),
  },
  {
    name: "lock of a table",
    run: (stage) =>
      holdFor(stage, 15_000, (sql) => sql.unsafe("lock table profiles in exclusive mode")),
  },
  {
    name: "max_connections",
    engines: ["postgres"],
    async run(stage) {
      // All connections, the servers' too.
      const holders: postgres.Sql[] = [];
      const endsAt = performance.now() + 8_000;
      while (performance.now() < endsAt) {
        const holder = postgres(stage.databaseUrl, {
          max: 1,
          fetch_types: false,
          onnotice: () => {},
        });
        const isIn = await holder`
          select pg_terminate_backend(pid) from pg_stat_activity
          where application_name like 'rapport%'`.then(
          () => true,
          () => false,
        );
        if (isIn) holders.push(holder);
        else {
          await holder.end({ timeout: 1 });
          await sleep(100);
        }
      }
      await Promise.all(holders.map((holder) => holder.end({ timeout: 1 })));
    },
  },
  {
    name: "silent network",
    async run({ network }) {
      network.silence(true);
      await sleep(5_000);
      network.silence(false);
    },
  },
  {
    name: "clock",
    async run({ servers }) {
      for (const ms of [3_600_000, -7_200_000, 3_600_000]) {
        for (const server of servers) server.shiftClock(ms);
        await sleep(2_000);
      }
    },
  },
  {
    name: "frozen server",
    victim: 1,
    async run(stage, load) {
      const frozen = stage.servers[1];
      const sql = openSql(stage);
      // In the middle of a transaction, which a busy server is most of the time.
      await freezeInTransaction(sql, frozen.pid, load);
      await sleep(20_000);
      process.kill(frozen.pid, "SIGCONT");
      await sleep(1_000);
      load.only(undefined);
      await sql.end();
    },
  },
];

/** Holds a lock as psql would. */
async function holdFor(
  stage: Stage,
  ms: number,
  take: (sql: postgres.TransactionSql) => Promise<unknown>,
): Promise<void> {
  const sql = openSql(stage);
  await sql.begin(async (tx) => {
    await take(tx);
    await tx`select pg_sleep(${ms / 1_000})`;
  });
  await sql.end();
}

/** Stops a server while PostgreSQL waits for it with locks. */
async function freezeInTransaction(sql: postgres.Sql, pid: number, load: Load): Promise<void> {
  const giveUpAt = performance.now() + 30_000;
  while (performance.now() < giveUpAt) {
    process.kill(pid, "SIGSTOP");
    await sleep(20);
    const [row] = await sql<{ count: number }[]>`
      select count(*)::int as count from pg_stat_activity
      where application_name like 'rapport%' and state like 'idle in transaction%' and backend_xid is not null`;
    // The other server's are over within milliseconds.
    await sleep(30);
    const [again] = await sql<{ count: number }[]>`
      select count(*)::int as count from pg_stat_activity
      where application_name like 'rapport%' and state like 'idle in transaction%'
        and backend_xid is not null and state_change < now() - interval '25 ms'`;
    if (row && again && row.count > 0 && again.count > 0) return load.only(0);
    process.kill(pid, "SIGCONT");
    await sleep(Math.random() * 50);
  }
  throw new Error("The server was never in a transaction.");
}

/** Sends a signal to every process of a PostgreSQL. */
function signalAll({ data }: Cluster, signal: "SIGSTOP" | "SIGCONT"): void {
  const postmaster = readFileSync(join(data, "postmaster.pid"), "utf8").split("\n")[0] as string;
  const children = execFileSync("ps", ["-o", "pid=", "--ppid", postmaster], { encoding: "utf8" });
  for (const pid of [...children.split("\n").filter((line) => line.trim()), postmaster]) {
    try {
      process.kill(Number(pid), signal);
    } catch {
      // It has ended.
    }
  }
}
