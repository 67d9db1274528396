import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Logger } from "pino";
import { describeError } from "../base/observe/log.ts";
import type { Metrics } from "../base/observe/metrics.ts";
import type { Tracing } from "../base/observe/tracing.ts";
import type { Ending, Traffic } from "../base/observe/traffic.ts";
import type { Problem } from "../base/problem.ts";
import { sum } from "../base/values/sum.ts";
import { type GivenNote, itemListsOf, notesOnItems } from "../base/verdicts.ts";
import type { Contract } from "./endpoint.ts";
import { contractOf } from "./request-state.ts";
import { isRefusal, STATUS_OF } from "./respond.ts";

/* The fields of a request in logs and metrics. */

export interface ObserveServices {
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly tracing: Tracing;
}

const CALLERS_ID = /^[\w.:-]{1,128}$/;

/** The id that a caller gave a request (`X-Request-Id`), to find it in the log again. */
function callersIdOf({ headers }: FastifyRequest): string | undefined {
  const given = headers["x-request-id"];
  return typeof given === "string" && CALLERS_ID.test(given) ? given : undefined;
}

/**
 * One line and one count a request: no query, no body, no identifier of a person.
 *
 * @param logSample the share of successful requests that is logged.
 */
export function observeRequests(
  server: FastifyInstance,
  { log, metrics }: ObserveServices,
  logSample: number,
): void {
  const note = (request: FastifyRequest, reply: FastifyReply): void => {
    const { elapsedTime } = reply;
    const labels = {
      method: request.method,
      route: request.routeOptions.url ?? "none",
      status: reply.statusCode,
    };
    metrics.request(labels, elapsedTime / 1_000);
    const { workspace, keyId } = request.context ?? {};
    if (workspace && keyId !== undefined) {
      metrics.traffic.request(workspace.id, keyId, endingOf(reply.statusCode), elapsedTime);
      countItems(metrics.traffic, workspace.id, verdictsOf(request, reply));
    }
    // Refused and failed requests are always logged.
    if (reply.statusCode < 400 && logSample < 1 && Math.random() >= logSample) return;
    log.info(
      {
        request_id: request.id,
        caller_request_id: callersIdOf(request),
        ...labels,
        duration_ms: Math.round(elapsedTime * 10) / 10,
        workspace: request.context?.workspace?.name,
        trace_id: request.span?.traceId,
      },
      "request",
    );
  };
  // With a callback, not a promise: it runs for every request.
  server.addHook("onResponse", (request, reply, done) => {
    note(request, reply);
    done();
  });
}

/** The outcome for the items of a request, for every endpoint. */
interface Verdicts {
  readonly accepted: number;
  /** Rejected or skipped. */
  readonly rejected: readonly GivenNote[];
}

function verdictsOf({ body, notes = [] }: FastifyRequest, { statusCode }: FastifyReply): Verdicts {
  const lists = itemListsOf(body);
  const rejected = notes.length === 0 ? [] : [...notesOnItems(lists, notes).values()];
  const items = sum(lists.map(([, { length }]) => length));
  return { accepted: isRefusal(statusCode) ? 0 : items - rejected.length, rejected };
}

function countItems(traffic: Traffic, workspaceId: number, { accepted, rejected }: Verdicts): void {
  if (accepted > 0) traffic.items(workspaceId, "accepted", accepted);
  if (rejected.length === 0) return;
  traffic.items(workspaceId, "rejected", rejected.length);
  for (const { code } of rejected) if (code !== undefined) traffic.rejection(workspaceId, code);
}

function endingOf(status: number): Ending {
  if (!isRefusal(status)) return "served";
  if (status === STATUS_OF.RATE_LIMITED) return "throttled";
  return status < STATUS_OF.INTERNAL ? "refused" : "failed";
}

/** A request with what became of it, as a test wants to know it. */
export interface ReceivedRequest {
  /** The `X-Request-Id` that its caller gave it. */
  readonly callersId: string | undefined;
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: unknown;
  readonly status: number;
  readonly workspace: string | undefined;
}

/** Calls `onReceived` for each request once its response has been sent. */
export function reportRequests(
  server: FastifyInstance,
  onReceived: (received: ReceivedRequest) => void,
): void {
  server.addHook("onResponse", async (request, { statusCode: status }) => {
    const { method, query, body, context } = request;
    onReceived({
      callersId: callersIdOf(request),
      method,
      path: request.url.split("?", 1)[0] ?? "",
      query: { ...(query as Record<string, unknown>) },
      body,
      status,
      workspace: context?.workspace?.name,
    });
  });
}

/** A request of an API key with what became of it. */
export interface AnsweredRequest {
  readonly workspace: { readonly id: number };
  readonly key: { readonly id: string; readonly name: string };
  readonly method: string;
  /** The path without the query. It may hold identifiers of users. */
  readonly path: string;
  /** The declared path, with the names of its parameters. */
  readonly route: string;
  readonly status: number;
  readonly durationMs: number;
  /** As sent, uncompressed. */
  readonly body: Buffer | undefined;
  /** Undefined if it is long. */
  readonly response: string | undefined;
  /** The response's statements about items and about the request: the first ones, if it is long. */
  readonly notes: readonly GivenNote[];
  /** How many items were rejected or skipped. */
  readonly rejected: number;
}

/** As many as items are shown. */
const MOST_NOTES = 200;

/** Reports requests of API keys. One without a valid key belongs to no workspace. */
export function reportAnswered(
  server: FastifyInstance,
  note: (answered: AnsweredRequest) => void,
): void {
  server.addHook("onResponse", (request, reply, done) => {
    const { context, method, url, bytes, sent, notes = [] } = request;
    const { workspace, keyId } = context ?? {};
    if (workspace !== undefined && keyId !== undefined) {
      note({
        workspace,
        key: { id: keyId, name: context?.actorName ?? "" },
        method,
        path: url.split("?", 1)[0] ?? "",
        route: request.routeOptions.url ?? "",
        status: reply.statusCode,
        durationMs: reply.elapsedTime,
        body: bytes,
        response: masked(sent, contractOf(request)),
        notes: notes.slice(0, MOST_NOTES),
        rejected: verdictsOf(request, reply).rejected.length,
      });
    }
    done();
  });
}

const MASK = "••••••••";

/** A JSON text without the secrets that its endpoint declares. */
function masked(text: string | undefined, contract: Contract | undefined): string | undefined {
  const { secrets } = contract ?? {};
  if (text === undefined || secrets === undefined) return text;
  return JSON.stringify(JSON.parse(text), (name, value) => (secrets.includes(name) ? MASK : value));
}

const SAME_TROUBLE_MS = 5_000;

/** More kinds of trouble than there are. */
const MOST_TROUBLES = 100;

/**
 * Logs what went wrong on our side. A bug is told each time, with its stack. That the database cannot be used is told once
 * in a while for each of its codes, with how many requests have failed since: the line of each request has its status.
 */
export function createFailureLog(log: Logger) {
  const told = new Map<string, { at: number; since: number }>();
  return (request: FastifyRequest, problem: Problem): void => {
    const { cause } = problem.details;
    if (STATUS_OF[problem.code] < 500 || !cause) return;
    const { stack, ...described } = describeError(cause);
    const line = {
      request_id: request.id,
      trace_id: request.span?.traceId,
      route: request.routeOptions.url,
      ...described,
    };
    if (problem.code === "INTERNAL") {
      log.error({ ...line, stack }, "request failed");
      return;
    }
    const trouble = described.code ?? described.error;
    const before = told.get(trouble);
    const now = performance.now();
    if (before && now - before.at < SAME_TROUBLE_MS) {
      before.since++;
      return;
    }
    if (told.size >= MOST_TROUBLES) told.clear();
    told.set(trouble, { at: now, since: 0 });
    log.error({ ...line, ...(before && { like_it_before: before.since }) }, "request failed");
  };
}
