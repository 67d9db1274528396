import type { Workspace } from "../../core/base/context/workspace.ts";
import type { Fault } from "../../core/base/problem.ts";
import {
  findUnstorable,
  isJsonObject,
  type JsonObject,
} from "../../core/base/values/plain-json.ts";
import type { PersonIdentifier } from "../../core/people/profiles/identifiers.ts";
import type { CheckedItem } from "../../core/track/check-attributes.ts";
import { checkOneIdentifier } from "../../core/track/check-identity.ts";
import { checkItem } from "../../core/track/check-request.ts";
import type { InputArray } from "../../core/track/item.ts";
import { type Identifiers, LARGEST_PAYLOAD_BYTES, type SourceRow } from "./sources/source.ts";

/** Why a row is rejected, with the field concerned if there is one. */
export interface RowFault extends Fault {
  readonly field: string | null;
}

/** The item of a row, or why it is rejected. */
export type CheckedRow<Value> = { readonly value: Value } | { readonly fault: RowFault };

/**
 * Turns a row into an object of `/users/track` and checks it by the same rules: the identifier
 * columns name the user, PAYLOAD is the rest. An event or a purchase without a time in its payload
 * gets UPDATED_AT. decision: docs/decisions/warehouse-rows.md
 */
export function checkRow(
  workspace: Workspace,
  type: InputArray,
  row: SourceRow,
  now: Date,
): CheckedRow<CheckedItem> {
  if (namesNoUser(row)) return NO_USER;
  const payload = readPayload(row);
  if ("fault" in payload) return payload;
  const identity = identityOf(row.identifiers, type === "attributes");
  const clash = findClash(payload.object, identity);
  if (clash !== undefined) {
    const message = `'${clash}' in the payload differs from its column`;
    return fault(clash, "IDENTIFIER_CLASH", message);
  }
  const object = {
    ...payload.object,
    ...(type !== "attributes" && { time: payload.object.time ?? row.updatedAt }),
    ...identity,
  };
  const checked = checkItem(workspace, type, object, now);
  return "fault" in checked ? { fault: withField(checked.fault) } : checked;
}

/** The user a row of deletions names, by exactly one identifier, as an event does. */
export function checkDeletion(row: SourceRow): CheckedRow<PersonIdentifier> {
  if (namesNoUser(row)) return NO_USER;
  const identity = identityOf(row.identifiers, false);
  const unstorable = findUnstorable(identity, "");
  const checked = unstorable ? { fault: unstorable } : checkOneIdentifier(identity);
  return "fault" in checked ? { fault: withField(checked.fault) } : checked;
}

const namesNoUser = ({ identifiers }: SourceRow): boolean => Object.keys(identifiers).length === 0;

const fault = (field: string, code: string, message: string) => ({
  fault: { field, code, message },
});

const NO_USER = fault(
  "identifier",
  "MISSING_IDENTIFIER",
  "the row names no user: its identifiers are null",
);

/** The sentence of a fault names the field first. */
export const withField = ({ code, message }: Fault): RowFault => ({
  field: /'([^']+)'/.exec(message)?.[1] ?? null,
  code,
  message,
});

/** The object in a payload, or why there is none. */
export function readPayload({
  payload,
  payloadBytes,
}: SourceRow): { readonly object: JsonObject } | { readonly fault: RowFault } {
  if (payloadBytes > LARGEST_PAYLOAD_BYTES) {
    return fault("PAYLOAD", "PAYLOAD_TOO_LARGE", "Payload was greater than 1MB");
  }
  if (payload === null) return fault("PAYLOAD", "PAYLOAD_MISSING", "'PAYLOAD' is null");
  let value: unknown;
  try {
    value = JSON.parse(payload);
  } catch (error) {
    // Without the text around the fault: that may be personal.
    const place = /at position \d+/.exec(String(error))?.[0] ?? "";
    return fault("PAYLOAD", "PAYLOAD_NOT_JSON", `'PAYLOAD' is not valid JSON ${place}`.trim());
  }
  if (isJsonObject(value)) return { object: value };
  return fault("PAYLOAD", "PAYLOAD_NOT_AN_OBJECT", "'PAYLOAD' must be a JSON object");
}

/**
 * The identifier columns as members of the object. If both addresses are given, email names the
 * user, and phone is an attribute where attributes are allowed.
 */
function identityOf(identifiers: Identifiers, takesPhoneBesides: boolean): JsonObject {
  const { alias_name, alias_label, phone, ...plain } = identifiers;
  const hasAlias = alias_name !== undefined || alias_label !== undefined;
  const hasPhone = phone !== undefined && (takesPhoneBesides || plain.email === undefined);
  return {
    ...plain,
    ...(hasPhone && { phone }),
    ...(hasAlias && {
      user_alias: { alias_name: alias_name ?? "", alias_label: alias_label ?? "" },
    }),
  };
}

/** The identifier that differs between the payload and its column, if any; null is absent. */
function findClash(payload: JsonObject, identity: JsonObject): string | undefined {
  const { braze_id, ...rest } = payload;
  const given: JsonObject = { ...rest, platform_id: braze_id ?? payload.platform_id ?? null };
  return Object.keys(identity).find(
    (name) => (given[name] ?? null) !== null && textOf(given[name]) !== textOf(identity[name]),
  );
}

/** Numeric ids are read as strings, as everywhere. */
const textOf = (value: unknown): string =>
  typeof value === "object" ? JSON.stringify(value) : String(value);
