import Type, { type Static } from "typebox";
import type { WorkspacePermission } from "../../base/context/dashboard-permissions.ts";
import type { Workspace } from "../../base/context/workspace.ts";
import { named, nullable } from "../../base/values/schemas.ts";
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
  subject: Type.String({
    description: "The subject: an integration, a webhook, a key, or a code.",
    examples: ["INVALID_TIME"],
  }),
  id: nullable(Type.String(), { description: "The id of the integration or webhook." }),
  message: Type.String({
    description: "The finding as a sentence.",
    examples: ["12 % of the items of the last hour were rejected, 40 with this code."],
  }),
});

export type Finding = Static<typeof Finding>;

/** The rows of a run that wrote users. */
export interface RunRows {
  readonly startedAt: Date;
  readonly rowsSynced: number;
  readonly rowsFailed: number;
}

/** The findings of a feature about a workspace. */
export interface Attention {
  readonly findings: readonly Finding[];
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

/** `2026-01-01 12:00 UTC`: for a sentence. */
export const toMinute = (at: Date): string =>
  `${at.toISOString().slice(0, 16).replace("T", " ")} UTC`;
