import { type Command, InvalidArgumentError, Option } from "commander";
import { callAdmin } from "../../../cli/admin-client.ts";
import { count, counted, displayProgress } from "../../../cli/progress.ts";
import { type AdminTarget, type TargetOptions, targetOf, withTarget } from "../../../cli/target.ts";
import { confirm, printJson, printNote, printText } from "../../../cli/terminal.ts";
import { findWorkspaceName, workspacePath } from "../../../cli/workspace-option.ts";
import { RAPPORT } from "../../../core/base/command.ts";
import { sha256 } from "../../../core/base/values/hashes.ts";
import { IMPORT_KINDS, type ImportKind } from "../import-kind.ts";
import {
  COLUMN_TYPES,
  type Column,
  type ColumnType,
  describeColumns,
  isColumnType,
} from "./columns.ts";
import { openRejects, showRejects } from "./rejects.ts";
import { FORMATS, PRESETS, type Preset, type ReadOptions, type Rows, readRows } from "./rows.ts";
import { type RunResult, runImport } from "./run-import.ts";
import { forgetProgress, type Import, type Progress, readProgress } from "./send.ts";
import { openSource, type Source } from "./source.ts";
import { type DayOrder, readDayOrder } from "./written-dates.ts";
import { DECIMALS, type Decimal } from "./written-numbers.ts";

const HELP = `
Files are NDJSON (one JSON object a line) or CSV, packed with gzip or not, or Parquet. Each row is checked by the rules
of the API; rejected rows are reported with the reason, and the others are imported. Progress is committed with the rows:
--resume continues an import that was interrupted, with nothing lost and nothing twice.

Exit codes: 0 when every row was imported, 2 when some were rejected, 1 otherwise.

Examples:
  ${RAPPORT} import users users.ndjson --workspace demo
  ${RAPPORT} import users crm.csv.gz --map "Account=external_id" --dry-run
  ${RAPPORT} import users kunden.csv --decimal , --date-format dmy --trim
  ${RAPPORT} import events events.ndjson --rejects rejected.ndjson --resume
  zcat segment/*.gz | ${RAPPORT} import events - --preset segment`;

interface ImportOptions extends TargetOptions {
  readonly workspace?: string;
  readonly format?: (typeof FORMATS)[number];
  readonly delimiter?: string;
  readonly preset?: Preset;
  readonly map: ReadonlyMap<string, string>;
  readonly type: ReadonlyMap<string, ColumnType>;
  readonly decimal?: Decimal;
  readonly dateFormat?: DayOrder;
  readonly trim?: true;
  readonly byPhone?: true;
  readonly dryRun?: true;
  readonly resume?: true;
  readonly again?: true;
  readonly rejects?: string;
  readonly maxRejects?: number;
}

export function define(command: Command): void {
  withTarget(
    command.argument("<kind>", IMPORT_KINDS.join(", "), readKind).argument("<file>", "-: stdin"),
  )
    .option("--workspace <name>", "if there are several")
    .addOption(
      new Option("--format <format>", "by default by the name of the file").choices(FORMATS),
    )
    .option("--delimiter <character>", "of a CSV file")
    .option(
      "--map <column=field>",
      "the field for a column; an empty one leaves it out",
      pair,
      new Map(),
    )
    .option(
      "--type <column=type>",
      `${COLUMN_TYPES.join(", ")}; with a question mark (number?), cells of another type are left out; by default inferred`,
      typePair,
      new Map(),
    )
    .addOption(
      new Option("--decimal <mark>", "before the fraction of a number, as in 1.234,56").choices(
        DECIMALS,
      ),
    )
    .option("--date-format <order>", "dmy or mdy, for dates such as 03/04/2026", readOrder)
    .option("--trim", "leaves out blanks around values")
    .option("--by-phone", "finds users by their phone number, if no column is an id")
    .addOption(
      new Option("--preset <name>", "the export format of another product").choices(PRESETS),
    )
    .option("--dry-run", "checks every row and imports nothing")
    .option("--resume", "continues an import of this file that was interrupted")
    .option("--again", "imports events or purchases again, although they were imported before")
    .option("--rejects <file>", "writes rejected rows to a file, with the reason")
    .option("--max-rejects <count>", "stops when more rows are rejected", readCount)
    .addHelpText("after", HELP)
    .action(async (kind: ImportKind, path: string, options: ImportOptions) => {
      process.exitCode = await importFile(kind, path, options);
    });
}

function readKind(text: string): ImportKind {
  const kind = IMPORT_KINDS.find((each) => each === text);
  if (kind) return kind;
  throw new InvalidArgumentError(`It is one of ${IMPORT_KINDS.join(", ")}.`);
}

function pair(text: string, all: ReadonlyMap<string, string>): Map<string, string> {
  const at = text.lastIndexOf("=");
  if (at < 1) throw new InvalidArgumentError('Write it as "Email Address=email".');
  return new Map([...all, [text.slice(0, at), text.slice(at + 1)]]);
}

function typePair(text: string, all: ReadonlyMap<string, string>): Map<string, string> {
  const types = pair(text, all);
  if (areColumnTypes(types)) return types;
  throw new InvalidArgumentError(
    `A type is one of ${COLUMN_TYPES.join(", ")}, or one of them with a question mark.`,
  );
}

const areColumnTypes = (types: Map<string, string>): types is Map<string, ColumnType> =>
  [...types.values()].every(isColumnType);

function readOrder(text: string): DayOrder {
  const order = readDayOrder(text);
  if (order) return order;
  throw new InvalidArgumentError("It is dmy for 31.01.2026, or mdy for 01/31/2026.");
}

function readCount(text: string): number {
  if (/^\d+$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It is a whole number.");
}

/** @returns the exit code. */
async function importFile(kind: ImportKind, path: string, options: ImportOptions): Promise<number> {
  const target = targetOf(options);
  const source = await openSource(path);
  const workspace = await findWorkspaceName(target, options.workspace);
  const reading = await readingOf(kind, options, target, workspace);
  const file = await readRows(source, reading);
  if (file.columns) {
    printNote(`${describeColumns(file.columns).join("\n")}`);
    await confirmPhones(kind, file.columns, options);
  }
  const importId = idOf(source, reading);
  const run = { target, workspace, importId, kind, isDryRun: options.dryRun ?? false };
  const resumed = await settleProgress(run, source, options);
  const rejects = options.rejects
    ? await openRejects(options.rejects, resumed !== undefined)
    : showRejects(source.name);
  const display = displayProgress(process.stderr, "row", "done");
  const stop = stopOnSignal(display.say);
  try {
    const result = await runImport(run, {
      rows: file.rows,
      totalBytes: source.totalBytes,
      resumed,
      rejects,
      maxRejects: options.maxRejects ?? Number.POSITIVE_INFINITY,
      display,
      isStopped: stop.isStopped,
    });
    display.end();
    await rejects.close();
    return report(result, file, kind, options);
  } catch (error) {
    display.end();
    await rejects.close();
    const { message } = error as Error;
    throw run.isDryRun
      ? error
      : new Error(`${message}\nContinue with --resume: nothing is written twice.`);
  } finally {
    stop.release();
  }
}

/**
 * A number may belong to a family, and people change it: other columns that look like ids were perhaps not recognized.
 *
 * @throws unless the user confirms, if phone numbers are all that users are found by. Subscriptions may have no more.
 */
async function confirmPhones(
  kind: ImportKind,
  columns: readonly Column[],
  { byPhone, dryRun }: ImportOptions,
): Promise<void> {
  const targets = columns.map(({ path }) => path?.[0]);
  if (kind === "subscriptions" || !targets.includes("phone")) return;
  if (targets.some((target) => target !== undefined && IDENTIFYING.includes(target))) return;
  const sentence = `No column is an id or an email address: users are found by phone. Name a column with --map "Column=external_id".`;
  if (dryRun) printNote(sentence);
  else await confirm(sentence, { yes: byPhone, option: "--by-phone" });
}

const IDENTIFYING = ["external_id", "user_alias", "platform_id", "braze_id", "email"];

async function readingOf(
  kind: ImportKind,
  options: ImportOptions,
  target: AdminTarget,
  workspace: string,
): Promise<ReadOptions> {
  const { format, delimiter, preset, map, type, decimal, dateFormat, trim = false } = options;
  const path = `${workspacePath(workspace)}/apps`;
  const apps =
    preset === "braze"
      ? (await callAdmin<{ apps: ReadOptions["apps"] }>(target, "GET", path)).apps
      : [];
  return { kind, format, delimiter, preset, map, types: type, apps, decimal, dateFormat, trim };
}

/** The same file, read in another way, is another import. */
function idOf(
  { fingerprint }: Source,
  { kind, format, delimiter, preset, map, types, decimal, dateFormat, trim }: ReadOptions,
): string {
  const written = decimal || dateFormat || trim ? [decimal, dateFormat, trim] : [];
  const how = JSON.stringify([kind, format, delimiter, preset, [...map], [...types], ...written]);
  return sha256(`${fingerprint} ${how}`).slice(0, 32);
}

/** Why importing a row again changes nothing. */
const IDEMPOTENT: readonly ImportKind[] = ["users", "subscriptions"];

/** @returns how far an earlier run came that is to be continued. */
async function settleProgress(
  run: Import,
  { name }: Source,
  { resume, again }: ImportOptions,
): Promise<Progress | undefined> {
  if (run.isDryRun) return undefined;
  const known = await readProgress(run);
  if (!known) return undefined;
  if (resume) {
    printNote(`Continuing after row ${count(known.rows_done)}.`);
    return known;
  }
  if (!again && !IDEMPOTENT.includes(run.kind)) {
    throw new Error(
      `${counted(known.rows_done, "row")} of ${name} were imported into '${run.workspace}' before. ` +
        `Pass --resume to import the rest, or --again to import all ${run.kind} again.`,
    );
  }
  await forgetProgress(run);
  return undefined;
}

/** A first Ctrl-C ends the import after the batch that runs; a second one ends it at once. */
function stopOnSignal(say: (sentence: string) => void) {
  let isStopped = false;
  const stop = () => {
    if (isStopped) process.exit(130);
    isStopped = true;
    say("Stopping after this batch.");
  };
  process.on("SIGINT", stop);
  return { isStopped: () => isStopped, release: () => void process.off("SIGINT", stop) };
}

function report(result: RunResult, file: Rows, kind: ImportKind, options: ImportOptions): number {
  const { rows, sent, imported, partial, ended } = result;
  const rejected = rows - imported;
  for (const what of file.leftOut) printNote(`Left out: ${what}.`);
  const others = file.passedOver();
  if (options.json) {
    const total = { rows, imported, rejected, partial, passed_over: others };
    printJson({ ...total, rows_of_this_run: sent, ...(ended && { ended }) });
  } else {
    const verb = options.dryRun ? "would be imported" : "imported";
    const parts = [
      `${counted(imported, kind.slice(0, -1))} ${verb}, ${count(rejected)} rejected`,
      ...(partial > 0 ? [`${count(partial)} imported in part`] : []),
      ...(others > 0 ? [`${count(others)} records of another kind passed over`] : []),
    ];
    const before = rows > 0 && sent === 0 ? "Nothing was left to import. Before: " : "";
    printText(`${before}${parts.join(", ")}\n`);
  }
  if (ended === "stopped") return 130;
  if (ended) {
    throw new Error(
      `More than ${count(options.maxRejects ?? 0)} rows were rejected: the rest of the file is not imported.`,
    );
  }
  return rejected + partial === 0 ? 0 : 2;
}
