import { join } from "node:path";
import type { SecretOrigin, SharedSecret } from "../core/admin/secrets/shared-secret.ts";
import { IS_IMAGE, RAPPORT, RAPPORT_IN_LOG } from "../core/base/command.ts";
import type { Config } from "./config.ts";

/** The file of the admin token in the data folder. */
export const ADMIN_TOKEN_FILE = "admin-token";

/** The file of the demo workspace's key in the data folder. */
export const DEMO_KEY_FILE = "demo-api-key";

/** A server's output when it has started. */
export interface Welcome {
  /** Such as `http://127.0.0.1:8080`. */
  readonly url: string;
  readonly adminToken: SharedSecret;
  /** The key of the demo workspace; undefined if a manifest declares the workspaces. */
  readonly demo: SharedSecret | undefined;
  /** A link that signs in to the dashboard once; undefined if it would end in a log. */
  readonly signInLink?: string;
  /** What is in it, if a command filled it: lines for its output. */
  readonly about?: readonly string[];
}

/**
 * Output for a person who starts the server: its address, the key, a first request. On a terminal a
 * secret is printed once. Anywhere else the output ends up in a journal that others read: it says
 * where the admin token is.
 */
export function welcomeText(welcome: Welcome, config: Config, isTerminal: boolean): string {
  const { url, adminToken, demo, signInLink, about = [] } = welcome;
  const lines = [`Rapport is ready at ${url}`, `  engine       ${engineOf(config)}`];
  if (!config.adminToken) lines.push(...adminTokenLines(adminToken, config, isTerminal));
  if (signInLink)
    lines.push(`  dashboard    ${signInLink}`, "               (works once, for 15 minutes)");
  else {
    lines.push(`  dashboard    ${config.publicUrl ?? url}/dashboard/`);
    lines.push(`               (a link that signs in: ${signInCommand(url, config)})`);
  }
  if (!demo && !config.manifest && !config.demo) {
    lines.push(
      "",
      `No demo workspace is created, because ${reasonFor(config)}.`,
      `Apply a manifest (${RAPPORT} apply manifest.yaml), or start with --demo.`,
    );
  }
  lines.push(...about);
  if (demo) lines.push(...demoLines(url, demo, config));
  return `\n${lines.join("\n")}\n\n`;
}

/** Works in the folder in which the server was started; in a container it has the server's environment. */
function signInCommand(url: string, { adminToken, dataDir }: Config): string {
  const isKept = dataDir !== "memory:";
  const parts = IS_IMAGE
    ? [RAPPORT_IN_LOG, "sign-in"]
    : [
        ...(adminToken || !isKept ? ["ADMIN_TOKEN=…"] : []),
        ...(isKept && dataDir !== "./data" ? [`DATA_DIR=${quoted(dataDir)}`] : []),
        RAPPORT,
        "sign-in",
        ...(isKept ? [] : [`--url ${url}`]),
      ];
  return parts.join(" ");
}

function adminTokenLines(
  { secret, isNew, origin }: SharedSecret,
  { dataDir }: Config,
  isTerminal: boolean,
): string[] {
  if (secret === undefined) {
    return [
      `  admin token  ${elsewhere(origin)}`,
      "               (if it is lost, set ADMIN_TOKEN for every server)",
    ];
  }
  const file = fileOf(dataDir, ADMIN_TOKEN_FILE);
  if (!isNew) return [`  admin token  ${file ?? secret}`];
  if (!isTerminal && file) {
    return [
      `  admin token  in ${file}`,
      "               for every server on this database without ADMIN_TOKEN",
    ];
  }
  return [
    `  admin token  ${secret}`,
    "               for every server on this database without ADMIN_TOKEN;",
    `               ${file ? `kept in ${file}, and` : "kept nowhere, and"} not printed again`,
  ];
}

function demoLines(url: string, { secret, isNew, origin }: SharedSecret, { dataDir }: Config) {
  if (secret === undefined) return [`  API key      ${elsewhere(origin)} (workspace demo)`];
  const file = fileOf(dataDir, DEMO_KEY_FILE);
  const lines = [`  API key      ${isNew || !file ? secret : file} (workspace demo)`];
  if (isNew && file) lines.push(`               kept in ${file}, and not printed again`);
  lines.push("", "Try it:", "", firstRequest(url, file ? `$(cat ${quoted(file)})` : secret));
  return lines;
}

const fileOf = (dataDir: string, name: string): string | undefined =>
  dataDir === "memory:" ? undefined : join(dataDir, name);

const elsewhere = (origin: SecretOrigin | undefined): string =>
  `the one that was created on ${origin?.madeOn} at ${origin?.at}`;

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
