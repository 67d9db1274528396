import { isDeepStrictEqual } from "node:util";
import { isObject } from "../../base/values/plain-json.ts";
import type { ConfigChange, FieldChange } from "./resource.ts";

/* The changed fields of each change, from the declarations before and after it: they contain no secrets. */

/** Marks the place of a secret in a declaration that is compared and never written. */
export const HIDDEN = "(secret)";

interface Compared {
  /** The member that identifies an entry of a list; undefined for a single value. */
  readonly identity: string | undefined;
  readonly before: unknown;
  readonly after: unknown;
}

export const withFields = (changes: readonly ConfigChange[], compared: Compared): ConfigChange[] =>
  changes.map((change) =>
    change.action === "updated" ? { ...change, fields: fieldsOf(change, compared) } : change,
  );

function fieldsOf({ name }: ConfigChange, { identity, before, after }: Compared): FieldChange[] {
  const find = (state: unknown, member: string, value: unknown) =>
    (Array.isArray(state) ? state : []).find((entry) => entry[member] === value);
  // A change has the new name; the entry may have had another one before.
  const entry =
    identity === undefined ? after : (find(after, identity, name) ?? find(after, "name", name));
  const known = identity === undefined ? before : find(before, identity, entry?.[identity]);
  const fields = differences(known, entry);
  // If no visible field differs, only secrets can.
  return fields.length > 0 ? fields : [{ field: HIDDEN, before: HIDDEN, after: HIDDEN }];
}

/** The fields in which two values differ; a list is one field. */
export function differences(before: unknown, after: unknown, field = ""): FieldChange[] {
  if (isDeepStrictEqual(before, after)) return [];
  if (!isObject(before) || !isObject(after)) {
    return field === "" ? [] : [{ field, before: before ?? null, after: after ?? null }];
  }
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].flatMap((name) =>
    differences(before[name], after[name], field === "" ? name : `${field}.${name}`),
  );
}

/**
 * The members in which two states differ, as the audit log records a PATCH: `{ before, after }`. A
 * list is one member; a member that is set only before or after is in only one of them.
 */
export function changedMembers(
  before: Members,
  after: Members,
): { before: Members; after: Members } {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const changed = names.filter((name) => !isDeepStrictEqual(before[name], after[name]));
  const parts = changed.map((name) => {
    const [old, present] = [before[name], after[name]];
    const inside = isObject(old) && isObject(present) ? changedMembers(old, present) : undefined;
    return { name, before: inside ? inside.before : old, after: inside ? inside.after : present };
  });
  const side = (which: "before" | "after") =>
    Object.fromEntries(
      parts.filter((each) => each[which] !== undefined).map((each) => [each.name, each[which]]),
    );
  return { before: side("before"), after: side("after") };
}

type Members = Readonly<Record<string, unknown>>;
