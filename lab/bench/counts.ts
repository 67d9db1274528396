import { type BenchmarkOptions, inFolder, openEngines } from "./benchmark.ts";
import { columns } from "./report/columns.ts";
import { rounded } from "./result.ts";
import { prepareDataset } from "./stage.ts";

/*
 * Counts as a segment would ask for them, of all users of a workspace, in plain SQL on the tables as
 * they are: no call asks for them, and no index is there for them.
 */

export type CountOptions = Pick<BenchmarkOptions, "engine" | "users" | "databaseUrl">;

const COUNTS: Readonly<Record<string, string>> = {
  "with an attribute of a value":
    "select count(*) as users from profiles where custom_attributes @> '{\"score\": 7}'",
  "with a number above another":
    "select count(*) as users from profiles where (custom_attributes ->> 'score')::numeric > 990",
  "who did something at least once":
    "select count(*) as users from event_summaries where name = 'event_3' and count >= 1",
  "both, of one user": `select count(*) as users from profiles join event_summaries
     using (workspace_id, profile_id)
     where custom_attributes @> '{"score": 7}' and name = 'event_3' and count >= 1`,
};

/** Runs each count on each engine, once to warm up, and prints how long the engine took. */
export async function runCounts(options: CountOptions): Promise<void> {
  await inFolder(async (folder, cleanUp) => {
    for (const engine of await openEngines({ ...options, profile: false }, folder, cleanUp)) {
      const seed = { users: options.users, statistics: true, addresses: false };
      const dataset = await prepareDataset(engine, seed, folder);
      cleanUp.add(() => dataset.remove());
      const rows = [["", "users", "ms"]];
      for (const [name, sql] of Object.entries(COUNTS)) {
        const [found] = await dataset.run([sql]);
        const [explained] = await dataset.run([
          sql,
          `explain (analyze, timing off, format json) ${sql}`,
        ]);
        const plans = explained?.["QUERY PLAN"] as { "Execution Time": number }[] | undefined;
        rows.push([
          name,
          String(found?.users),
          String(rounded(plans?.[0]?.["Execution Time"] ?? 0)),
        ]);
      }
      const title = `Counts on ${engine.version}: ${options.users.toLocaleString("en-US")} users`;
      process.stdout.write(`\n${title}\n\n${columns(rows).join("\n")}\n\n`);
    }
  });
}
