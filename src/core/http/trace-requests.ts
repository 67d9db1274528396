import type { FastifyInstance } from "fastify";
import type { Tracing } from "../base/observe/tracing.ts";
import { contractOf } from "./request-state.ts";

/**
 * A span for each request except those for health: its route, status and workspace, no path, no query, no body. Added
 * before all other hooks, so that their statements belong to it.
 */
export function traceRequests(
  server: FastifyInstance,
  receive: NonNullable<Tracing["receive"]>,
): void {
  server.addHook("onRequest", (request, _reply, done) => {
    if (contractOf(request)?.isEssential) return done();
    const { traceparent } = request.headers;
    request.span = receive(
      request.method,
      request.routeOptions.url,
      typeof traceparent === "string" ? traceparent : undefined,
    );
    if (request.span) request.span.resume(done);
    else done();
  });
  // The following code was called by the body's last byte: the span is no longer current there.
  server.addHook("preHandler", (request, _reply, done) => {
    if (request.span) request.span.resume(done);
    else done();
  });
  server.addHook("onResponse", (request, reply, done) => {
    const workspace = request.context?.workspace?.name;
    const attributes = {
      "http.response.status_code": reply.statusCode,
      "rapport.request_id": request.id,
      ...(workspace !== undefined && { "rapport.workspace": workspace }),
    };
    request.span?.end(attributes, reply.statusCode >= 500 ? String(reply.statusCode) : undefined);
    done();
  });
}
