import { join } from "node:path";
import type { Config } from "./config.ts";
import type { RunningServer } from "./serve.ts";

/** What a person who starts the server wants to see: where it is, the key, a first request. */
export function welcome(server: RunningServer, config: Config): string {
  const engine = config.databaseUrl
    ? "PostgreSQL"
    : config.dataDir === "memory:"
      ? "embedded, kept in memory only"
      : `embedded, in ${config.dataDir}`;
  const lines = [`Rapport is ready at ${server.url}`, `  engine       ${engine}`];
  if (!config.adminToken) {
    const kept =
      config.dataDir === "memory:" ? server.adminToken : join(config.dataDir, "admin-token");
    lines.push(`  admin token  ${kept}`);
  }
  if (server.demoKey) {
    lines.push(`  API key      ${server.demoKey} (workspace demo)`, "", "Try it:", "");
    lines.push(firstRequest(server.url, server.demoKey));
  }
  return `\n${lines.join("\n")}\n\n`;
}

const firstRequest = (url: string, key: string): string =>
  `  curl ${url}/users/track -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' ` +
  `-d '{"events":[{"external_id":"ada","name":"signed_up","time":"2026-01-01T12:00:00Z"}]}'`;
