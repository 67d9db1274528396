import type { Command } from "commander";
import { RAPPORT } from "../core/base/command.ts";
import { readHealth } from "./admin-client.ts";
import { placeOf, type TargetOptions, targetOf, withTarget } from "./target.ts";
import { printResult } from "./terminal.ts";

const HELP = `
It needs no admin token. ${RAPPORT} doctor looks for causes on the server's machine.

Exit codes: 0 when the server is ready, 1 otherwise.

Example:
  ${RAPPORT} status --url https://rapport.example`;

interface Status {
  readonly server: string;
  readonly version: string;
  readonly ready: boolean;
  readonly message: string;
}

export function define(command: Command): void {
  withTarget(command)
    .addHelpText("after", HELP)
    .action(async (options: TargetOptions) => {
      const target = targetOf(options);
      const { version } = await readHealth<{ version: string }>(target, "live");
      const { ok, message } = await readHealth<{ message: string }>(target, "ready");
      const status = { server: placeOf(target), version, ready: ok, message };
      printResult(options, status, describe);
      if (!ok) process.exitCode = 1;
    });
}

const describe = ({ server, version, ready, message }: Status): string[] => [
  `server   ${server}`,
  `version  ${version}`,
  `state    ${ready ? "ready" : `not ready: ${message}`}`,
];
