import type { WorkspaceContext } from "../../base/context/context.ts";
import { accepted, type Checked, refused } from "../../base/problem.ts";
import type { ItemNote } from "../../base/verdicts.ts";
import type { PersonIdentifier } from "../profiles/identifiers.ts";
import { BLOCKED, checkExternalId } from "../profiles/identifiers.ts";
import type { Applied, IdentityServices } from "./change-identities.ts";
import type { IdentityGraph, Person } from "./identity-graph.ts";
import {
  type CheckedItems,
  carryOut,
  checkEach,
  ofObject,
  refuseTooMany,
  type Work,
} from "./items.ts";

/** The last id of every item that took effect, and why the others did not. */
interface ChangedIds {
  readonly ids: string[];
  readonly errors: ItemNote[];
}

/**
 * Renames external ids, in the order of the items. The old one is deprecated but still identifies the
 * user, so that each sender can switch later. docs/decisions/identity.md
 *
 * @throws Problem INVALID_REQUEST for more than 50, and listing every item that is malformed.
 */
export async function renameExternalIds(
  services: IdentityServices,
  context: WorkspaceContext,
  renames: readonly unknown[],
): Promise<ChangedIds> {
  refuseTooMany(renames);
  const blocked = context.workspace.settings.blocked_external_ids;
  const check = ofObject((raw) => checkRename(raw, blocked));
  return carryOutAll(services, context, checkEach("external_id_renames", renames, check));
}

/**
 * Removes the redirects of renamed and merged external ids, in the order of the items, which makes them
 * free. A user's current external_id cannot be removed.
 *
 * @throws Problem INVALID_REQUEST for more than 50, and listing every item that is malformed.
 */
export async function removeExternalIds(
  services: IdentityServices,
  context: WorkspaceContext,
  externalIds: readonly unknown[],
): Promise<ChangedIds> {
  refuseTooMany(externalIds);
  return carryOutAll(services, context, checkEach("external_ids", externalIds, checkRemoval));
}

async function carryOutAll(
  services: IdentityServices,
  context: WorkspaceContext,
  items: CheckedItems,
): Promise<ChangedIds> {
  const { notes } = await carryOut(services, context, items, undefined);
  const errors = notes.skipped ?? [];
  const failed = new Set(errors.map(({ index }) => index));
  const steps = items.steps.filter(({ place }) => !failed.has(place.index));
  return { ids: steps.map(({ names }) => names.at(-1)?.value as string), errors };
}

function checkRemoval(value: unknown): Checked<Work> {
  const checked = checkExternalId(value);
  if ("fault" in checked) return checked;
  const identifier = checked.value;
  return accepted({ names: [identifier], apply: (graph) => removeRedirect(graph, identifier) });
}

function removeRedirect(graph: IdentityGraph, identifier: PersonIdentifier): Applied {
  const [user] = graph.find(identifier);
  if (!user)
    return { fault: { code: "USER_NOT_FOUND", message: "no user has this 'external_id'" } };
  if (user.fields.externalId === identifier.value) {
    const message =
      "only a deprecated 'external_id' can be removed, and this one is the user's own; " +
      "rename it first, or delete the user";
    return { fault: { code: "EXTERNAL_ID_IN_USE", message } };
  }
  graph.removeRedirect(user, identifier.value);
  return { done: "removed" };
}

function checkRename(
  { current_external_id, new_external_id }: Readonly<Record<string, unknown>>,
  blocked: readonly string[],
): Checked<Work> {
  const current = checkMember("current_external_id", current_external_id);
  if ("fault" in current) return current;
  const next = checkMember("new_external_id", new_external_id);
  if ("fault" in next) return next;
  if (blocked.includes(next.value.value)) return { fault: BLOCKED };
  return accepted({
    names: [current.value, next.value],
    apply: (graph) => rename(graph, current.value, next.value),
  });
}

/** Names the member of this object in the fault. */
function checkMember(name: string, value: unknown): Checked<PersonIdentifier> {
  const checked = checkExternalId(value);
  if (!("fault" in checked)) return checked;
  const { code, message } = checked.fault;
  return refused(code, message.replace("'external_id'", `'${name}'`));
}

/** The user whose current external_id this is; deprecated ones have none. */
function ownerOf(graph: IdentityGraph, identifier: PersonIdentifier): Person | undefined {
  const [person] = graph.find(identifier);
  return person?.fields.externalId === identifier.value ? person : undefined;
}

function rename(graph: IdentityGraph, current: PersonIdentifier, next: PersonIdentifier): Applied {
  const user = ownerOf(graph, current);
  if (!user) {
    const message = "no user has this 'current_external_id'; a deprecated one cannot be renamed";
    return { fault: { code: "USER_NOT_FOUND", message } };
  }
  if (graph.find(next).length > 0) {
    const message = "'new_external_id' is in use, as a current or a deprecated external_id";
    return { fault: { code: "EXTERNAL_ID_TAKEN", message } };
  }
  graph.renameExternalId(user, next.value);
  return { done: "renamed" };
}
