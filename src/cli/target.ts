import type { Command } from "commander";
import type { AdminTarget } from "./admin-client.ts";

export interface TargetOptions {
  readonly url?: string;
  readonly adminToken?: string;
  /** Whether the result is printed as JSON. */
  readonly json?: true;
}

/** Adds the options of a command that talks to a running server; `targetOf` reads them. */
export const withTarget = (command: Command): Command =>
  command
    .option("--url <url>", "the server's base URL (default: RAPPORT_URL, or PORT on this machine)")
    .option("--admin-token <token>", "default: ADMIN_TOKEN, or the one in the data folder")
    .option("--json", "prints the result as JSON");

/** The server that a command talks to: by its options, then by the environment. */
export function targetOf(
  { url, adminToken }: TargetOptions,
  environment: NodeJS.ProcessEnv = process.env,
): AdminTarget {
  const { RAPPORT_URL, ADMIN_TOKEN, PORT, DATA_DIR } = environment;
  return {
    url: url ?? (RAPPORT_URL?.trim() || `http://127.0.0.1:${PORT?.trim() || "8080"}`),
    adminToken: adminToken ?? (ADMIN_TOKEN?.trim() || undefined),
    dataDir: DATA_DIR?.trim() || "./data",
  };
}
