import Type, { type Static } from "typebox";
import type { WorkspacePermission } from "../../base/context/dashboard-permissions.ts";
import type { Workspace } from "../../base/context/workspace.ts";
import { named, nullable, Text, TextOrNull } from "../../base/values/schemas.ts";
import type { Queryable } from "../../database/database.ts";

/* Findings that need attention in a workspace: each feature reports its own. */

export const Finding = named("Finding", {
  kind: Type.Enum(
    [
      "sync_failed",
      "webhook_paused",
      "webhook_failing",
      "items_rejected",
      "requests_failed",
      "queue_filling",
      "job_paused",
      "lock_held",
      "key_throttled",
      "secret_expires",
      "key_unused",
    ],
    { description: "What it is." },
  ),
  severity: Type.Enum(["bad", "warn", "info"], { description: "How urgent it is." }),
  subject: Text("The subject: an integration, a webhook, a key, or a code.", "INVALID_TIME"),
  id: nullable(Type.String(), { description: "The id of the integration or webhook." }),
  message: Text(
    "The finding as a sentence.",
    "12 % of the items of the last hour were rejected, 40 with this code.",
  ),
  at: TextOrNull(
    "The time that it is about, in ISO 8601: since when a webhook fails, when a job is tried again, when a secret stops " +
      "working. Null for other kinds.",
    "2026-01-01T12:00:00.000Z",
  ),
});

export type Finding = Static<typeof Finding>;

/** A finding of a feature: without `at` it is about no time. */
export type FoundFinding = Omit<Finding, "at"> & { readonly at?: Date };

export interface RunRows {
  readonly startedAt: Date;
  readonly rowsSynced: number;
  readonly rowsFailed: number;
}

export interface Attention {
  readonly findings: readonly FoundFinding[];
  /** Its runs since the time, if it has runs. */
  readonly runs?: readonly RunRows[];
}

/** A feature's part of the overview of a workspace. */
export interface AttentionSource {
  /** Only callers with this permission see it. */
  readonly permission: WorkspacePermission;
  /** @param since its runs are wanted from then on. */
  read(
    database: Queryable,
    workspace: Pick<Workspace, "id" | "name">,
    since: Date,
  ): Promise<Attention>;
}
