import type { WorkspaceContext } from "../../base/context/context.ts";
import type { Workspace } from "../../base/context/workspace.ts";
import { accepted, type Checked, Problem } from "../../base/problem.ts";
import type { JsonObject } from "../../base/values/plain-json.ts";
import { BLOCKED } from "../profiles/identifiers.ts";
import type { Applied, IdentityServices } from "./change-identities.ts";
import type { Extent } from "./combine/effects.ts";
import type { IdentityGraph } from "./identity-graph.ts";
import {
  carryOut,
  checkEach,
  type Notes,
  ofObject,
  refuseTooMany,
  together,
  type Work,
} from "./items.ts";
import type { Preview } from "./preview.ts";
import {
  choose,
  isFault,
  type Selector,
  selectAlias,
  selectByEmail,
  selectByPhone,
  selectExternalId,
} from "./selectors.ts";

/** The lists of an identify request, in order of execution. */
const LISTS: Readonly<Record<ListName, (raw: JsonObject) => Checked<Selector>>> = {
  aliases_to_identify: (raw) => selectAlias(raw.user_alias),
  emails_to_identify: selectByEmail,
  phone_numbers_to_identify: selectByPhone,
};

type ListName = "aliases_to_identify" | "emails_to_identify" | "phone_numbers_to_identify";

export interface IdentifyRequest extends Readonly<Partial<Record<ListName, readonly unknown[]>>> {
  /** The data that a merged user gives to another; `merge` if omitted. */
  readonly merge_behavior?: "none" | "merge";
}

/** spec: POST /users/identify, merge_behavior. */
const EXTENT: Readonly<Record<"none" | "merge", Extent>> = {
  merge: "all_but_devices",
  none: "tokens_and_messages",
};

/**
 * Identifies users without an external_id.
 *
 * spec: POST /users/identify. A user receives a free external_id and keeps everything; if another user has
 * it, the user is merged into that one and removed.
 *
 * @returns how many objects were accepted.
 * @throws Problem INVALID_REQUEST without a list, for more than 50 in one, or listing every faulty object.
 */
export async function identifyUsers(
  services: IdentityServices,
  context: WorkspaceContext,
  request: IdentifyRequest,
  preview?: Preview,
): Promise<{ readonly count: number; readonly notes: Notes }> {
  const names = Object.keys(LISTS) as ListName[];
  const given = names.filter((name) => request[name]?.length);
  if (given.length === 0) {
    const list = names.map((name) => `'${name}'`).join(" or ");
    throw new Problem("INVALID_REQUEST", `${list} is required`);
  }
  for (const name of given) refuseTooMany(request[name]);
  const extent = EXTENT[request.merge_behavior ?? "merge"];
  const items = given.map((name) => {
    const check = (raw: JsonObject) => checkObject(context.workspace, raw, LISTS[name], extent);
    return checkEach(name, request[name] ?? [], ofObject(check));
  });
  return carryOut(services, context, together(items), preview);
}

function checkObject(
  workspace: Workspace,
  raw: JsonObject,
  select: (raw: JsonObject) => Checked<Selector>,
  extent: Extent,
): Checked<Work> {
  const identified = selectExternalId(raw.external_id);
  if ("fault" in identified) return identified;
  const selector = select(raw);
  if ("fault" in selector) return selector;
  const { identifier } = identified.value;
  // spec: Errors, the block list. An id that track refuses is refused here too.
  if (workspace.settings.blocked_external_ids.includes(identifier.value)) {
    return { fault: BLOCKED };
  }
  return accepted({
    names: [identifier, selector.value.identifier],
    chooses: [selector.value],
    apply: (graph) => identify(graph, identified.value, selector.value, extent),
  });
}

function identify(
  graph: IdentityGraph,
  identified: Selector,
  selector: Selector,
  extent: Extent,
): Applied {
  const user = choose(graph, selector);
  if (isFault(user)) return { fault: user };
  const [owner] = graph.find(identified.identifier);
  if (owner === user) {
    const message = "the user already has this external_id";
    return { fault: { code: "ALREADY_IDENTIFIED", message } };
  }
  // An identified user never changes its external_id. docs/decisions/identity.md
  if (user.fields.externalId !== null) {
    const message = "the user already has another external_id";
    return { fault: { code: "OTHER_USER_IDENTIFIED", message } };
  }
  if (!owner)
    return { done: "identified", change: graph.identify(user, identified.identifier.value) };
  return { done: "merged", change: graph.merge(owner, user, extent) };
}
