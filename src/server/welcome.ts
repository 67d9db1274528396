import { join } from "node:path";
import type { Config } from "./config.ts";

/** What a server says about itself when it has started. */
export interface Welcome {
  /** Such as `http://127.0.0.1:8080`. */
  readonly url: string;
  readonly adminToken: string;
  /** The key of the demo workspace; undefined where a manifest says what there is. */
  readonly demoKey: string | undefined;
}

/** What a person who starts the server wants to see: where it is, the key, a first request. */
export function welcomeText({ url, adminToken, demoKey }: Welcome, config: Config): string {
  const lines = [`Rapport is ready at ${url}`, `  engine       ${engineOf(config)}`];
  if (!config.adminToken) {
    const isKept = config.dataDir !== "memory:";
    lines.push(`  admin token  ${isKept ? join(config.dataDir, "admin-token") : adminToken}`);
  }
  if (!demoKey && !config.manifest && !config.demo) {
    lines.push(
      "",
      `No demo workspace is created, because ${reasonFor(config)}.`,
      "Apply a manifest (rapport apply manifest.yaml), or start with --demo.",
    );
  }
  if (demoKey) {
    lines.push(`  API key      ${demoKey} (workspace demo)`, "", "Try it:", "");
    lines.push(firstRequest(url, demoKey));
  }
  return `\n${lines.join("\n")}\n\n`;
}

const reasonFor = ({ databaseUrl, host }: Config): string =>
  databaseUrl ? "the database may be a team's" : `${host} may be reachable from other machines`;

function engineOf({ databaseUrl, dataDir, workers }: Config): string {
  if (databaseUrl) return workers > 1 ? `PostgreSQL, ${workers} server processes` : "PostgreSQL";
  return dataDir === "memory:" ? "embedded, kept in memory only" : `embedded, in ${dataDir}`;
}

const firstRequest = (url: string, key: string): string =>
  `  curl ${url}/users/track -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' ` +
  `-d '{"events":[{"external_id":"ada","name":"signed_up","time":"2026-01-01T12:00:00Z"}]}'`;
