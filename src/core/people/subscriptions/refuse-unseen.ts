import type { Workspace } from "../../base/context/workspace.ts";
import type { Fault } from "../../base/problem.ts";
import { type Queryable, settleAll } from "../../database/database.ts";
import type { PersonIdentifier } from "../profiles/identifiers.ts";
import { refuseFaulty } from "./check-names.ts";
import type { NamedUser } from "./set-group-states.ts";
import { selectPresent } from "./spellings-store.ts";

/**
 * The identifiers that are refused: an address with a character that shows nothing, unless something is stored for it.
 * Usually it runs no query.
 */
export async function findRefused(
  database: Queryable,
  { id }: Pick<Workspace, "id">,
  identifiers: readonly PersonIdentifier[],
): Promise<ReadonlyMap<PersonIdentifier, Fault>> {
  const suspects = identifiers.flatMap((each): [PersonIdentifier, Fault][] =>
    each.kind === "email" && each.refusal ? [[each, each.refusal]] : [],
  );
  if (suspects.length === 0) return new Map();
  const values = suspects.map(([{ value }]) => value);
  const stored = await settleAll([
    selectPresent(database, "identifiers", id, values),
    selectPresent(database, "email_states", id, values),
    selectPresent(database, "hard_bounces", id, values),
  ]);
  const known = new Set(stored.flat());
  return new Map(suspects.filter(([{ value }]) => !known.has(value)));
}

/** @throws Problem INVALID_REQUEST with every address that `findRefused` finds in `errors`. */
export async function refuseUnseen(
  database: Queryable,
  workspace: Pick<Workspace, "id">,
  named: readonly NamedUser[],
): Promise<void> {
  const refused = await findRefused(
    database,
    workspace,
    named.map(({ identifier }) => identifier),
  );
  const faults = named.flatMap(({ identifier, place }) => {
    const fault = refused.get(identifier);
    if (!fault) return [];
    const message = `'${place.input_array}[${place.index}]' is not valid: ${fault.message}`;
    return [{ ...fault, message, ...place }];
  });
  refuseFaulty(faults);
}
