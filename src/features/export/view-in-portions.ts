import type { Workspace } from "../../core/base/context/workspace.ts";
import { nextTurn } from "../../core/base/turns.ts";
import { type Queryable, settleAll } from "../../core/database/database.ts";
import { measureActivityOfEach } from "../../core/people/activity/size-store.ts";
import { measureEachProfile } from "../../core/people/profiles/export-store.ts";
import { MOST_BYTES } from "./export-budget.ts";
import type { ExportField } from "./profile-view.ts";
import { viewUsers } from "./view-users.ts";

/** How many bytes of JSON are read and written in one turn of the event loop, unless one user has more. */
const BYTES_AT_A_TIME = MOST_BYTES / 8;

/** Users in the form of an export, and about how many bytes they take as JSON. */
export interface ViewedUsers extends PortionOfUsers {
  /** Leaves out users whose profile no longer exists. */
  readonly users: readonly Record<string, unknown>[];
}

/**
 * Views users in their order, as many at a time as take little room: they are measured before they are loaded, because a
 * profile may take a megabyte and its events as much.
 */
export async function* viewInPortions(
  tx: Queryable,
  workspace: Workspace,
  ids: readonly string[],
  fields: readonly ExportField[],
  now: Date,
): AsyncGenerator<ViewedUsers> {
  for (const portion of await measurePortions(tx, workspace.id, ids)) {
    const viewed = await viewUsers(tx, workspace, portion.ids, fields, now);
    const byId = new Map<unknown, Record<string, unknown>>(
      viewed.map((user) => [user.platform_id, user]),
    );
    const users = portion.ids.map((id) => byId.get(id)).filter((user) => user !== undefined);
    yield { ...portion, users };
    if (portion.bytes > BYTES_AT_A_TIME / 2) await nextTurn();
  }
}

/** Users that are viewed together, and about how many bytes they take as JSON. */
export interface PortionOfUsers {
  readonly ids: readonly string[];
  readonly bytes: number;
}

/** Splits users, in order, into groups that are viewed together. */
export async function measurePortions(
  tx: Queryable,
  workspaceId: number,
  ids: readonly string[],
): Promise<PortionOfUsers[]> {
  const [profiles, activity] = await settleAll([
    measureEachProfile(tx, workspaceId, ids),
    measureActivityOfEach(tx, workspaceId, ids),
  ]);
  const sizes = new Map<string, number>();
  for (const { id, bytes } of [...profiles, ...activity]) {
    sizes.set(id, (sizes.get(id) ?? 0) + bytes);
  }
  return [...portionsOf(ids, sizes)];
}

function* portionsOf(
  ids: readonly string[],
  sizes: ReadonlyMap<string, number>,
): Generator<PortionOfUsers> {
  let portion: string[] = [];
  let bytes = 0;
  for (const id of ids) {
    const size = sizes.get(id) ?? 0;
    if (portion.length > 0 && bytes + size > BYTES_AT_A_TIME) {
      yield { ids: portion, bytes };
      portion = [];
      bytes = 0;
    }
    portion.push(id);
    bytes += size;
  }
  if (portion.length > 0) yield { ids: portion, bytes };
}
