import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import findMyWay from "find-my-way";
import { Problem } from "../base/problem.ts";
import { nearestTo } from "../base/values/nearest.ts";
import { type Dialect, type Endpoint, pathsOf } from "./endpoint.ts";

/* Requests that belong to no endpoint: the dialect of their errors, and methods that a path does not take. */

/**
 * The dialect of an error that belongs to no endpoint (an unknown path or method, an unreadable
 * URL): the dialect that all endpoints below the same first step of the path share, if they do.
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

/**
 * Looks paths up for every method. A route for each method that a path does not take would be two routes of three,
 * and a quarter of the time that a server takes to start.
 */
export function createUnknownRequests(
  endpoints: readonly Endpoint<never>[],
  options: { readonly maxParamLength: number },
) {
  const known = methodsByPath(endpoints);
  const router = findMyWay(options);
  for (const [path, methods] of known) router.on("GET", path, () => {}, methods);
  return {
    /**
     * 405 and `Allow` for a path that takes other methods, 404 for any other and for a path with an empty parameter;
     * undefined for a request that has a route.
     */
    refuse({ is404, url, params }: FastifyRequest, reply: FastifyReply) {
      if (!is404) return hasEmptyParameter(params) ? nothingThere() : undefined;
      const found = router.find("GET", url.split("?", 1)[0] ?? "");
      if (found) return refuseMethod(found.store as ReadonlySet<string>, reply);
      const meant = nearestPath(url.split("?", 1)[0] ?? "", known.keys());
      return nothingThere(meant && `Did you mean ${meant}?`);
    },
    serve(server: FastifyInstance) {
      const paths = [...known].map(([path, methods]): DeclaredPath => [path.split("/"), methods]);
      for (const path of paths) {
        const [steps, methods] = path;
        const general = methodsOfGeneral(path, paths);
        if (general.length === 0) continue;
        server.route({
          method: general as "GET"[],
          url: steps.join("/"),
          onRequest: (_request, reply, done) => done(refuseMethod(methods, reply)),
          handler: async () => {},
        });
      }
    },
  };
}

const NOTHING = "There is nothing at this path.";

const nothingThere = (hint = "") =>
  new Problem("NOT_FOUND", `${NOTHING} ${hint}`.trim(), {
    page: {
      heading: NOTHING,
      text: hint || "Check the address.",
      locale: "en",
      direction: "ltr",
      link: { path: "/", text: "To the start page of this server" },
    },
  });

/** Whether a browser opens a page: its `Accept` begins with text/html, that of scripts and clients does not. */
export const opensPage = ({ method, headers }: FastifyRequest): boolean =>
  (method === "GET" || method === "HEAD") &&
  /^\s*text\/html\s*(?:[;,]|$)/i.test(headers.accept ?? "");

/** An id that was left out names nothing; the rest of a path (`*`) may be empty. */
function hasEmptyParameter(params: unknown): boolean {
  for (const name in params as Record<string, string>) {
    if ((params as Record<string, string>)[name] === "" && name !== "*") return true;
  }
  return false;
}

/** The longest step of a path that is checked for a misspelling. */
const LONGEST_STEP = 60;

/** The declared path that differs from this one in the spelling of one step. */
function nearestPath(given: string, declared: Iterable<string>): string | undefined {
  const steps = given.split("/");
  for (const path of declared) {
    const others = path.split("/");
    if (others.length !== steps.length) continue;
    const differing = others.filter((step, i) => step !== steps[i] && !step.startsWith(":"));
    const [step = ""] = differing;
    const found = steps[others.indexOf(step)] ?? "";
    if (differing.length !== 1 || found.length > LONGEST_STEP) continue;
    if (nearestTo(found, [step])) return path;
  }
  return undefined;
}

function refuseMethod(methods: ReadonlySet<string>, reply: FastifyReply): Problem {
  reply.header("allow", [...methods].join(", "));
  const taken = [...methods].filter((method) => method !== "HEAD").join(", ");
  return new Problem("METHOD_NOT_ALLOWED", `This path takes ${taken}.`);
}

type DeclaredPath = readonly [steps: readonly string[], methods: ReadonlySet<string>];

function methodsByPath(endpoints: readonly Endpoint<never>[]): Map<string, Set<string>> {
  const known = new Map<string, Set<string>>();
  for (const { contract } of endpoints) {
    for (const path of pathsOf(contract)) {
      const methods = known.get(path) ?? new Set();
      methods.add(contract.method);
      if (contract.method === "GET") methods.add("HEAD");
      known.set(path, methods);
    }
  }
  return known;
}

/**
 * Methods that a path does not accept, and that would otherwise match a more general one: `/all` to
 * `/:id`.
 *
 * @param paths all declared ones, in steps.
 */
function methodsOfGeneral([path, methods]: DeclaredPath, paths: readonly DeclaredPath[]): string[] {
  const found = new Set<string>();
  for (const [general, others] of paths) {
    if (general === path || !covers(general, path)) continue;
    for (const method of others) if (!methods.has(method)) found.add(method);
  }
  return [...found];
}

/** Whether a declared path takes every path that another one takes. */
const covers = (general: readonly string[], path: readonly string[]): boolean =>
  general.length === path.length &&
  general.every((step, index) => step === path[index] || step.startsWith(":"));
