import { type AuditingServices, recordRead } from "../../admin/audit/audit.ts";
import type { WorkspaceContext } from "../../base/context/context.ts";
import { mentionsOf } from "../../base/mentions.ts";
import type { Processes } from "../../base/observe/processes.ts";
import { forwardPage } from "../../base/pages.ts";
import { Problem } from "../../base/problem.ts";
import {
  matches,
  mayMatch,
  type Question,
  questionOf,
  type RequestFilter,
} from "./request-filter.ts";
import type { KeptRequest, RequestLog } from "./request-log.ts";
import { type LiveRequest, viewOf } from "./request-view.ts";

interface PageQuestion extends Question {
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

const FORGET = "forget live requests";

interface Forgotten {
  readonly workspaceId: number;
  /** The identifiers of a person. */
  readonly names: readonly string[];
}

/** Lets other processes ask this one. */
export function answerLiveRequests({
  requestLog,
  processes,
}: Omit<LiveServices, keyof AuditingServices>): void {
  processes.answer(TOPIC, (question: PageQuestion) => findHere(requestLog, question));
  processes.answer(FORGET, ({ workspaceId, names }: Forgotten) => {
    const mentions = mentionsOf(names);
    requestLog.forget(workspaceId, (kept) => mentions.in(textOf(kept)));
  });
}

/** Everything in which a request can name people, with the escapes of its JSON resolved. */
function textOf({ path, body, response = "" }: KeptRequest): string {
  const text = body?.toString("utf8") ?? "";
  return `${path} ${text.includes("\\") ? resolved(text) : text} ${response}`;
}

function resolved(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return text;
  }
}

/** Every process of the machine forgets the requests that name an erased person. */
export const forgetRequests = (
  { processes }: Pick<LiveServices, "processes">,
  forgotten: Forgotten,
): Promise<unknown> => processes.ask(FORGET, forgotten);

/** What a process finds among its own, newest first. */
function findHere(log: RequestLog, question: PageQuestion): LiveRequest[] {
  const { id, before, limit, showsPeople } = question;
  const found: LiveRequest[] = [];
  for (const kept of log.newest(question.workspaceId)) {
    if (found.length === limit) break;
    if (id !== undefined && kept.id !== id) continue;
    if (before !== undefined && kept.id >= before) continue;
    if (!mayMatch(kept, question)) continue;
    const view = viewOf(kept, true);
    if (matches(view, question)) found.push(showsPeople ? view : viewOf(kept, false));
  }
  return found;
}

/** Of all processes, newest first. */
async function find({ processes }: LiveServices, question: PageQuestion): Promise<LiveRequest[]> {
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
