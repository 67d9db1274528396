import type { FastifyInstance } from "fastify";
import { Problem } from "../problem.ts";
import { type Dialect, type Endpoint, pathsOf } from "./endpoint.ts";

/* Requests that belong to no endpoint: the dialect of their errors, and methods that a path does not take. */

/**
 * The dialect of an error that belongs to no endpoint (an unknown path or method, a URL that cannot be
 * read): that of the endpoints below the same first step of the path, where they all have one.
 */
export function dialectByPath(endpoints: readonly Endpoint<never>[]): (url: string) => Dialect {
  const firstStep = (path: string) => path.split(/[/?]/, 2)[1] ?? "";
  const dialects = new Map<string, Set<Dialect>>();
  for (const { contract } of endpoints) {
    for (const path of pathsOf(contract)) {
      const known = dialects.get(firstStep(path)) ?? new Set();
      dialects.set(firstStep(path), known.add(contract.dialect ?? "message"));
    }
  }
  return (url) => {
    const [only = "message", other] = dialects.get(firstStep(url)) ?? [];
    return other === undefined ? only : "message";
  };
}

/** A path that exists responds with 405 and `Allow` to a method that it does not take. */
export function refuseOtherMethods(
  server: FastifyInstance,
  endpoints: readonly Endpoint<never>[],
): void {
  const known = new Map<string, Set<string>>();
  for (const { contract } of endpoints) {
    for (const path of pathsOf(contract)) {
      const methods = known.get(path) ?? new Set();
      methods.add(contract.method);
      if (contract.method === "GET") methods.add("HEAD");
      known.set(path, methods);
    }
  }
  for (const [url, methods] of known) {
    const others = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"].filter(
      (method) => !methods.has(method),
    );
    server.route({
      method: others as ("GET" | "POST")[],
      url,
      onRequest: async (_request, reply) => {
        reply.header("allow", [...methods].join(", "));
        throw new Problem(
          "METHOD_NOT_ALLOWED",
          `This path takes ${[...methods].filter((method) => method !== "HEAD").join(", ")}.`,
        );
      },
      handler: async () => {},
    });
  }
}
