import type { WorkspaceContext } from "../../base/context/context.ts";
import { accepted, type Checked, type Fault } from "../../base/problem.ts";
import type { JsonObject } from "../../base/values/plain-json.ts";
import {
  type Alias,
  type AliasIdentifier,
  aliasValue,
  checkAlias,
  type PersonIdentifier,
} from "../profiles/identifiers.ts";
import type { PeopleServices } from "../profiles/write-people.ts";
import { type Applied, changeIdentities, type IdentityServices } from "./change-identities.ts";
import type { IdentityGraph } from "./identity-graph.ts";
import { carryOut, checkEach, type Notes, ofObject, refuseTooMany, type Work } from "./items.ts";
import type { Preview } from "./preview.ts";
import { choose, isFault, type Selector, selectExternalId } from "./selectors.ts";

/**
 * Adds aliases to users, or creates alias-only users.
 *
 * spec: POST /users/alias/new. With an external_id the alias is added to that user; otherwise a
 * user is created. If no user has the external_id, or the alias is in use, the item is listed in
 * `skipped`.
 *
 * @returns how many objects were accepted.
 * @throws Problem INVALID_REQUEST for more than 50, or listing every faulty object.
 */
export async function addAliases(
  services: IdentityServices,
  context: WorkspaceContext,
  aliases: readonly unknown[],
  preview?: Preview,
): Promise<{ readonly count: number; readonly notes: Notes }> {
  refuseTooMany(aliases);
  const items = checkEach("user_aliases", aliases, ofObject(checkNewAlias));
  return carryOut(services, context, items, preview);
}

/** spec: New user alias object. Existing clients also send the pair under `user_alias`. */
function checkNewAlias(raw: JsonObject): Checked<Work> {
  const identifier = raw.user_alias ? checkAlias(raw.user_alias) : checkAlias(raw, "");
  if ("fault" in identifier) return identifier;
  const alias = identifier.value;
  if (raw.external_id === undefined || raw.external_id === null) {
    return accepted({ names: [alias], apply: (graph) => createUser(graph, alias) });
  }
  const user = selectExternalId(raw.external_id);
  if ("fault" in user) return user;
  return accepted({
    names: [alias, user.value.identifier],
    apply: (graph) => addAlias(graph, user.value, alias),
  });
}

function createUser(graph: IdentityGraph, identifier: AliasIdentifier): Applied {
  const [owner] = graph.find(identifier);
  // A retry is no error: the alias-only user exists.
  if (owner) return { fault: owner.fields.externalId === null ? PRESENT : taken(identifier.alias) };
  graph.create(identifier.alias);
  return { done: "created" };
}

function addAlias(graph: IdentityGraph, selector: Selector, identifier: AliasIdentifier): Applied {
  const user = choose(graph, selector);
  if (isFault(user)) return { fault: user };
  const [owner] = graph.find(identifier);
  if (owner === user) return { fault: PRESENT };
  if (owner) return { fault: taken(identifier.alias) };
  graph.setAliases(user, [...user.fields.aliases, identifier.alias]);
  return { done: "added" };
}

export interface FurtherAliases {
  readonly user: PersonIdentifier;
  readonly aliases: readonly Alias[];
}

/**
 * Gives users further aliases; one that the user already has changes nothing.
 *
 * @returns for each entry the faults of aliases that another user has.
 */
export async function attachAliases(
  services: PeopleServices,
  context: WorkspaceContext,
  further: readonly FurtherAliases[],
): Promise<Fault[][]> {
  const faults: Fault[][] = [];
  if (further.length === 0) return faults;
  const steps = further.map(({ user, aliases }, index) => {
    const identifiers = aliases.map(
      (alias): AliasIdentifier => ({ kind: "alias", value: aliasValue(alias), alias }),
    );
    return {
      place: { array: "user_aliases", index },
      names: [user, ...identifiers],
      apply(graph: IdentityGraph): Applied {
        faults[index] = attach(graph, user, identifiers);
        return { done: "added" };
      },
    };
  });
  await changeIdentities(services, context, { steps });
  return faults;
}

/** All at once: each change of a user costs as much as the user has identifiers. */
function attach(
  graph: IdentityGraph,
  user: PersonIdentifier,
  identifiers: readonly AliasIdentifier[],
): Fault[] {
  const [person] = graph.find(user);
  if (!person) return [];
  const faults: Fault[] = [];
  const added = new Map<string, Alias>();
  for (const identifier of identifiers) {
    const [owner] = graph.find(identifier);
    if (!owner) added.set(identifier.value, identifier.alias);
    else if (owner !== person) faults.push(taken(identifier.alias));
  }
  if (added.size > 0) graph.setAliases(person, [...person.fields.aliases, ...added.values()]);
  return faults;
}

const PRESENT: Fault = { code: "ALIAS_PRESENT", message: "the user already has this alias" };

/** An alias names one user and never moves to another. */
export const taken = ({ alias_label }: Alias): Fault => ({
  code: "ALIAS_TAKEN",
  message: `another user already has this alias name with the label '${alias_label}'`,
});
