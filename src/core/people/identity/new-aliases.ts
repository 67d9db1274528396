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

/** A further alias of a user named by another identifier. */
export interface FurtherAlias {
  readonly user: PersonIdentifier;
  readonly alias: Alias;
}

/**
 * Gives users further aliases; one that the user already has changes nothing.
 *
 * @returns for each the fault if another user has it.
 */
export async function attachAliases(
  services: PeopleServices,
  context: WorkspaceContext,
  further: readonly FurtherAlias[],
): Promise<(Fault | undefined)[]> {
  if (further.length === 0) return [];
  const steps = further.map(({ user, alias }, index) => {
    const identifier: AliasIdentifier = { kind: "alias", value: aliasValue(alias), alias };
    return {
      place: { array: "user_aliases", index },
      names: [user, identifier],
      apply: (graph: IdentityGraph) => attach(graph, user, identifier),
    };
  });
  const results = await changeIdentities(services, context, { steps });
  return results.map(({ applied }) =>
    "fault" in applied && applied.fault !== PRESENT ? applied.fault : undefined,
  );
}

function attach(
  graph: IdentityGraph,
  user: PersonIdentifier,
  identifier: AliasIdentifier,
): Applied {
  const [person] = graph.find(user);
  const [owner] = graph.find(identifier);
  if (!person || owner === person) return { fault: PRESENT };
  if (owner) return { fault: taken(identifier.alias) };
  graph.setAliases(person, [...person.fields.aliases, identifier.alias]);
  return { done: "added" };
}

const PRESENT: Fault = { code: "ALIAS_PRESENT", message: "the user already has this alias" };

/** An alias names one user and never moves to another. */
export const taken = ({ alias_label }: Alias): Fault => ({
  code: "ALIAS_TAKEN",
  message: `another user already has this alias name with the label '${alias_label}'`,
});
