import { isJsonObject, type Json, type JsonObject } from "../../../core/base/values/plain-json.ts";
import type { WorkBudget } from "../../../core/base/work.ts";
import { scimProblem } from "./problems.ts";

const PATCH_SCHEMA = "urn:ietf:params:scim:api:messages:2.0:PatchOp";

const OPERATIONS = ["add", "remove", "replace"] as const;

const MOST_OPERATIONS = 100;

export interface PatchOperation {
  readonly op: (typeof OPERATIONS)[number];
  readonly path: string | undefined;
  readonly value: Json | undefined;
}

/** The effect of an operation on the attribute at its path. */
export interface AttributeChange {
  readonly op: PatchOperation["op"];
  readonly value: Json | undefined;
  /** The path as the client sent it, for messages. */
  readonly path: string;
  readonly work: WorkBudget;
}

/**
 * The operations of a PATCH body. RFC 7644, 3.5.2; the name of an operation may have any case,
 * because Microsoft Entra begins it with a capital.
 *
 * @throws Problem with `invalidSyntax`.
 */
export function readPatch(body: JsonObject): readonly PatchOperation[] {
  requireSchema(body, PATCH_SCHEMA);
  const operations = member(body, "Operations");
  if (!Array.isArray(operations) || operations.length === 0) {
    throw scimProblem("invalidSyntax", "'Operations' must be an array with at least one operation");
  }
  if (operations.length > MOST_OPERATIONS) {
    throw scimProblem("invalidSyntax", `'Operations' may hold at most ${MOST_OPERATIONS}`);
  }
  return operations.map(readOperation);
}

function readOperation(operation: Json, index: number): PatchOperation {
  const place = `Operations[${index}]`;
  if (!isJsonObject(operation)) throw scimProblem("invalidSyntax", `'${place}' must be an object`);
  const name = member(operation, "op");
  const op = OPERATIONS.find((each) => typeof name === "string" && each === name.toLowerCase());
  if (!op) {
    throw scimProblem("invalidSyntax", `'${place}.op' must be one of ${OPERATIONS.join(", ")}`);
  }
  const path = member(operation, "path") ?? undefined;
  if (path !== undefined && (typeof path !== "string" || path === "")) {
    throw scimProblem("invalidPath", `'${place}.path' must be a string that is not empty`);
  }
  const value = member(operation, "value");
  if (op !== "remove" && value === undefined) {
    throw scimProblem("invalidValue", `'${place}.value' is required`);
  }
  return { op, path, value };
}

/** A member by its name, ignoring case. RFC 7643, 2.1. */
function member(source: JsonObject, name: string): Json | undefined {
  const lower = name.toLowerCase();
  return Object.entries(source).find(([key]) => key.toLowerCase() === lower)?.[1];
}

/**
 * `schemas` must name the type of the body. RFC 7643, 3; spec: Dashboard user.
 *
 * @throws Problem with `invalidSyntax`.
 */
export function requireSchema(body: JsonObject, urn: string): void {
  const schemas = member(body, "schemas");
  const isList = Array.isArray(schemas) && schemas.every((each) => typeof each === "string");
  if (!isList) throw scimProblem("invalidSyntax", "'schemas' must be an array of strings");
  if (schemas.some((each) => String(each).toLowerCase() === urn.toLowerCase())) return;
  throw scimProblem("invalidSyntax", `'schemas' must contain ${urn}`);
}
