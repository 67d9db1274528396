import type { AttentionSource, FoundFinding } from "../../core/admin/attention/attention.ts";
import { selectRunsSince } from "./progress-store.ts";
import { type IntegrationRow, selectIntegrations } from "./store.ts";

/* The syncs in the overview of a workspace. */

/** More runs than a chart has points. */
const MOST_RUNS = 1_000;

/** The integrations that fail, and the rows of all runs since a time. */
export const syncAttention: AttentionSource = {
  permission: "basic_access",
  async read(database, { id }, since) {
    const integrations = await selectIntegrations(database, id);
    const runs = await selectRunsSince(database, id, since, MOST_RUNS);
    return { findings: failingSyncs(integrations), runs };
  },
};

export const failingSyncs = (integrations: readonly IntegrationRow[]): FoundFinding[] =>
  integrations.flatMap(({ id, name, lastStatus }): FoundFinding[] => {
    if (lastStatus === "error" || lastStatus === "config_error") {
      return [
        {
          kind: "sync_failed",
          severity: "bad",
          subject: name,
          id,
          message: "The last run failed.",
        },
      ];
    }
    if (lastStatus !== "partial") return [];
    const message = "The last run rejected some rows.";
    return [{ kind: "sync_failed", severity: "warn", subject: name, id, message }];
  });
