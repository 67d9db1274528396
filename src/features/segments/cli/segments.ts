import { readFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import type { Command } from "commander";
import { callAdmin, type Reply } from "../../../cli/admin-client.ts";
import { writeOutput } from "../../../cli/output-file.ts";
import { counted as countedText, count as numberText } from "../../../cli/progress.ts";
import { readCount } from "../../../cli/read-count.ts";
import type { AdminTarget } from "../../../cli/target.ts";
import { printJson, printLines, printResult } from "../../../cli/terminal.ts";
import {
  addWorkspaceCommand,
  findNamed,
  locate,
  type WorkspaceOptions,
} from "../../../cli/workspace-option.ts";
import { RAPPORT } from "../../../core/base/command.ts";
import { columnOfAttribute, headerLine, STANDARD_COLUMNS, userLine } from "../csv.ts";

type Options = WorkspaceOptions & { readonly filter?: string };

type Counts = Extract<Reply<"countSegment">, { description: string }>;
type RunningCount = Omit<Reply<"getSegmentCount">, "message">;

/** The subject of requests about segments: a segment or a filter. */
type Wanted = { readonly segment_id: string } | { readonly filter: unknown };

const HELP = `
A segment is named by its id or its name. --filter takes a filter instead, or @ and the name of a file with one.

Examples:
  ${RAPPORT} segments list
  ${RAPPORT} segments count "Repeat buyers" --parts --reach
  ${RAPPORT} segments count --filter '{"event": "signed_up", "in_last_days": 7}' --exact
  ${RAPPORT} segments counts
  ${RAPPORT} segments users "Repeat buyers" --limit 20
  ${RAPPORT} segments export "Repeat buyers" buyers.csv`;

/** `rapport segments …`: who meets a filter, through the admin API of a running server. */
export function define(segments: Command): void {
  segments.addHelpText("after", HELP);
  const command = (usage: string, about: string, example: string) =>
    addWorkspaceCommand(segments, usage, about, example);
  const ofFilter = (usage: string, about: string, example: string) =>
    command(usage, about, example).option(
      "--filter <json>",
      "a filter, or @file, instead of a segment",
    );

  command("list", "Lists the segments.", "list --json").action(list);
  ofFilter(
    "count [segment]",
    "Estimates how many users meet a filter, or counts them.",
    'count "Repeat buyers" --exact',
  )
    .option("--exact", "counts all users, and waits until that is done; Ctrl-C cancels the count")
    .option("--parts", "estimates each part of the filter too")
    .option("--reach", "estimates who can be reached on each channel")
    .action(count);
  command(
    "counts",
    "Lists exact counts: running, waiting, and finished ones.",
    "counts --json",
  ).action(listCounts);
  command(
    "cancel <count-id>",
    "Cancels an exact count that runs or waits.",
    "cancel 0199f0a0-7c11-7000-8000-00c0ffee0001",
  ).action(cancel);
  ofFilter(
    "users [segment]",
    "Prints users who meet a filter, one JSON object per line.",
    'users "Repeat buyers" --limit 20',
  )
    .option("--limit <count>", "how many at most", readCount, 100)
    .action(users);
  ofFilter(
    "export [segment] [file]",
    "Writes all users who meet a filter to a file.",
    'export "Repeat buyers" buyers.csv',
  )
    .option(
      "--columns <names>",
      "the columns of a CSV, such as external_id,email,custom_attributes.plan",
    )
    .addHelpText(
      "after",
      "\nA file whose name ends in .csv has a line for each user, with the columns of --columns or else all of them; any\n" +
        "other has one JSON object per line. Compressed if the name ends in .gz. Without a file, or for -, it goes to\n" +
        "standard output.",
    )
    .action(exportAll);
}

async function list(options: Options): Promise<void> {
  const { target, path } = await locate(options, "/segments");
  const { segments } = await callAdmin<"listSegments">(target, "GET", path);
  printResult(options, segments, (all) => all.map(({ id, name }) => `${id}  ${name}`));
}

type CountOptions = Options & { exact?: true; parts?: true; reach?: true };

async function count(given: string | undefined, options: CountOptions): Promise<void> {
  const interrupted = new AbortController();
  const interrupt = () => interrupted.abort();
  if (options.exact) {
    process.once("SIGINT", interrupt);
    process.stderr.write("counting all users\n");
  }
  try {
    await countUntil(interrupted.signal, given, options);
  } finally {
    process.off("SIGINT", interrupt);
  }
}

async function countUntil(
  interrupted: AbortSignal,
  given: string | undefined,
  options: CountOptions,
): Promise<void> {
  const { target, path } = await locate(options, "/segments");
  const wanted = await wantedBy(target, path, given, options);
  const { exact = false, parts = false, reach = false } = options;
  const body = { ...wanted, exact, parts, reach };
  if (interrupted.aborted) throw wasCancelled();
  // The server counts by itself for some seconds, and does not learn of an interrupt meanwhile.
  const answer = await callAdmin<"countSegment">(target, "POST", `${path}/count`, body);
  if ("count_id" in answer) {
    const done = await whenCounted(target, path, answer.count_id, interrupted);
    return printResult(options, done, ({ counted, matching }) => [
      `${matchingText(matching)} of ${usersText(counted)} (exact)`,
    ]);
  }
  if (interrupted.aborted) throw wasCancelled();
  printResult(options, answer, describeCount);
}

const wasCancelled = () => new Error("The count was cancelled.");

const ASK_AGAIN_MS = 1_000;

/** Waits until a count has ended; an interrupt cancels it. */
async function whenCounted(
  target: AdminTarget,
  path: string,
  countId: string,
  interrupted: AbortSignal,
): Promise<RunningCount> {
  for (;;) {
    const method = interrupted.aborted ? "DELETE" : "GET";
    const found = await callAdmin<"getSegmentCount">(target, method, `${path}/counts/${countId}`);
    if (found.status === "finished") return found;
    if (found.status === "cancelled") throw wasCancelled();
    if (found.status === "failed") throw new Error(`The count failed. ${found.failure}`);
    process.stderr.write(`${describeProgress(found)}\n`);
    await setTimeout(ASK_AGAIN_MS, undefined, { signal: interrupted }).catch(() => {});
  }
}

/** Null is shown to who may not see who users are. */
const matchingText = (users: number | null): string =>
  users === null ? "fewer than 20" : numberText(users);

const usersText = (number: number): string => countedText(number, "user");

const describeProgress = ({ counted, expected }: RunningCount): string =>
  `counted ${numberText(counted)} of about ${usersText(Math.max(counted, expected))}`;

type ListedCount = Reply<"listSegmentCounts">["counts"][number];

async function listCounts(options: Options): Promise<void> {
  const { target, path } = await locate(options, "/segments");
  const { counts } = await callAdmin<"listSegmentCounts">(target, "GET", `${path}/counts`);
  printResult(options, counts, (all) => all.map(describeListed));
}

function describeListed(count: ListedCount): string {
  const { count_id: id, status, failure, counted, matching } = count;
  const { before, description, started_at } = count;
  const state =
    status === "finished"
      ? `${matchingText(matching)} of ${usersText(counted)}`
      : status === "cancelled"
        ? "cancelled"
        : status === "failed"
          ? `failed (${failure})`
          : before
            ? `waits for ${before} before it`
            : describeProgress(count);
  const subject = description ?? "its filter names something that no longer exists";
  return `${id}  ${started_at}  ${state}: ${subject}`;
}

async function cancel(id: string, options: Options): Promise<void> {
  const { target, path } = await locate(options, "/segments");
  const onCount = `${path}/counts/${encodeURIComponent(id)}`;
  const found = await callAdmin<"cancelSegmentCount">(target, "DELETE", onCount);
  printResult(options, found, ({ status }) => [
    status === "cancelled" ? "Cancelled the count." : "The count had ended.",
  ]);
}

const describeSize = ({
  matching,
  low,
  high,
}: Pick<Counts, "matching" | "low" | "high">): string =>
  low === high
    ? matchingText(matching)
    : `about ${matchingText(matching)} (${numberText(low)} to ${numberText(high)})`;

function describeCount({ description, parts = [], reach = [], ...size }: Counts): string[] {
  const since = Object.entries(size.counts_since ?? {});
  return [
    description,
    `${describeSize(size)} of ${size.exact ? "" : "about "}${usersText(size.total)}`,
    ...since.map(([what, time]) => `counts ${what} since ${time}`),
    ...parts.map(
      ({ condition, alone, together }) =>
        `  ${condition}: ${describeSize(alone)}; with those before: ${describeSize(together)}`,
    ),
    ...reach.map((each) => `  by ${each.channel}, ${each.name}: ${describeSize(each)}`),
  ];
}

async function users(
  given: string | undefined,
  options: Options & { limit: number },
): Promise<void> {
  const { target, path } = await locate(options, "/segments");
  const wanted = await wantedBy(target, path, given, options);
  const found: unknown[] = [];
  for await (const user of readUsers(target, path, wanted, options.limit)) found.push(user);
  if (options.json) printJson({ users: found });
  else printLines(found.map((user) => JSON.stringify(user)));
}

async function exportAll(
  given: string | undefined,
  file: string | undefined,
  options: Options & { readonly columns?: string },
): Promise<void> {
  // With --filter no segment is given, so the first word is the file.
  const [name, to = "-"] = options.filter === undefined ? [given, file] : [undefined, given];
  const { target, path } = await locate(options, "/segments");
  const wanted = await wantedBy(target, path, name, options);
  const isCsv = /\.csv(\.gz)?$/i.test(to) || options.columns !== undefined;
  const columns = isCsv ? await columnsOf(target, path, options.columns) : [];
  let written = 0;
  async function* lines(): AsyncGenerator<string> {
    if (isCsv) yield headerLine(columns);
    for await (const user of readUsers(target, path, wanted, Number.POSITIVE_INFINITY)) {
      written += 1;
      yield isCsv ? userLine(user, columns) : `${JSON.stringify(user)}\n`;
      if (written % TOLD_EVERY === 0) process.stderr.write(`${usersText(written)}\n`);
    }
  }
  await writeOutput(to, lines());
  if (to === "-") return;
  if (options.json) printJson({ users: written, file: to });
  else process.stdout.write(`Wrote ${usersText(written)} to ${to}.\n`);
}

const PAGE = 1_000;

/** After how many users an export says how far it is. */
const TOLD_EVERY = 10_000;

/** The given columns, or those of all users: the standard ones and every custom attribute of the workspace. */
async function columnsOf(
  target: AdminTarget,
  path: string,
  given: string | undefined,
): Promise<readonly string[]> {
  if (given !== undefined) {
    const columns = given.split(",").map((name) => name.trim());
    if (columns.some((name) => name === "")) throw new Error("--columns has an empty name.");
    return columns;
  }
  const columns: string[] = [...STANDARD_COLUMNS];
  let cursor: string | undefined;
  do {
    const query = new URLSearchParams({
      kind: "attribute",
      limit: "250",
      ...(cursor && { cursor }),
    });
    const catalogue = `${path.replace(/segments$/, "catalogue")}?${query}`;
    const page: Reply<"getCatalogue"> = await callAdmin<"getCatalogue">(target, "GET", catalogue);
    columns.push(...page.entries.map(({ name }) => columnOfAttribute(name)));
    cursor = page.next_cursor;
  } while (cursor);
  return columns;
}

async function* readUsers(
  target: AdminTarget,
  path: string,
  wanted: Wanted,
  limit: number,
): AsyncGenerator<Record<string, unknown>> {
  let cursor: string | null = null;
  let left = limit;
  do {
    const body = { ...wanted, limit: Math.min(PAGE, left), cursor };
    const users = `${path}/users`;
    const page: Reply<"listSegmentUsers"> = await callAdmin<"listSegmentUsers">(
      target,
      "POST",
      users,
      body,
    );
    yield* page.users as Record<string, unknown>[];
    left -= page.users.length;
    cursor = page.cursor;
  } while (cursor !== null && left > 0);
}

/** @throws unless there is either a segment or a filter. */
async function wantedBy(
  target: AdminTarget,
  path: string,
  given: string | undefined,
  { filter }: Options,
): Promise<Wanted> {
  if ((given === undefined) === (filter === undefined)) {
    throw new Error("Name a segment, or pass --filter.");
  }
  if (filter !== undefined) return { filter: readFilter(filter) };
  const { segments } = await callAdmin<"listSegments">(target, "GET", path);
  return { segment_id: findNamed(segments, "segment", given as string).id };
}

function readFilter(text: string): unknown {
  const json = text.startsWith("@") ? readFileSync(text.slice(1), "utf8") : text;
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new Error(`The filter is not JSON: ${(error as Error).message}`);
  }
}
