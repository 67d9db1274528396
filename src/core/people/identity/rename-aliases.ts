import type { WorkspaceContext } from "../../base/context/context.ts";
import { accepted, type Checked } from "../../base/problem.ts";
import { type AliasIdentifier, aliasValue, checkAlias } from "../profiles/identifiers.ts";
import type { Applied, IdentityServices } from "./change-identities.ts";
import type { IdentityGraph } from "./identity-graph.ts";
import { carryOut, checkEach, type Notes, ofObject, refuseTooMany, type Work } from "./items.ts";
import { taken } from "./new-aliases.ts";
import type { Preview } from "./preview.ts";
import { choose, isFault, selectorOf } from "./selectors.ts";

/**
 * Gives aliases another name, under the same label.
 *
 * decision: docs/decisions/identity.md; publicly known as POST /users/alias/update. An old alias
 * without a user, or a new one in use, changes nothing: the item is listed in `skipped`.
 *
 * @throws Problem INVALID_REQUEST for more than 50, or listing every faulty object.
 */
export async function renameAliases(
  services: IdentityServices,
  context: WorkspaceContext,
  updates: readonly unknown[],
  preview?: Preview,
): Promise<{ readonly count: number; readonly notes: Notes }> {
  refuseTooMany(updates);
  const items = checkEach("alias_updates", updates, ofObject(checkRenaming));
  return carryOut(services, context, items, preview);
}

function checkRenaming(raw: Readonly<Record<string, unknown>>): Checked<Work> {
  const { alias_label, old_alias_name, new_alias_name } = raw;
  const before = checkAlias({ alias_label, alias_name: old_alias_name });
  if ("fault" in before) return named(before, "old_alias_name");
  const after = checkAlias({ alias_label, alias_name: new_alias_name });
  if ("fault" in after) return named(after, "new_alias_name");
  const [from, to] = [before.value, after.value];
  return accepted({ names: [from, to], apply: (graph) => rename(graph, from, to) });
}

/** Names the member of this object in the fault. */
const named = <Refused extends { fault: { code: string; message: string } }>(
  { fault }: Refused,
  name: string,
) => {
  const message = fault.message
    .replace("user_alias.alias_name", name)
    .replace("user_alias.alias_label", "alias_label");
  return { fault: { ...fault, message } };
};

function rename(graph: IdentityGraph, from: AliasIdentifier, to: AliasIdentifier): Applied {
  const owner = choose(graph, selectorOf(from));
  if (isFault(owner)) return { fault: owner };
  if (from.value === to.value) {
    return { fault: { code: "ALIAS_PRESENT", message: "the alias already has this name" } };
  }
  if (graph.find(to).length > 0) return { fault: taken(to.alias) };
  const aliases = owner.fields.aliases.map((alias) =>
    aliasValue(alias) === from.value ? to.alias : alias,
  );
  graph.setAliases(owner, aliases);
  return { done: "renamed" };
}
