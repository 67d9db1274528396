import type { FastifyRequest } from "fastify";
import { Problem } from "../base/problem.ts";
import { type Database, within, withRetries } from "../database/database.ts";
import type { Contract, Input, Reply } from "./endpoint.ts";
import { ANSWERS_OF_COMPANY, type Idempotency, type KeyOwner } from "./idempotency.ts";
import { problemReply, STATUS_OF } from "./respond.ts";

export type AnswerServices = { readonly database: Database; readonly idempotency: Idempotency };

/** Runs the handler, with an `Idempotency-Key` at most once. */
export async function answerOnce<Services extends AnswerServices>(
  services: Services,
  contract: Contract,
  request: FastifyRequest,
  run: (services: Services, claim?: Input<Contract>["idempotency"]) => Promise<Reply>,
): Promise<Reply> {
  const scope = scopeOf(contract, request);
  const onlyReads =
    contract.method === "GET" || contract.idempotency === "ignored" || isDryRun(request);
  const claim =
    scope && !onlyReads
      ? services.idempotency.claimOf(request.headers["idempotency-key"], {
          method: request.method,
          url: request.url,
          body: request.bytes,
        })
      : undefined;
  if (!scope || !claim) return run(services);
  const { database, idempotency } = services;
  const record = (reply: Reply) =>
    database.transaction((tx) => idempotency.record(tx, scope, [{ claim, reply }]));

  return idempotency.once(scope, claim, async () => {
    try {
      if (contract.idempotency === "handler") return await run(services, claim);
      return await withRetries(database, async (tx) => {
        const reply = await run({ ...services, database: within(database, tx) });
        await idempotency.record(tx, scope, [{ claim, reply }]);
        return reply;
      });
    } catch (error) {
      // A refusal is a response too. It changed nothing, so its record needs no other transaction.
      if (!(error instanceof Problem) || !isAnswer(error)) throw error;
      const reply = problemReply(error, contract.dialect);
      await record(reply);
      return reply;
    }
  });
}

/** A preview changes nothing and shows users as they are: its response is not recorded. */
export const isDryRun = ({ body }: FastifyRequest): boolean =>
  typeof body === "object" && body !== null && "dry_run" in body && body.dry_run === true;

/** The owner of the keys. Administrators and anonymous callers have none. */
function scopeOf({ access }: Contract, { context }: FastifyRequest): KeyOwner | undefined {
  if (access.by === "key") return context?.workspace;
  return access.by === "scim" ? ANSWERS_OF_COMPANY : undefined;
}

/** 429 and 5xx are not recorded, so that a retry runs. */
const isAnswer = (problem: Problem): boolean =>
  STATUS_OF[problem.code] < 500 && problem.code !== "RATE_LIMITED";
