import type { WorkspaceContext } from "../../base/context/context.ts";
import { accepted, type Checked, type Fault, Problem, refused } from "../../base/problem.ts";
import { isJsonObject } from "../../base/values/plain-json.ts";
import type { Transaction } from "../../database/database.ts";
import { checkPlatformId, type PersonIdentifier } from "../profiles/identifiers.ts";
import type { PeopleServices } from "../profiles/write-people.ts";
import { type Applied, changeIdentities, type IdentityServices } from "./change-identities.ts";
import type { Change, IdentityGraph, Person } from "./identity-graph.ts";
import {
  carryOut,
  type changeAlone,
  checkEach,
  MOST_ITEMS,
  type Notes,
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
  selectorOf,
} from "./selectors.ts";

type Kind =
  | "external_ids"
  | "user_aliases"
  | "platform_ids"
  | "braze_ids"
  | "email_addresses"
  | "phone_numbers";

export type DeleteRequest = Readonly<Partial<Record<Kind, readonly unknown[]>>>;

/** The kinds of identifiers; a request may hold one of them. */
const KINDS: Readonly<Record<Kind, (element: unknown) => Checked<Selector>>> = {
  external_ids: selectExternalId,
  user_aliases: selectAlias,
  platform_ids: selectPlatformId,
  braze_ids: selectPlatformId,
  email_addresses: (element) => (isJsonObject(element) ? selectByEmail(element) : noObject),
  phone_numbers: (element) => (isJsonObject(element) ? selectByPhone(element) : noObject),
};

const noObject = refused("NOT_AN_OBJECT", "must be an object");

function selectPlatformId(element: unknown): Checked<Selector> {
  const checked = checkPlatformId(element);
  return "fault" in checked ? checked : accepted(selectorOf(checked.value));
}

/**
 * Deletes users with everything about them (docs/decisions/deleting-users.md).
 *
 * spec: POST /users/delete. An item that names no user, or several, is listed in `skipped`.
 *
 * @returns how many identifiers were accepted, found or not.
 * @throws Problem INVALID_REQUEST without a kind of identifiers, with two kinds, for more than 50, or listing
 *   every faulty one.
 */
export async function deleteUsers(
  services: IdentityServices,
  context: WorkspaceContext,
  request: DeleteRequest,
  preview?: Preview,
): Promise<{ readonly count: number; readonly notes: Notes }> {
  const kinds = (Object.keys(KINDS) as Kind[]).filter((kind) => request[kind]?.length);
  const [kind, second] = kinds;
  if (kind === undefined || second !== undefined) {
    const list = Object.keys(KINDS).filter((name) => name !== "braze_ids");
    throw new Problem(
      "INVALID_REQUEST",
      `Exactly one of '${list.join("', '")}' must be given, not ${kinds.length}.`,
    );
  }
  const elements = request[kind] ?? [];
  if (elements.length > MOST_ITEMS) {
    throw new Problem("INVALID_REQUEST", "The max number of ids per request was exceeded");
  }
  const items = checkEach(kind, elements, (element) => checkElement(element, KINDS[kind]));
  return carryOut(services, context, items, preview, deleteEach);
}

/** A deletion is always possible: it does without attributes that are too many to load. */
const deleteEach: typeof changeAlone = (services, context, steps, previewLine) =>
  changeIdentities(services, context, { steps, previewLine, canOmitAttributes: true });

/** Users to delete, and what to write in the same transaction. */
export interface Deletion {
  readonly names: readonly PersonIdentifier[];
  /**
   * @param faults for each name why nothing was deleted; undefined if a user was.
   * @param deleted for each name the user that was deleted.
   */
  alsoWrite(
    tx: Transaction,
    faults: readonly (Fault | undefined)[],
    deleted: readonly (DeletedUser | undefined)[],
  ): Promise<void>;
}

export type DeletedUser = Extract<Change, { readonly kind: "delete" }>;

/**
 * Deletes the users with checked identifiers, any number, in one transaction. An identifier without a user,
 * and an address of several users, deletes none.
 */
export async function deleteNamed(
  services: PeopleServices,
  context: WorkspaceContext,
  { names, alsoWrite }: Deletion,
): Promise<void> {
  const steps = names.map((identifier, index) => ({
    ...deletionOf(selectorOf(identifier)),
    place: { array: "names", index },
  }));
  await changeIdentities(services, context, {
    steps,
    canOmitAttributes: true,
    alsoWrite: (tx, results) =>
      alsoWrite(
        tx,
        results.map(({ applied }) => ("fault" in applied ? applied.fault : undefined)),
        results.map(({ applied }) => deletedBy(applied)),
      ),
  });
}

function deletedBy(applied: Applied): DeletedUser | undefined {
  const change = "change" in applied ? applied.change : undefined;
  return change?.kind === "delete" ? change : undefined;
}

function checkElement(
  element: unknown,
  select: (element: unknown) => Checked<Selector>,
): Checked<Work> {
  const selector = select(element);
  return "fault" in selector ? selector : accepted(deletionOf(selector.value));
}

const deletionOf = (selector: Selector): Work => ({
  names: [selector.identifier],
  chooses: [selector],
  apply: (graph) => remove(graph, selector),
});

function remove(graph: IdentityGraph, selector: Selector): Applied {
  const user = choose(graph, selector);
  if (isFault(user)) return { fault: user };
  if (graph.isInherited(selector.identifier, user)) return { fault: merged(selector, user) };
  return { done: "deleted", change: graph.remove(user) };
}

/** A deletion is irreversible, so the id of a user who was merged away deletes no one else. */
function merged({ identifier: { kind } }: Selector, { id, fields: { externalId } }: Person): Fault {
  const name = kind === "alias" ? "user_alias" : kind;
  const kept =
    externalId === null
      ? `platform_id '${id}'`
      : `external_id '${externalId}', platform_id '${id}'`;
  return {
    code: "USER_MERGED",
    message: `the user who had this '${name}' was merged into another one, who is not deleted by it: ${kept}`,
  };
}
