import type { Command } from "commander";
import { RAPPORT } from "../core/base/command.ts";
import { FULL_VERSION } from "../core/base/version.ts";
import { type Config, readConfig } from "../server/config.ts";
import { settingChecks } from "../server/start-checks.ts";
import { checkAddresses } from "./doctor-addresses.ts";
import { checkEngine } from "./doctor-engine.ts";
import {
  checkDisk,
  checkFileModes,
  checkNode,
  checkPort,
  checkReady,
  type Finding,
  findingOf,
} from "./doctor-machine.ts";
import { explainError } from "./explain-error.ts";
import { paint, printJson, printText } from "./terminal.ts";

const HELP = `
Run it where the server runs, with the same environment. It changes nothing.

Exit codes: 0 when every check passed or only warned, 1 otherwise.

Examples:
  DATABASE_URL=postgres://localhost/rapport ${RAPPORT} doctor
  DATABASE_URL=postgres://localhost/rapport ${RAPPORT} doctor --addresses`;

export function define(command: Command): void {
  command
    .option("--json", "prints the findings as JSON")
    .option("--addresses", "shows which stored addresses have another form, reading all of them")
    .addHelpText("after", HELP)
    .action(async ({ json, addresses }: { json?: true; addresses?: true }) => {
      const findings = await examineAll(process.env, addresses);
      if (json) printJson({ findings });
      else for (const finding of findings) printText(describe(finding));
      process.exitCode = findings.some(({ status }) => status === "failed") ? 1 : 0;
    });
}

/**
 * Makes every check that applies to a server with these variables.
 *
 * @param addresses whether to look at every stored address too.
 */
export async function examineAll(
  environment: NodeJS.ProcessEnv,
  addresses = false,
): Promise<Finding[]> {
  const settings = readSettings(environment);
  if ("check" in settings) return [VERSION, checkNode(), settings];
  const files = await checkFiles(settings);
  const port = await checkPort("port", settings.host, settings.port);
  const { metricsPort, metricsHost } = settings;
  return [
    VERSION,
    checkNode(),
    { check: "settings", status: "ok", message: "Every setting is valid." },
    port.finding,
    ...(port.isRapport ? [await checkReady(settings.host, settings.port)] : []),
    ...(metricsPort === undefined || port.isRapport
      ? []
      : [(await checkPort("metrics port", metricsHost, metricsPort)).finding]),
    ...files,
    ...(await checkEngine(
      settings,
      port.isRapport,
      files.every(({ status }) => status === "ok"),
    )),
    ...(addresses ? await checkAddresses(settings) : []),
    ...(settings.dataDir === "memory:"
      ? []
      : [await checkFileModes(settings.dataDir), await checkDisk(settings.dataDir)]),
  ];
}

const VERSION: Finding = { check: "version", status: "ok", message: `Rapport ${FULL_VERSION}.` };

const NEXT = `${RAPPORT} settings lists every setting.`;

/** Checks what `serve` checks before it touches the database. */
async function checkFiles(config: Config): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const [check, make] of Object.entries(await settingChecks())) {
    findings.push(...(await findingOf(check, () => make(config), NEXT)));
  }
  return findings;
}

function readSettings(environment: NodeJS.ProcessEnv): Config | Finding {
  try {
    return readConfig(environment);
  } catch (error) {
    return { check: "settings", status: "failed", message: explainError(error), remedy: NEXT };
  }
}

const MARKS = { ok: "✔", warning: "!", failed: "✖" };
const COLOURS = { ok: "green", warning: "yellow", failed: "red" } as const;

const describe = ({ check, status, message, remedy }: Finding): string =>
  `${paint(COLOURS[status], MARKS[status])} ${check.padEnd(12)} ${message}\n` +
  (remedy ? `${" ".repeat(15)}${remedy}\n` : "");
