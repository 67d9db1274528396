import type { Workspace } from "../access/workspace.ts";
import { accepted, type Checked, type Fault } from "../problem.ts";
import { type Alias, checkAlias, type Who } from "../profiles/identifiers.ts";
import type { Cast } from "./cast.ts";
import type { Applied, IdentityServices } from "./change-identities.ts";
import {
  carryOut,
  checkEach,
  type Manner,
  type Notes,
  ofObject,
  refuseTooMany,
  type Work,
} from "./items.ts";
import { choose, isFault, type Selector, selectExternalId } from "./selectors.ts";

/**
 * Gives users aliases, or makes alias-only users.
 *
 * spec: POST /users/alias/new. With the external_id of a user the alias is added to that user, without
 * one it makes a user. Where nobody has the external_id, or somebody has the alias already, nothing
 * happens and the item stands in `skipped`.
 *
 * @returns how many objects were taken.
 * @throws Problem INVALID_REQUEST for more than 50, or where no object can be taken.
 */
export async function addAliases(
  services: IdentityServices,
  workspace: Workspace,
  aliases: readonly unknown[],
  manner: Manner,
): Promise<{ readonly count: number; readonly notes: Notes }> {
  refuseTooMany(aliases);
  const items = checkEach("user_aliases", aliases, ofObject(checkNewAlias));
  return carryOut(services, workspace, items, manner);
}

type RawObject = Readonly<Record<string, unknown>>;

/** spec: New user alias object. Existing clients also send the pair under `user_alias`. */
function checkNewAlias(raw: RawObject): Checked<Work> {
  const who = checkAlias(raw.user_alias ?? raw);
  if ("fault" in who) return who;
  const alias = who.value as Extract<Who, { kind: "alias" }>;
  if (raw.external_id === undefined || raw.external_id === null) {
    return accepted({ names: [alias], apply: (cast) => makeUser(cast, alias) });
  }
  const user = selectExternalId(raw.external_id);
  if ("fault" in user) return user;
  return accepted({
    names: [alias, user.value.who],
    apply: (cast) => addAlias(cast, user.value, alias),
  });
}

type AliasWho = Extract<Who, { kind: "alias" }>;

function makeUser(cast: Cast, who: AliasWho): Applied {
  if (cast.find(who).length > 0) return { fault: taken(who.alias) };
  cast.create(who.alias);
  return { done: "created" };
}

function addAlias(cast: Cast, selector: Selector, who: AliasWho): Applied {
  const user = choose(cast, selector);
  if (isFault(user)) return { fault: user };
  const [owner] = cast.find(who);
  if (owner === user) {
    return { fault: { code: "ALIAS_PRESENT", message: "the user has this alias already" } };
  }
  if (owner) return { fault: taken(who.alias) };
  cast.setAliases(user, [...user.fields.aliases, who.alias]);
  return { done: "added" };
}

/** An alias names one user, and is never taken away from one for another. */
export const taken = ({ alias_label }: Alias): Fault => ({
  code: "ALIAS_TAKEN",
  message: `another user has an alias of this name with the label '${alias_label}'`,
});
