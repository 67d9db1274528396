import type { Clock } from "../../base/clock.ts";
import type { WorkspaceContext } from "../../base/context/context.ts";
import { isJsonObject, type Json } from "../../base/values/plain-json.ts";
import type { Transaction } from "../../database/database.ts";
import type { AuditedChange } from "./belongings.ts";
import type { Effect } from "./combine/effects.ts";
import type { Change } from "./identity-graph.ts";
import {
  type AuditEntry,
  type AuditedEffect,
  insertAuditEntries,
  type NewAuditEntry,
} from "./store.ts";

export interface IdentifiedChange {
  readonly id: string;
  readonly audited: AuditedChange;
  readonly isRecorded: boolean;
}

/** Records what happened to users, without any value of theirs. */
export async function recordAudit(
  tx: Transaction,
  workspaceId: number,
  audited: readonly IdentifiedChange[],
  contextOf: (change: Change) => WorkspaceContext,
  clock: Clock,
): Promise<void> {
  const at = clock.now();
  const entries = audited.map(({ id, isRecorded, audited: { change, effects } }): NewAuditEntry => {
    const { call, actorName, requestId } = contextOf(change);
    return {
      id,
      at,
      action: actionOf(change),
      call,
      keyName: actorName,
      requestId,
      profileId: change.kind === "merge" ? change.kept.platformId : change.user.platformId,
      mergedProfileId: change.kind === "merge" ? change.merged.platformId : null,
      effects: effects.map(withoutValues),
      isRecorded,
    };
  });
  await insertAuditEntries(tx, workspaceId, entries);
}

/** Only a merge request merges all data. */
const actionOf = (change: Change): AuditEntry["action"] =>
  change.kind === "merge" && change.extent !== "all" ? "identify" : change.kind;

/** Counters: their numbers are recorded. */
const COUNTED = new Set([
  "custom_events",
  "purchases",
  "apps",
  "session_count",
  "purchase_count",
  "purchase_amount_cents",
  "message_history",
]);

/** The name of a device is itself personal data. */
const NAMELESS = new Set(["devices"]);

/** Reads no numbers if nothing is counted: this runs for every value of a merged user. */
export function withoutValues({
  field,
  name,
  effect,
  kept,
  merged,
  result,
}: Effect): AuditedEffect {
  const isNamed = name !== undefined && !NAMELESS.has(field);
  if (!COUNTED.has(field)) return isNamed ? { field, name, effect } : { field, effect };
  const counts = {
    kept: numbersIn(kept),
    merged: numbersIn(merged),
    result: numbersIn(result),
  };
  return { field, ...(isNamed && { name }), effect, ...counts };
}

function numbersIn(value: Json): Json {
  if (!isJsonObject(value)) return typeof value === "number" ? value : null;
  return Object.fromEntries(Object.entries(value).filter(([, each]) => typeof each === "number"));
}
