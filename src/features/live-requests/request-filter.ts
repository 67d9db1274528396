import { hidesPeople, type WorkspaceContext } from "../../core/base/context/context.ts";
import type { DashboardPerson } from "../../core/base/context/person.ts";
import { Problem } from "../../core/base/problem.ts";
import type { KeptRequest } from "./request-log.ts";
import type { LiveRequest } from "./request-view.ts";

/* Which kept requests are wanted, and who may see what of them. */

export interface RequestFilter {
  readonly status?: string | undefined;
  readonly key?: string | undefined;
  readonly user?: string | undefined;
  readonly endpoint?: string | undefined;
  readonly code?: string | undefined;
}

/** The question to every process. */
export interface Question extends RequestFilter {
  /** The statuses that are wanted, from and to. */
  readonly statuses: readonly [number, number];
  readonly workspaceId: number;
  readonly showsPeople: boolean;
}

/** The conditions that need no body: they exclude most requests. */
export function mayMatch(kept: KeptRequest, filter: Question): boolean {
  const { statuses, key, user, endpoint, code } = filter;
  if (kept.status < statuses[0] || kept.status > statuses[1]) return false;
  if (key !== undefined && kept.key.id !== key && kept.key.name !== key) return false;
  if (endpoint !== undefined && !isAt(kept, endpoint, filter.showsPeople)) return false;
  if (user !== undefined && !mayName(kept.body, user)) return false;
  return (
    code === undefined ||
    (kept.response?.includes(code) ?? false) ||
    kept.notes.some((note) => note.code === code)
  );
}

/** A search by a whole path would tell who is in it. */
const isAt = ({ path, route }: KeptRequest, endpoint: string, showsPeople: boolean): boolean =>
  route === endpoint || (showsPeople && path === endpoint);

const BACKSLASH = 0x5c;

/** Escapes can spell a name in many ways, and of an alias (`label:name`) the body has the two parts. */
const mayName = (body: Buffer | undefined, user: string): boolean =>
  body !== undefined &&
  (body.includes(BACKSLASH) || body.includes(user.slice(user.lastIndexOf(":") + 1)));

/** Whether an item of a request names the wanted user and code; `mayMatch` has compared the rest. */
export const matches = (request: LiveRequest, { user, code }: RequestFilter): boolean =>
  (user === undefined || request.items.some((item) => item.user === user)) &&
  (code === undefined || request.code === code || request.items.some((item) => item.code === code));

/** `404` is one status, `4xx` are all of its hundred. */
function statusesOf(wanted = ""): readonly [number, number] {
  if (wanted === "") return [0, 999];
  return [Number(wanted.replace("xx", "00")), Number(wanted.replace("xx", "99"))];
}

interface Viewer extends Pick<WorkspaceContext, "workspace"> {
  readonly person?: DashboardPerson | undefined;
}

/** A search by user would tell who is there. @throws Problem FORBIDDEN */
export function questionOf(viewer: Viewer, filter: RequestFilter): Question {
  const { id, name } = viewer.workspace;
  const showsPeople = !hidesPeople(viewer);
  if (filter.user !== undefined && !showsPeople) {
    throw new Problem("FORBIDDEN", `You lack the permission view_pii in the workspace '${name}'.`);
  }
  return { ...filter, statuses: statusesOf(filter.status), workspaceId: id, showsPeople };
}
