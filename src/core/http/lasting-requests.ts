import type { FastifyReply, FastifyRequest } from "fastify";
import { Problem, type ProblemCode } from "../base/problem.ts";
import { settleAll } from "../database/database.ts";
import type { Caller } from "./callers.ts";

/*
 * A response that lasts (a long poll, a stream, an archive, a count that somebody waits for) ends when its client hangs
 * up, and within a second after the caller's right to it is gone. All lasting requests of a caller are confirmed with
 * one question.
 */

export type LastingRequests = ReturnType<typeof createLastingRequests>;

export type Confirm = () => Promise<Pick<Caller, "workspace">>;

interface Watched {
  readonly confirm: Confirm;
  readonly workspaceId: number | undefined;
  readonly abort: (reason: unknown) => void;
}

/** Half a second, and the question itself, are within the second that docs promise. */
const CONFIRM_EVERY_MS = 500;

/** Refusals that say that the right is gone. Any other failure is asked about again. */
const ENDS: ReadonlySet<ProblemCode> = new Set(["UNAUTHENTICATED", "FORBIDDEN", "NOT_FOUND"]);

const isEnd = (error: unknown): boolean => error instanceof Problem && ENDS.has(error.code);

export function createLastingRequests() {
  /** By what the caller presents: see `presentedBy`. */
  const watched = new Map<string, Set<Watched>>();
  let isConfirming = false;

  async function confirmAll(): Promise<void> {
    if (isConfirming) return;
    isConfirming = true;
    await settleAll([...watched.values()].map(confirmOne));
    isConfirming = false;
  }

  /** Never throws. */
  async function confirmOne(requests: ReadonlySet<Watched>): Promise<void> {
    const [first] = requests;
    if (!first) return;
    try {
      const { workspace } = await first.confirm();
      for (const { workspaceId, abort } of [...requests]) {
        if (workspace?.id !== workspaceId) abort(otherWorkspace());
      }
    } catch (error) {
      if (isEnd(error)) for (const { abort } of [...requests]) abort(error);
    }
  }

  const timer = setInterval(() => void confirmAll(), CONFIRM_EVERY_MS).unref();

  return {
    /**
     * The signal of a request, aborted once it has to end; its reason is the refusal that the caller would get now.
     *
     * @param confirm identifies the caller again. @throws as the authenticator does.
     */
    watch(request: FastifyRequest, { raw }: FastifyReply, confirm: Confirm) {
      const controller = new AbortController();
      const key = presentedBy(request);
      const others = watched.get(key) ?? new Set();
      watched.set(key, others);
      const one: Watched = {
        confirm,
        workspaceId: request.context?.workspace?.id,
        abort: (reason) => controller.abort(reason),
      };
      others.add(one);
      raw.once("close", () => {
        others.delete(one);
        if (others.size === 0 && watched.get(key) === others) watched.delete(key);
        controller.abort(new Problem("REQUEST_TIMEOUT", "The client has hung up."));
      });
      return controller.signal;
    },
    stop: () => clearInterval(timer),
  };
}

/** Everything about a request that its confirmation depends on. */
const presentedBy = ({ method, url, ip, headers, routeOptions }: FastifyRequest): string =>
  JSON.stringify([
    method,
    routeOptions.url,
    url.split("?", 1)[0],
    ip,
    headers.authorization,
    headers.cookie,
  ]);

/** A workspace that was deleted and created again under its name is another one. */
const otherWorkspace = (): Problem =>
  new Problem("NOT_FOUND", "The workspace of this request was deleted.");
