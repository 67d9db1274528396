import type { Command } from "commander";
import { type Config, readConfig } from "../server/config.ts";
import { checkEngine } from "./doctor-engine.ts";
import { checkDisk, checkFileModes, checkNode, checkPort, type Finding } from "./doctor-machine.ts";
import { explainError } from "./explain-error.ts";
import { paint, printJson } from "./terminal.ts";

const HELP = `
Run it where the server runs, with the same environment. It changes nothing.

Exit codes: 0 when every check passed or only warned, 1 otherwise.

Example:
  DATABASE_URL=postgres://localhost/rapport rapport doctor`;

export function define(command: Command): void {
  command
    .option("--json", "prints the findings as JSON")
    .addHelpText("after", HELP)
    .action(async ({ json }: { json?: true }) => {
      const findings = await examineAll();
      if (json) printJson({ findings });
      else for (const finding of findings) process.stdout.write(describe(finding));
      process.exitCode = findings.some(({ status }) => status === "failed") ? 1 : 0;
    });
}

async function examineAll(): Promise<Finding[]> {
  const settings = readSettings();
  if ("check" in settings) return [checkNode(), settings];
  const port = await checkPort("port", settings.host, settings.port);
  const { metricsPort, metricsHost } = settings;
  return [
    checkNode(),
    { check: "settings", status: "ok", message: "Every setting is valid." },
    port.finding,
    ...(metricsPort === undefined || port.isRapport
      ? []
      : [(await checkPort("metrics port", metricsHost, metricsPort)).finding]),
    ...(await checkEngine(settings, port.isRapport)),
    ...(settings.dataDir === "memory:"
      ? []
      : [await checkFileModes(settings.dataDir), await checkDisk(settings.dataDir)]),
  ];
}

function readSettings(): Config | Finding {
  try {
    return readConfig();
  } catch (error) {
    const remedy = "rapport settings lists every setting.";
    return { check: "settings", status: "failed", message: explainError(error), remedy };
  }
}

const MARKS = { ok: "✔", warning: "!", failed: "✖" };
const COLOURS = { ok: "green", warning: "yellow", failed: "red" } as const;

const describe = ({ check, status, message, remedy }: Finding): string =>
  `${paint(COLOURS[status], MARKS[status])} ${check.padEnd(12)} ${message}\n` +
  (remedy ? `${" ".repeat(15)}${remedy}\n` : "");
