import { type Command, InvalidArgumentError } from "commander";
import { RAPPORT } from "../core/base/command.ts";
import { textLinesOf } from "../core/base/lines.ts";
import { callAdmin, openAdmin, type Reply } from "./admin-client.ts";
import { writeOutput } from "./output-file.ts";
import { count } from "./progress.ts";
import { type AdminTarget, type TargetOptions, targetOf, withTarget } from "./target.ts";
import { printResult } from "./terminal.ts";

const VERIFY_HELP = `
Keep the printed head elsewhere and pass it the next time: it shows whether entries were removed from the
end. Exit codes: 0 when the audit is intact, 2 when it is not, 1 on any other failure.

Example:
  ${RAPPORT} audit verify --expect 3b7e…`;

const EXPORT_HELP = `
Prints one JSON entry per line, oldest first. To continue later, pass the position of the last entry.

Example:
  ${RAPPORT} audit export --since 2026-01-01 >> audit.ndjson`;

/** `rapport audit verify|export`. */
export function define(audit: Command): void {
  audit.addHelpText("after", `\nExample:\n  ${RAPPORT} audit verify`);

  withTarget(audit.command("verify"))
    .description("Checks that no entry of the audit was changed, removed or inserted.")
    .option("--expect <hash>", "a head that was printed earlier", readHash)
    .addHelpText("after", VERIFY_HELP)
    .action(async (options: TargetOptions & { expect?: string }) => {
      const query = options.expect ? `?expect=${options.expect}` : "";
      const found = await callAdmin<"verifyAudit">(
        targetOf(options),
        "GET",
        `/audit/verify${query}`,
      );
      printResult(options, found, describe);
      if (!found.intact) process.exitCode = 2;
    });

  withTarget(audit.command("export"))
    .description("Prints the audit as one JSON entry per line.")
    .option("--since <time>", "ISO 8601: only entries from then on")
    .option("--after <position>", "only entries after this one", readPosition)
    .addHelpText("after", EXPORT_HELP)
    .action((options: TargetOptions & Range) =>
      writeOutput("-", exportedFrom(targetOf(options), options)),
    );
}

interface Range {
  readonly since?: string;
  readonly after?: number;
}

/** As many as a request returns. */
const PAGE = 1_000;

async function* exportedFrom(
  target: AdminTarget,
  { since, after = 0 }: Range,
): AsyncGenerator<string> {
  let position = after;
  for (;;) {
    const query = new URLSearchParams({ after: String(position), limit: String(PAGE) });
    if (since !== undefined) query.set("since", since);
    const { body } = await openAdmin(target, `/audit/export?${query}`);
    let [lines, last] = [0, ""];
    for await (const line of textLinesOf("the audit", body ?? [])) {
      lines += 1;
      last = line;
      yield `${line}\n`;
    }
    if (lines < PAGE) return;
    position = JSON.parse(last).position;
  }
}

function describe({ intact, entries, head, broken_at }: Reply<"verifyAudit">): string[] {
  const end = `${count(entries)} ${entries === 1 ? "entry" : "entries"}, head ${head}`;
  if (intact || !broken_at) return [`The audit is intact: ${end}`];
  const { position, message, entry } = broken_at;
  const which = entry
    ? ` (${entry.id}, ${entry.at}: ${entry.action} ${entry.kind} ${entry.name})`
    : "";
  return [`The audit was tampered with at entry ${position}${which}: ${message}`, end];
}

function readHash(text: string): string {
  if (/^[0-9a-f]{64}$/.test(text)) return text;
  throw new InvalidArgumentError(
    `It has 64 hexadecimal digits, as ${RAPPORT} audit verify prints them.`,
  );
}

function readPosition(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It is the position of an entry, such as 1200.");
}
