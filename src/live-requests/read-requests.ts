import { type AuditingServices, recordRead } from "../audit/audit.ts";
import type { WorkspaceContext } from "../context/context.ts";
import { forwardPage } from "../http/pages.ts";
import type { Processes } from "../observe/processes.ts";
import { Problem } from "../problem.ts";
import type { KeptRequest, RequestLog } from "./request-log.ts";
import { type LiveRequest, viewOf } from "./request-view.ts";

/** What of the kept requests is wanted. */
export interface RequestFilter {
  readonly status?: string | undefined;
  readonly key?: string | undefined;
  readonly user?: string | undefined;
  readonly endpoint?: string | undefined;
  readonly code?: string | undefined;
}

interface Question extends RequestFilter {
  readonly workspaceId: number;
  readonly showsPeople: boolean;
  readonly id?: string | undefined;
  /** Only older ones. */
  readonly before?: string | undefined;
  readonly limit: number;
}

export interface LiveServices extends AuditingServices {
  readonly requestLog: RequestLog;
  readonly processes: Processes;
}

const TOPIC = "live requests";

/** Lets other processes ask this one. */
export function answerLiveRequests({
  requestLog,
  processes,
}: Omit<LiveServices, keyof AuditingServices>): void {
  processes.answer(TOPIC, (question: Question) => findHere(requestLog, question));
}

/** What a process finds among its own, newest first. */
function findHere(log: RequestLog, question: Question): LiveRequest[] {
  const found: LiveRequest[] = [];
  for (const kept of log.newest(question.workspaceId)) {
    if (found.length === question.limit) break;
    if (!mayMatch(kept, question)) continue;
    const view = viewOf(kept, true);
    if (!matches(view, question)) continue;
    found.push(question.showsPeople ? view : viewOf(kept, false));
  }
  return found;
}

/** What can be told without reading the body: most requests are left out by it. */
function mayMatch(kept: KeptRequest, { id, before, status, key, user, endpoint, code }: Question) {
  if (id !== undefined && kept.id !== id) return false;
  if (before !== undefined && kept.id >= before) return false;
  if (status !== undefined && !fits(kept.status, status)) return false;
  if (key !== undefined && kept.key.id !== key && kept.key.name !== key) return false;
  if (endpoint !== undefined && kept.path !== endpoint) return false;
  if (user !== undefined && !mayName(kept.body, user)) return false;
  return code === undefined || (kept.response?.includes(code) ?? false);
}

const BACKSLASH = 0x5c;

/** Escapes can spell a name in many ways, and of an alias (`label:name`) the body has the two parts. */
const mayName = (body: Buffer | undefined, user: string): boolean =>
  body !== undefined &&
  (body.includes(BACKSLASH) || body.includes(user.slice(user.lastIndexOf(":") + 1)));

const matches = ({ items }: LiveRequest, { user, code }: Question): boolean =>
  (user === undefined || items.some((item) => item.user === user)) &&
  (code === undefined || items.some((item) => item.code === code));

/** `404` is one status, `4xx` are all of its hundred. */
const fits = (status: number, wanted: string): boolean =>
  wanted.endsWith("xx") ? String(status)[0] === wanted[0] : String(status) === wanted;

const mayShowPeople = ({ person, workspace }: WorkspaceContext): boolean =>
  person === undefined ||
  person.isAdministrator ||
  (person.workspacePermissions.get(workspace.name)?.has("view_pii") ?? false);

/** A search by user would tell who is there. @throws Problem FORBIDDEN */
function questionOf(context: WorkspaceContext, filter: RequestFilter, limit: number): Question {
  const showsPeople = mayShowPeople(context);
  if (filter.user !== undefined && !showsPeople) {
    const { name } = context.workspace;
    throw new Problem("FORBIDDEN", `You lack the permission view_pii in the workspace '${name}'.`);
  }
  return { ...filter, workspaceId: context.workspace.id, showsPeople, limit };
}

/** Of all processes, newest first. */
async function find({ processes }: LiveServices, question: Question): Promise<LiveRequest[]> {
  const answers = await processes.ask<LiveRequest[]>(TOPIC, question);
  const all = answers.flat().sort((one, other) => (one.id < other.id ? 1 : -1));
  return all.slice(0, question.limit);
}

/** A page of the kept requests, newest first. The read is audited: bodies name people. */
export async function readRequests(
  services: LiveServices,
  context: WorkspaceContext,
  filter: RequestFilter,
  { cursor, limit }: { readonly cursor: string | undefined; readonly limit: number },
) {
  const question = { ...questionOf(context, filter, limit + 1), before: cursor };
  const page = forwardPage(await find(services, question), limit, ({ id }) => id);
  await recordRead(services, context, "live_requests", "all");
  return page;
}

/** @throws Problem NOT_FOUND once it is not kept any more. */
export async function readRequest(
  services: LiveServices,
  context: WorkspaceContext,
  id: string,
): Promise<LiveRequest> {
  const [found] = await find(services, { ...questionOf(context, {}, 1), id });
  if (!found) throw new Problem("NOT_FOUND", "This request is not kept any more.");
  await recordRead(services, context, "live_requests", "all");
  return found;
}
