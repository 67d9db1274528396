import { Readable } from "node:stream";
import { type Command, Option } from "commander";
import { stringify } from "yaml";
import { callAdmin } from "../../../cli/admin-client.ts";
import { writeOutput } from "../../../cli/output-file.ts";
import { counted, displayProgress } from "../../../cli/progress.ts";
import { type AdminTarget, type TargetOptions, targetOf, withTarget } from "../../../cli/target.ts";
import { printJson, printText } from "../../../cli/terminal.ts";
import { findWorkspaceName, workspacePath } from "../../../cli/workspace-option.ts";
import { RAPPORT } from "../../../core/base/command.ts";
import { type ExportSelection, readExport } from "./read-export.ts";
import { writeCsv, writeParquet } from "./write-table.ts";

/** The manifest of a workspace as YAML, headed by the variables that an apply needs. */
async function configText(
  target: AdminTarget,
  workspace: string,
): Promise<{ readonly text: string; readonly variables: readonly string[] }> {
  const path = `${workspacePath(workspace)}/manifest`;
  const { manifest, variables } = await callAdmin<"exportManifest">(target, "GET", path);
  const head = [
    `# The manifest of the workspace ${workspace}. Apply it with: ${RAPPORT} apply FILE`,
    ...(variables.length > 0 ? ["# Secrets are not exported. Set these variables first:"] : []),
    ...variables.map((name) =>
      name === "DOLLAR" ? "#   export DOLLAR='$'" : `#   export ${name}=`,
    ),
  ];
  return { text: `${head.join("\n")}\n${stringify(manifest)}`, variables };
}

const HELP = `
Everything is read from one snapshot. A file appears only when it is complete, and only its owner can read it.
Without a file, or for -, the rows go to standard output.

Examples:
  ${RAPPORT} export users users.ndjson.gz
  ${RAPPORT} export events events.csv --since 2026-01-01
  ${RAPPORT} export users pro.parquet --attribute plan=pro
  ${RAPPORT} export purchases - | head
  ${RAPPORT} export config rapport.yaml`;

const KINDS = ["users", "events", "purchases", "subscriptions"] as const;

type Format = "ndjson" | "csv" | "parquet";

interface Options extends TargetOptions, ExportSelection {
  readonly workspace?: string;
  readonly format?: Format;
  readonly gzip?: true;
}

/** `rapport export …`: the data of a workspace, as files that `rapport import` reads. */
export function define(command: Command): void {
  command.addHelpText("after", HELP);
  for (const kind of KINDS) {
    withTarget(command.command(`${kind} [file]`).description(`Exports all ${kind}.`))
      .option("--workspace <name>", "needed if the server has several")
      .addOption(
        new Option("--format <format>", "by default from the file's name, or ndjson").choices([
          "ndjson",
          "csv",
          "parquet",
        ]),
      )
      .option("--gzip", "compresses; so does a name that ends in .gz")
      .option("--since <time>", "ISO 8601; included")
      .option("--until <time>", "ISO 8601; not included")
      .option("--attribute <name=value...>", "only users with this attribute, and their activity")
      .action((file: string | undefined, options: Options) => exportRows(kind, file, options));
  }
  withTarget(
    command
      .command("config [file]")
      .description("Exports the manifest that creates the workspace, without its secrets."),
  )
    .option("--workspace <name>", "needed if the server has several")
    .addHelpText("after", `\nExample:\n  ${RAPPORT} export config rapport.yaml`)
    .action(exportConfig);
}

async function exportConfig(file = "-", options: Options): Promise<void> {
  const target = targetOf(options);
  const workspace = await findWorkspaceName(target, options.workspace);
  const { text, variables } = await configText(target, workspace);
  await writeOutput(file, Readable.from([text]));
  if (file === "-") return;
  if (options.json) printJson({ workspace, variables, file });
  else printText(`Exported the configuration of ${workspace} to ${file}.\n`);
}

async function exportRows(
  kind: (typeof KINDS)[number],
  file = "-",
  options: Options,
): Promise<void> {
  const target = targetOf(options);
  const format = options.format ?? formatOf(file);
  if (format === "parquet" && (file === "-" || options.gzip))
    throw new Error(
      `Parquet is compressed already, and needs a file: ${RAPPORT} export users users.parquet`,
    );
  const workspace = await findWorkspaceName(target, options.workspace);
  // Standard output may be the export itself.
  const display = displayProgress(process.stderr, kind.slice(0, -1), "exported");
  let rows = 0;
  const lines = readExport(target, workspace, kind, options, (more) => {
    rows += more;
    display.show({ done: rows, total: null, failed: 0 });
  });
  try {
    if (format === "parquet") await writeParquet(file, kind, lines);
    else if (format === "csv") await writeCsv(file, kind, lines, options.gzip ?? false);
    else await writeOutput(file, lines, options);
  } finally {
    display.end();
  }
  if (file === "-") return;
  if (options.json) printJson({ workspace, kind, rows, file });
  else printText(`Exported ${counted(rows, kind.slice(0, -1))} to ${file}.\n`);
}

function formatOf(file: string): Format {
  const [, extension] = /\.(\w+?)(?:\.gz)?$/.exec(file) ?? [];
  return extension === "csv" || extension === "parquet" ? extension : "ndjson";
}
