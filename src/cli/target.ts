import { readFileSync } from "node:fs";
import type { Command } from "commander";
import { RAPPORT } from "../core/base/command.ts";

/** The running server that a command talks to. */
export interface AdminTarget {
  /** Undefined: the server of the data folder. */
  readonly url: string | undefined;
  /** Which of several servers of the data folder. */
  readonly port: string | undefined;
  readonly adminToken: string | undefined;
  /** The socket and the token of a server on this machine. */
  readonly dataDir: string;
}

/** How messages name the server. */
export const placeOf = ({ url, dataDir }: AdminTarget): string =>
  url ?? `the data folder ${dataDir}`;

/** A request that the server refused, or that never reached it. */
export class AdminError extends Error {
  /** Undefined if there was no response. */
  readonly status: number | undefined;
  readonly retryAfterSeconds: number | undefined;
  /** The code of the refusal (docs/errors.md), if it has one. */
  readonly code: string | undefined;

  constructor(message: string, status?: number, retryAfterSeconds?: number, code?: string) {
    super(message);
    this.name = "AdminError";
    this.status = status;
    this.retryAfterSeconds = retryAfterSeconds;
    this.code = code;
  }
}

export interface TargetOptions {
  readonly url?: string;
  readonly adminTokenFile?: string;
  /** Whether the result is printed as JSON. */
  readonly json?: true;
}

/** Adds the options of a command that talks to a running server; `targetOf` reads them. */
export const withTarget = (command: Command): Command =>
  command
    .option(
      "--url <url>",
      "the server's base URL (default: RAPPORT_URL, or the server of the data folder)",
    )
    .option(
      "--admin-token-file <file>",
      "a file with the admin token (default: ADMIN_TOKEN, or the one in the data folder)",
    )
    .option("--json", "prints the result as JSON");

/** Adds a subcommand that talks to a running server, with an example of its arguments. */
export const addCommand = (parent: Command, usage: string, about: string, example: string) =>
  withTarget(parent.command(usage).description(about)).addHelpText(
    "after",
    `\nExample:\n  ${RAPPORT} ${parent.name()} ${example}`,
  );

/** The server that a command talks to: by its options, then by the environment. */
export function targetOf(
  { url, adminTokenFile }: TargetOptions,
  environment: NodeJS.ProcessEnv = process.env,
): AdminTarget {
  const { RAPPORT_URL, ADMIN_TOKEN, PORT, DATA_DIR } = environment;
  const dataDir = DATA_DIR?.trim() || "./data";
  const port = PORT?.trim() || undefined;
  return {
    url: url ?? (RAPPORT_URL?.trim() || addressWithoutFolder(dataDir, port)),
    port,
    adminToken: adminTokenFile
      ? readFileSync(adminTokenFile, "utf8").trim()
      : ADMIN_TOKEN?.trim() || undefined,
    dataDir,
  };
}

/** Without a data folder with a socket, the port is the only way. */
const addressWithoutFolder = (dataDir: string, port = "8080"): string | undefined =>
  dataDir === "memory:" || process.platform === "win32" ? `http://127.0.0.1:${port}` : undefined;
