import type { WorkspaceContext } from "../../base/context/context.ts";
import type { Tracing } from "../../base/observe/tracing.ts";
import { accepted, type Checked, type Fault, Problem, refused } from "../../base/problem.ts";
import { isJsonObject, type JsonObject } from "../../base/values/plain-json.ts";
import type { Database, Transaction } from "../../database/database.ts";
import { createSharedTransactions } from "../../database/shared-transactions.ts";
import { createPeopleLockWaits } from "../profiles/locked-people.ts";
import type { PeopleServices } from "../profiles/write-people.ts";
import {
  type Applied,
  type Call,
  changeIdentities,
  changeTogether,
  type IdentityServices,
  type Result,
  type Step,
} from "./change-identities.ts";
import type { Effect } from "./combine/effects.ts";
import type { IdentityGraph } from "./identity-graph.ts";
import { carryOut, checkEach, MOST_ITEMS, type Notes, refuseFaults, type Work } from "./items.ts";
import type { Preview } from "./preview.ts";
import {
  choose,
  isFault,
  type Selector,
  selectAlias,
  selectByEmail,
  selectByPhone,
  selectExternalId,
  selectorOf,
} from "./selectors.ts";

/** The messages that clients know. spec: Errors, /users/merge; public facts 3. */
const NO_ARRAY = "'merge_updates' must be an array of objects";
const TOO_MANY = "a single request may not contain more than 50 merge updates";
const OTHER_MEMBERS =
  "'merge_updates' must only have 'identifier_to_merge' and 'identifier_to_keep'";
const NO_IDENTIFIER =
  "identifiers must be objects with an 'external_id' property that is a string, " +
  "'user_alias' property that is an object, 'email' property that is a string, " +
  "or 'phone' property that is a string";

/**
 * Merges users into others: the merged user is removed, the kept one receives their data
 * (core/people/identity/combine/combine.ts).
 *
 * spec: POST /users/merge. In array order; each applies to the result of the ones before
 * (docs/decisions/merging.md). An update that names no user, several users, or one user twice
 * changes nothing and is listed in `skipped`.
 *
 * @throws Problem INVALID_REQUEST for any fault in the body; nothing is merged then.
 */
export async function mergeUsers(
  services: MergingServices,
  context: WorkspaceContext,
  updates: unknown,
  preview?: Preview,
): Promise<Notes> {
  if (!Array.isArray(updates) || updates.length === 0)
    throw new Problem("INVALID_REQUEST", NO_ARRAY);
  if (updates.length > MOST_ITEMS) throw new Problem("INVALID_REQUEST", TOO_MANY);
  const items = checkEach("merge_updates", updates, checkUpdate);
  refuseFaults(items.faults, ({ fault }) => fault.message);
  const { mergeQueue, database } = services;
  const change = preview ? undefined : () => mergeQueue.merge(database, context, items.steps);
  return (await carryOut(services, context, items, preview, change)).notes;
}

export interface MergingServices extends IdentityServices {
  readonly mergeQueue: MergeQueue;
}

export interface MergeQueue {
  /** Merges users together with other requests that wait, in one transaction. @returns the outcome of each item. */
  merge(database: Database, context: WorkspaceContext, steps: readonly Step[]): Promise<Result[]>;
}

/** The most merges in one transaction: more would hold up the event loop and hardly cost less. */
const MERGES_TOGETHER = 200;

/** How many transactions a process writes at the same time: one is computed while the other is written. */
const AT_ONCE = 2;

/**
 * The limits of one request on matching and combining in memory apply to the whole group. If the
 * group exceeds them, each request is written alone.
 */
export function createMergeQueue(
  services: PeopleServices & { readonly tracing: Tracing },
): MergeQueue {
  const queue = createSharedTransactions<Call, Result[]>({
    name: "merge users",
    tracing: services.tracing,
    depth: AT_ONCE,
    mostTogether: MERGES_TOGETHER,
    lockWaits: createPeopleLockWaits(services.database, ({ steps }) =>
      steps.flatMap(({ names }) => names),
    ),
    runTogether: (calls, database = services.database, lockMs) =>
      changeTogether({ ...services, database }, calls, { lockMs }),
  });
  return {
    merge: (database, context, steps) =>
      queue.run(context.workspace.id, { context, steps }, steps.length, database),
  };
}

/** Two users by their platform ids, and what to write in the same transaction. */
export interface Merge {
  readonly mergeId: string;
  readonly keepId: string;
  readonly isDryRun: boolean;
  alsoWrite(tx: Transaction): Promise<void>;
}

/**
 * Merges one user into another. @returns its effects, or those it would have.
 *
 * @throws Problem NOT_FOUND for one of them; INVALID_REQUEST if both ids identify one user.
 */
export async function mergeByPlatformId(
  services: IdentityServices,
  context: WorkspaceContext,
  { mergeId, keepId, isDryRun, alsoWrite }: Merge,
): Promise<readonly Effect[]> {
  const [toMerge, toKeep] = [mergeId, keepId].map((value) =>
    selectorOf({ kind: "platform_id", value }),
  ) as [Selector, Selector];
  const step = {
    place: { array: "users", index: 0 },
    names: [toMerge.identifier, toKeep.identifier],
    apply: (graph: IdentityGraph) => {
      const applied = merge(graph, toMerge, toKeep);
      if ("fault" in applied) throw asProblem(applied.fault);
      return applied;
    },
  };
  const previewLine = isDryRun ? services.largePreviews : undefined;
  const request = { steps: [step], previewLine, alsoWrite };
  const [result] = await changeIdentities(services, context, request);
  return result?.audited?.effects ?? [];
}

const asProblem = ({ code, message }: Fault): Problem =>
  new Problem(code === "SAME_USER" ? "INVALID_REQUEST" : "NOT_FOUND", message);

const MEMBERS = ["identifier_to_merge", "identifier_to_keep"];

/** spec: Merge update object. */
function checkUpdate(raw: unknown): Checked<Work> {
  if (!isJsonObject(raw)) return refused("NOT_AN_OBJECT", NO_ARRAY);
  if (Object.keys(raw).some((name) => !MEMBERS.includes(name))) {
    return refused("INVALID_MERGE_UPDATE", OTHER_MEMBERS);
  }
  const merged = checkIdentifier(raw.identifier_to_merge);
  if ("fault" in merged) return merged;
  const kept = checkIdentifier(raw.identifier_to_keep);
  if ("fault" in kept) return kept;
  return accepted({
    names: [merged.value.identifier, kept.value.identifier],
    chooses: [merged.value, kept.value],
    apply: (graph) => merge(graph, merged.value, kept.value),
  });
}

/** The identifiers, each with the type that its member must have. */
const IDENTIFIERS: Readonly<
  Record<string, { isOf(value: unknown): boolean; select(raw: JsonObject): Checked<Selector> }>
> = {
  external_id: {
    // Numbers are read as strings. docs/decisions/values.md
    isOf: (value) => typeof value === "string" || typeof value === "number",
    select: (raw) => selectExternalId(raw.external_id),
  },
  user_alias: { isOf: isJsonObject, select: (raw) => selectAlias(raw.user_alias) },
  email: { isOf: (value) => typeof value === "string", select: selectByEmail },
  phone: { isOf: (value) => typeof value === "string", select: selectByPhone },
};

function checkIdentifier(raw: unknown): Checked<Selector> {
  const none = refused("INVALID_IDENTIFIER", NO_IDENTIFIER);
  if (!isJsonObject(raw)) return none;
  const [name, second] = Object.keys(IDENTIFIERS).filter((each) => (raw[each] ?? null) !== null);
  const identifier = name === undefined || second ? undefined : IDENTIFIERS[name];
  if (!identifier?.isOf(raw[name as string])) return none;
  return identifier.select(raw);
}

function merge(graph: IdentityGraph, toMerge: Selector, toKeep: Selector): Applied {
  const merged = choose(graph, toMerge);
  if (isFault(merged)) return { fault: inMember(merged, "identifier_to_merge") };
  const kept = choose(graph, toKeep);
  if (isFault(kept)) return { fault: inMember(kept, "identifier_to_keep") };
  if (merged === kept) {
    return { fault: { code: "SAME_USER", message: "both identifiers lead to the same user" } };
  }
  return { done: "merged", change: graph.merge(kept, merged, "all") };
}

const inMember = <Reason extends { readonly message: string }>(reason: Reason, member: string) => ({
  ...reason,
  message: `'${member}': ${reason.message}`,
});
