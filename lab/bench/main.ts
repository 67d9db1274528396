import { Command, InvalidArgumentError, Option } from "commander";
import { type BenchmarkOptions, runBenchmark } from "./benchmark.ts";
import { type ChangesOptions, runChangesBenchmark } from "./changes.ts";
import { type CitusOptions, runOnCitus } from "./citus/run.ts";
import { type CountOptions, runCounts } from "./counts.ts";
import { type GrowthOptions, runGrowthBenchmark } from "./growth/run.ts";
import { GUARDED, type GuardOptions, runGuard } from "./guard/run.ts";
import { type ObserveOptions, runObserveBenchmark } from "./observe.ts";
import { type PeerOptions, runPeers } from "./peers/run.ts";
import { playRole, type Role, type RoleMain } from "./processes/child.ts";
import { runSegmentsBenchmark, type SegmentsOptions } from "./segments/run.ts";
import { MIX_NAMES, runServersBenchmark, type ServersOptions } from "./servers.ts";
import { runTransferBenchmark, type TransferOptions } from "./transfer.ts";
import { runSyncBenchmark, type SyncOptions } from "./warehouse-sync.ts";
import { CITUS_WORKLOADS, WORKLOADS, workloadNamed } from "./workloads/workloads.ts";

/*
 * `npm run bench`: measures the server under load, beside two floors. lab/NOTEBOOK.md tells how
 * to read the figures. Started again with the name of a role, it plays that role (processes/child.ts).
 */

const count = (text: string): number => {
  const value = Number(text);
  if (Number.isInteger(value) && value > 0) return value;
  throw new InvalidArgumentError("It must be a whole number above 0.");
};

const counts = (text: string): number[] => text.split(",").map(count);

const workloads = WORKLOADS.map(({ name, about }) => `  ${name.padEnd(14)} ${about}`).join("\n");

/** The meaning of `--quick`: enough to see that everything runs, with rough results. */
const QUICK = { users: 20_000, seconds: 2, rounds: 1 };

/** The meaning of `--quick` for `guard`: rough, but good enough to see a tenth. */
const QUICK_GUARD = { users: 20_000, seconds: 6, rounds: 4 };

const about = (quick: object): string =>
  `a look at it: ${Object.entries(quick)
    .map(([name, value]) => `${name} ${value}`)
    .join(", ")}`;

const program = new Command("bench")
  .enablePositionalOptions()
  .description("Measures the server under load, beside two floors of the same run.")
  .argument("[workloads...]", "what to run (default: all)")
  .addOption(
    new Option("--engine <engine>", "what to run it on")
      .choices(["postgres", "embedded", "both", "citus"])
      .default("both"),
  )
  .option("--shards <count>", "with --engine citus: CITUS_SHARDS of the server", count)
  .option("--users <count>", "how many users there are before it begins", count, 100_000)
  .option("--seconds <count>", "how long the server is measured at saturation", count, 20)
  .option("--rounds <count>", "in how many turns with the floors", count, 4)
  .option("--connections <count>", "how many requests are under way at saturation", count)
  .option("--workers <count>", "how many server processes (default: the server's default)", count)
  .option("--no-statistics", "leave the planner without statistics, as on a new database")
  .option("--database-url <url>", "a PostgreSQL that runs already; databases are made in it")
  .option("--results <folder>", "where the JSON and the chart go", "lab/results")
  .option("--quick", about(QUICK))
  .option("--profile", "tell where server and PostgreSQL spend their time, instead of the figures")
  .addHelpText("after", `\nWorkloads:\n${workloads}`)
  .action((names: string[], given: BenchmarkOptions & CitusOptions & { quick?: true }) => {
    const options = { ...given, ...(given.quick && QUICK) };
    const named = names.map(workloadNamed);
    if (given.engine === "citus") {
      return runOnCitus(named.length > 0 ? named : CITUS_WORKLOADS, options);
    }
    return runBenchmark(named.length > 0 ? named : WORKLOADS, options);
  });

program
  .command("sync")
  .description(
    "Syncs rows of attributes from a table of each kind of warehouse into PostgreSQL, once.",
  )
  .option("--rows <count>", "how many", count, 1_000_000)
  .option("--from <kind>", "postgres, a kind that the tests imitate, or all", "postgres")
  .option("--database-url <url>", "a PostgreSQL that runs already; databases are made in it")
  .action((options: SyncOptions) => runSyncBenchmark(options));

program
  .command("counts")
  .description("Counts users as a segment would, in plain SQL: no call asks for it.")
  .addOption(
    new Option("--engine <engine>", "what to run it on")
      .choices(["postgres", "embedded", "both"])
      .default("both"),
  )
  .option("--users <count>", "how many users there are", count, 100_000)
  .option("--database-url <url>", "a PostgreSQL that runs already; databases are made in it")
  .action((options: CountOptions) => runCounts(options));

program
  .command("segments")
  .description("Counts and estimates random segments beside a naive model of the same users.")
  .addOption(
    new Option("--engine <engine>", "what to run it on")
      .choices(["postgres", "embedded", "both"])
      .default("both"),
  )
  .option("--users <count>", "how many users there are", count, 1_000_000)
  .option("--filters <count>", "how many random filters are compared", count, 200)
  .option("--seconds <count>", "how long track is measured each time", count, 10)
  .option("--import", "load users without events and purchases by `rapport import`", false)
  .option("--database-url <url>", "a PostgreSQL that runs already; databases are made in it")
  .action((options: SegmentsOptions) => runSegmentsBenchmark(options));

program
  .command("observe")
  .description("Compares track with and without metrics and traces that are sent, in turns.")
  .addOption(
    new Option("--engine <engine>", "what to run it on")
      .choices(["postgres", "embedded", "both"])
      .default("both"),
  )
  .option("--users <count>", "how many users there are before it begins", count, 100_000)
  .option("--seconds <count>", "how long each server is measured", count, 30)
  .option("--rounds <count>", "in how many turns", count, 6)
  .option("--database-url <url>", "a PostgreSQL that runs already; databases are made in it")
  .action((options: ObserveOptions) => runObserveBenchmark(options));

program
  .command("guard")
  .description(
    "Compares this code with an earlier commit, in turns: rate, processor time and statements.",
  )
  .argument("[commit]", "what to compare with (default: the one in guard/base-commit)")
  .addOption(
    new Option("--engine <engine>", "what to run it on")
      .choices(["postgres", "embedded", "both"])
      .default("both"),
  )
  .addOption(new Option("--workloads <names...>", "what is sent").choices(GUARDED).default(GUARDED))
  .option("--users <count>", "how many users there are before it begins", count, 100_000)
  .option("--seconds <count>", "how long each server is measured with each workload", count, 24)
  .option(
    "--connections <count>",
    "how many requests are under way (default: the workload's)",
    count,
  )
  .option("--rounds <count>", "in how many turns", count, 6)
  .option("--limit <ratio>", "the ratio of processor time above which it fails", Number, 1.1)
  .option("--database-url <url>", "a PostgreSQL that runs already; databases are made in it")
  .option("--quick", about(QUICK_GUARD))
  .action((commit: string | undefined, given: GuardOptions & { quick?: true }) =>
    runGuard(commit, { ...given, ...(given.quick && QUICK_GUARD) }),
  );

program
  .command("changes")
  .description("Compares track with and without the change feed and a webhook, in turns.")
  .addOption(
    new Option("--engine <engine>", "what to run it on")
      .choices(["postgres", "embedded", "both"])
      .default("both"),
  )
  .option("--users <count>", "how many users there are before it begins", count, 100_000)
  .option("--seconds <count>", "how long each server is measured", count, 30)
  .option("--rounds <count>", "in how many turns", count, 6)
  .option("--database-url <url>", "a running PostgreSQL; databases are created in it")
  .action((options: ChangesOptions) => runChangesBenchmark(options));

program
  .command("servers")
  .description("Compares several servers and processes on one PostgreSQL with one, in turns.")
  .argument("[mixes...]", `what is asked of them: ${MIX_NAMES.join(", ")} (default: all)`)
  .option("--users <count>", "how many users there are before it begins", count, 100_000)
  .option("--seconds <count>", "how long each is measured, for each load", count, 20)
  .option("--rounds <count>", "in how many turns", count, 5)
  .option("--connections <count>", "how many requests are under way at saturation", count, 128)
  .option("--share <share>", "the lower load, of what the first layout reaches", Number, 0.3)
  .option(
    "--layouts <layouts>",
    "the processes of each server: 1+1 is two servers, 2 one server of two processes",
    (text: string) => text.split(","),
    ["1", "1+1"],
  )
  .option("--database-url <url>", "a PostgreSQL that runs already; databases are made in it")
  .action((mixes: string[], options: Omit<ServersOptions, "mixes">) =>
    runServersBenchmark({ ...options, mixes: mixes.length > 0 ? mixes : MIX_NAMES }),
  );

program
  .command("peers")
  .description(
    "Compares track on Rapport with the same updates on other servers from npm, in turns.",
  )
  .option("--users <count>", "how many users there are before it begins", count, 100_000)
  .option("--seconds <count>", "how long each is measured, for each size of request", count, 20)
  .option("--rounds <count>", "in how many turns", count, 4)
  .option("--connections <count>", "how many requests are under way", count)
  .option("--workers <count>", "how many processes each has (default: what Rapport takes)", count)
  .option("--database-url <url>", "a PostgreSQL that runs already; databases are made in it")
  .option("--results <folder>", "where the JSON goes", "lab/results")
  .option("--quick", about(QUICK))
  .action((given: PeerOptions & { quick?: true }) =>
    runPeers({ ...given, ...(given.quick && QUICK) }),
  );

program
  .command("transfer")
  .description("Imports files of users and events, killed and resumed, and exports them again.")
  .addOption(
    new Option("--engine <engine>", "what to run it on")
      .choices(["postgres", "embedded", "both"])
      .default("both"),
  )
  .option("--users <count>", "how many users", count, 100_000)
  .option("--events-per-user <count>", "how many events of each", count, 5)
  .option("--kills <count>", "how often each import is killed", count, 3)
  .option("--database-url <url>", "a PostgreSQL that runs already; databases are made in it")
  .action((options: TransferOptions) => runTransferBenchmark(options));

program
  .command("growth")
  .description(
    "Tracks and looks up in databases of several sizes, in turns: what growth costs, and why.",
  )
  .option("--users <counts>", "how many users each database holds", counts, [100_000, 1_000_000])
  .option("--events-per-user <count>", "how many events of each", count, 10)
  .option("--seconds <count>", "how long each is measured", count, 20)
  .option("--rounds <count>", "in how many turns", count, 4)
  .option("--database-url <url>", "a PostgreSQL that runs already; databases are made in it")
  .option(
    "--keep",
    "leave the databases there, for the next run: making them takes most of the time",
  )
  .action((options: GrowthOptions) => runGrowthBenchmark(options));

// Loaded only if they are played, so that no role carries what another one needs.
const ROLES: Readonly<Record<Role, () => Promise<RoleMain<never, never>>>> = {
  load: async () => (await import("./load/role.ts")).playLoad,
  "bare-http": async () => (await import("./floors/bare-http.ts")).playBareHttp,
  "plain-sql": async () => (await import("./floors/plain-sql.ts")).playPlainSql,
  peer: async () => (await import("./peers/hosts/role.ts")).playPeer,
  "peer-load": async () => (await import("./peers/load-role.ts")).playPeerLoad,
};

for (const [role, load] of Object.entries(ROLES)) {
  program.command(role, { hidden: true }).action(async () => playRole(await load()));
}

program
  .command("peer-worker", { hidden: true })
  .action(async () => (await import("./peers/hosts/role.ts")).playPeerWorker());

program.parseAsync().catch((error: Error) => {
  process.stderr.write(`bench: ${error.message}\n`);
  process.exit(1);
});
