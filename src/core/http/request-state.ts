import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Context } from "../base/context/context.ts";
import type { RequestSpan } from "../base/observe/tracing.ts";
import type { GivenNote } from "../base/verdicts.ts";
import type { Caller } from "./callers.ts";
import type { Contract } from "./endpoint.ts";
import type { Room } from "./load.ts";

/* Facts about a request on its way through the server. */

/** The context of a handler, for every kind of access. */
export type RequestContext = Context & Caller;

declare module "fastify" {
  interface FastifyRequest {
    /** Who acts and where; set once the caller is identified. */
    context: RequestContext | undefined;
    /** The body as sent. */
    bytes: Buffer | undefined;
    /** The request's share of the server's pools. */
    room: Room | undefined;
    /** The body of the response, if it is a short text. */
    sent: string | undefined;
    notes: readonly GivenNote[] | undefined;
    /** Its place in a trace; undefined if there are none. */
    span: RequestSpan | undefined;
  }
}

/** Declares these members to the framework, so that every request has them from the start. */
export function declareRequestState(server: FastifyInstance): void {
  server.decorateRequest("context", undefined);
  server.decorateRequest("bytes", undefined);
  server.decorateRequest("room", undefined);
  server.decorateRequest("sent", undefined);
  server.decorateRequest("notes", undefined);
  server.decorateRequest("span", undefined);
}

/** The declaration that a request is answered by; undefined if it belongs to none. */
export const contractOf = (request: FastifyRequest): Contract | undefined =>
  (request.routeOptions.config as { contract?: Contract }).contract;
