import { type AuditingServices, recordRead } from "../../core/admin/audit/audit.ts";
import type { WorkspaceContext } from "../../core/base/context/context.ts";
import { forwardPage } from "../../core/base/pages.ts";
import { Problem } from "../../core/base/problem.ts";
import type { Database } from "../../core/database/database.ts";
import {
  matches,
  mayMatch,
  type Question,
  questionOf,
  type RequestFilter,
} from "./request-filter.ts";
import type { KeptRequest, RequestLog } from "./request-log.ts";
import { type LiveRequest, viewOf } from "./request-view.ts";
import { selectRequests } from "./store.ts";

interface PageQuestion extends Question {
  readonly id?: string | undefined;
  readonly before?: string | undefined;
  readonly limit: number;
}

export interface LiveServices extends AuditingServices {
  readonly requestLog: RequestLog;
  readonly database: Database;
}

function findHere(log: RequestLog, question: PageQuestion): LiveRequest[] {
  const { id, before, limit } = question;
  const found: LiveRequest[] = [];
  for (const kept of log.newest(question.workspaceId)) {
    if (found.length === limit) break;
    if (id !== undefined && kept.id !== id) continue;
    if (before !== undefined && kept.id >= before) continue;
    found.push(...shownIf(kept, question));
  }
  return found;
}

/** The request, if it is a wanted one. */
function shownIf(kept: KeptRequest, question: Question): LiveRequest[] {
  if (!mayMatch(kept, question)) return [];
  const view = viewOf(kept, true);
  if (!matches(view, question)) return [];
  return [question.showsPeople ? view : viewOf(kept, false)];
}

const STEP = 50;

/** The requests that all processes have recorded, newest first. */
async function findWritten(database: Database, question: PageQuestion): Promise<LiveRequest[]> {
  const { id, before, limit } = question;
  const found: LiveRequest[] = [];
  let last = before;
  for (;;) {
    const read = await selectRequests(database, { ...question, id, before: last }, STEP);
    for (const kept of read) {
      found.push(...shownIf(kept, question));
      if (found.length === limit) return found;
    }
    if (read.length < STEP) return found;
    last = read.at(-1)?.id;
  }
}

/** The requests of all servers, newest first: this process has some in memory, and all have recorded some. */
async function find(
  { database, requestLog }: LiveServices,
  question: PageQuestion,
): Promise<LiveRequest[]> {
  if (requestLog.size === 0) return [];
  const written = await findWritten(database, question);
  const kept = findHere(requestLog, question);
  const all = new Map([...written, ...kept].map((each) => [each.id, each]));
  return [...all.values()]
    .sort((one, other) => (one.id < other.id ? 1 : -1))
    .slice(0, question.limit);
}

/** A page of the kept requests, newest first. The read is audited: bodies name people. */
export async function readRequests(
  services: LiveServices,
  context: WorkspaceContext,
  filter: RequestFilter,
  { cursor, limit }: { readonly cursor: string | undefined; readonly limit: number },
) {
  const question = { ...questionOf(context, filter), limit: limit + 1, before: cursor };
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
  const [found] = await find(services, { ...questionOf(context, {}), limit: 1, id });
  if (!found) throw new Problem("NOT_FOUND", "This request is not kept any more.");
  await recordRead(services, context, "live_requests", "all");
  return found;
}
