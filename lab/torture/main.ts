/*
 * `npm run torture`: kills servers with SIGKILL under mixed load, round after round, and checks
 * every acknowledged item against a model. docs/reliability.md has its scope and results.
 */
import { Command, InvalidArgumentError, Option } from "commander";
import { packageRoot } from "../../src/core/base/package-root.ts";
import { type FaultOptions, runFaults } from "./outage/outage.ts";
import { findSeededFaults } from "./seeded-faults.ts";
import { type Torture, torture } from "./torture.ts";

const above0 = (text: string): number => {
  const value = Number(text);
  if (value > 0) return value;
  throw new InvalidArgumentError("It must be a number above 0.");
};

/** Faults of the database and of one of two servers, under load: what callers see, and an account of all events. */
const faults = new Command("faults")
  .description("Tries each fault of docs/operations/faults.md under 50 requests a second.")
  .addOption(
    new Option("--engine <engine>", "the database")
      .choices(["postgres", "citus"])
      .default("postgres"),
  )
  .option("--times <count>", "how often each", above0, 5)
  .option("--only <text>", "those whose name contains it")
  .option("--each", "prints what each run found, as JSON")
  .action(async (options: FaultOptions) => {
    process.exitCode = (await runFaults(options, say)) ? 0 : 1;
  });

const say = (line: string) => process.stdout.write(`${line}\n`);

new Command("torture")
  .description(
    "Kills servers under mixed load and checks that everything acknowledged is there once.",
  )
  .addOption(
    new Option("--engine <engine>", "what to torture")
      .choices(["embedded", "postgres", "citus"])
      .default("embedded"),
  )
  .option("--rounds <count>", "how many rounds, each with a kill", above0, 20)
  .option("--minutes <count>", "for how long, instead of a number of rounds", above0)
  .option(
    "--seed <number>",
    "repeats the requests of an earlier run, though not its moments",
    above0,
    1,
  )
  .option(
    "--seeded-faults [part]",
    "breaks rules of the program on purpose, all or those that contain the text, and reports which it finds",
  )
  .action(async (options: Torture & { readonly seededFaults?: string | true }) => {
    if (options.seededFaults) {
      const part = options.seededFaults === true ? "" : options.seededFaults;
      process.exitCode = (await findSeededFaults(options, part, say)) ? 0 : 1;
      return;
    }
    const failure = await torture(packageRoot(), options, say);
    if (failure) say(`FAILED: ${failure}`);
    process.exitCode = failure ? 1 : 0;
  })
  .addCommand(faults)
  .parseAsync();
