import { join } from "node:path";
import type { Config } from "./config.ts";

/** The file of the demo workspace's key in the data folder. */
export const DEMO_KEY_FILE = "demo-api-key";

/** The key of the demo workspace. */
export interface DemoKey {
  readonly key: string;
  /** Whether this start created the workspace: the only one that prints the key. */
  readonly isNew: boolean;
}

/** What a server says about itself when it has started. */
export interface Welcome {
  /** Such as `http://127.0.0.1:8080`. */
  readonly url: string;
  readonly adminToken: string;
  /** The key of the demo workspace; undefined where a manifest says what there is. */
  readonly demo: DemoKey | undefined;
  /** A link that signs in to the dashboard once; undefined where it would end in a log. */
  readonly signInLink?: string;
}

/**
 * What a person who starts the server wants to see: where it is, the key, a first request. What is printed may end
 * up in a journal that others read, so the key is printed once; later starts name its file.
 */
export function welcomeText(
  { url, adminToken, demo, signInLink }: Welcome,
  config: Config,
): string {
  const lines = [`Rapport is ready at ${url}`, `  engine       ${engineOf(config)}`];
  const isKept = config.dataDir !== "memory:";
  if (!config.adminToken) {
    lines.push(`  admin token  ${isKept ? join(config.dataDir, "admin-token") : adminToken}`);
  }
  if (signInLink)
    lines.push(`  dashboard    ${signInLink}`, "               (works once, for 15 minutes)");
  else
    lines.push(`  dashboard    ${config.publicUrl ?? url}/dashboard/ (sign in: rapport sign-in)`);
  if (!demo && !config.manifest && !config.demo) {
    lines.push(
      "",
      `No demo workspace is created, because ${reasonFor(config)}.`,
      "Apply a manifest (rapport apply manifest.yaml), or start with --demo.",
    );
  }
  if (demo) {
    const file = isKept ? join(config.dataDir, DEMO_KEY_FILE) : undefined;
    const shown = demo.isNew || !file ? demo.key : file;
    lines.push(`  API key      ${shown} (workspace demo)`);
    if (demo.isNew && file) lines.push(`               kept in ${file}, and not printed again`);
    lines.push("", "Try it:", "", firstRequest(url, file ? `$(cat ${quoted(file)})` : demo.key));
  }
  return `\n${lines.join("\n")}\n\n`;
}

const reasonFor = ({ databaseUrl, host }: Config): string =>
  databaseUrl ? "the database may be a team's" : `${host} may be reachable from other machines`;

function engineOf({ databaseUrl, dataDir, workers }: Config): string {
  if (databaseUrl) return workers > 1 ? `PostgreSQL, ${workers} server processes` : "PostgreSQL";
  return dataDir === "memory:" ? "embedded, kept in memory only" : `embedded, in ${dataDir}`;
}

/** A path for a shell. */
const quoted = (path: string): string => `'${path.replaceAll("'", "'\\''")}'`;

const firstRequest = (url: string, key: string): string =>
  `  curl ${url}/users/track -H "Authorization: Bearer ${key}" -H 'Content-Type: application/json' ` +
  `-d '{"events":[{"external_id":"ada","name":"signed_up","time":"2026-01-01T12:00:00Z"}]}'`;
