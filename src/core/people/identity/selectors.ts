import { accepted, type Checked, type Fault, refused } from "../../base/problem.ts";
import type { JsonObject } from "../../base/values/plain-json.ts";
import {
  checkAlias,
  checkEmailIdentifier,
  checkExternalId,
  checkPhoneLookup,
  type PersonIdentifier,
} from "../profiles/identifiers.ts";
import type { IdentityGraph, Person } from "./identity-graph.ts";

/** spec: Prioritization. */
export const PRIORITIES = [
  "identified",
  "unidentified",
  "most_recently_updated",
  "least_recently_updated",
] as const;

export type Priority = (typeof PRIORITIES)[number];

/** How a request names one user; for an address, which several may share, with how to choose. */
export interface Selector {
  readonly identifier: PersonIdentifier;
  readonly prioritization: readonly Priority[];
}

/** Selects the user of an identifier that only one user can have. */
export const selectorOf = (identifier: PersonIdentifier): Selector => ({
  identifier,
  prioritization: [],
});

const mapped = <From, To>(checked: Checked<From>, to: (value: From) => To): Checked<To> =>
  "fault" in checked ? checked : accepted(to(checked.value));

/** Faults: as for an external_id. */
export const selectExternalId = (value: unknown): Checked<Selector> =>
  mapped(checkExternalId(value), selectorOf);

/** Faults: as for an alias. */
export const selectAlias = (value: unknown): Checked<Selector> =>
  mapped(checkAlias(value), selectorOf);

/** An object with `email` and `prioritization`. */
export const selectByEmail = (raw: JsonObject): Checked<Selector> =>
  withPriorities(raw, checkEmailIdentifier(raw.email));

/** An object with `phone` and `prioritization`. */
export const selectByPhone = (raw: JsonObject): Checked<Selector> =>
  withPriorities(raw, checkPhoneLookup(raw.phone));

function withPriorities(raw: JsonObject, identifier: Checked<PersonIdentifier>): Checked<Selector> {
  if ("fault" in identifier) return identifier;
  return mapped(checkPrioritization(raw.prioritization), (prioritization) => ({
    identifier: identifier.value,
    prioritization,
  }));
}

/** spec: Prioritization. It is required beside an address. */
function checkPrioritization(value: unknown): Checked<readonly Priority[]> {
  const isList = Array.isArray(value) && value.every((each) => PRIORITIES.includes(each));
  if (!isList) {
    return refused(
      "INVALID_PRIORITIZATION",
      `'prioritization' must be an array of '${PRIORITIES.join("', '")}'`,
    );
  }
  if (value.includes("identified") && value.includes("unidentified")) {
    return refused(
      "INVALID_PRIORITIZATION",
      "'prioritization' may hold only one of 'identified' and 'unidentified'",
    );
  }
  return accepted(value as Priority[]);
}

/**
 * The one user that matches, or why there is none. spec: Prioritization; entries narrow the match in order,
 * and if more than one user is left nothing happens.
 */
export function choose(
  graph: IdentityGraph,
  { identifier, prioritization }: Selector,
): Person | Fault {
  const candidates = graph.find(identifier);
  const name = identifier.kind === "alias" ? "user_alias" : identifier.kind;
  const left = prioritization.reduce(narrow, candidates);
  const [chosen, another] = left;
  if (chosen && !another) return chosen;
  if (another) {
    const users = `${graph.isShared(identifier) ? "more than " : ""}${left.length} users`;
    return {
      code: "AMBIGUOUS_MATCH",
      message: `${users} have this '${name}' and the prioritization leaves more than one`,
    };
  }
  return {
    code: "USER_NOT_FOUND",
    message:
      candidates.length > 0
        ? `the prioritization leaves none of the users that have this '${name}'`
        : `no user has this '${name}'`,
  };
}

export const isFault = (value: Person | Fault): value is Fault => "code" in value;

function narrow(candidates: readonly Person[], priority: Priority): readonly Person[] {
  if (priority === "identified") return candidates.filter((each) => each.fields.externalId);
  if (priority === "unidentified") return candidates.filter((each) => !each.fields.externalId);
  const ranks = candidates.map((each) => each.rank);
  const rank = priority === "most_recently_updated" ? Math.max(...ranks) : Math.min(...ranks);
  return candidates.filter((each) => each.rank === rank);
}
