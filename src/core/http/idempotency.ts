import { createHash } from "node:crypto";
import { DAY_MS, earlier } from "../base/clock.ts";
import { Problem } from "../base/problem.ts";
import type { Transaction } from "../database/database.ts";
import type { StoringServices } from "../database/storing-services.ts";
import type { IdempotencyClaim, Reply } from "./endpoint.ts";
import { deleteAnswersBefore, ERASED, insertAnswers, selectAnswer } from "./idempotency-store.ts";

/*
 * Retries that change nothing. docs/conformance.md#idempotency-key
 *
 * A request with an `Idempotency-Key` records its answer in the transaction that does its work, so
 * the two are there or gone together. A repeated request finds the answer and gets it again. There
 * is no "started" mark that a crash could leave behind: who still runs is known to the process, and
 * of two processes that run the same key at once the second to commit finds the first one's record,
 * rolls back and answers with that.
 *
 * 429 and 5xx are no answers: they are not recorded.
 */

const REMEMBERED_MS = DAY_MS;
const LONGEST_KEY = 255;

/** The owner of the keys: two owners may use the same key. */
export interface KeyOwner {
  readonly id: number;
}

/** A database holds one company, and no workspace has this id. */
export const ANSWERS_OF_COMPANY: KeyOwner = { id: 0 };

/** The key was used by another request that committed first. The transaction must be rolled back. */
export class KeyTaken extends Error {
  constructor() {
    super("An Idempotency-Key was taken by a concurrent request.");
    this.name = "KeyTaken";
  }
}

export type Idempotency = ReturnType<typeof createIdempotency>;

export interface RequestPrint {
  readonly method: string;
  readonly url: string;
  /** As sent. */
  readonly body: Uint8Array | undefined;
}

export function createIdempotency(services: StoringServices) {
  const { database, clock } = services;
  const running = new Set<string>();
  const dayAgo = () => earlier(clock.now(), { ms: REMEMBERED_MS });

  async function recorded(owner: KeyOwner, claim: IdempotencyClaim) {
    const answer = await selectAnswer(database, owner.id, claim.key, dayAgo());
    if (!answer) return undefined;
    if (answer.fingerprint !== claim.fingerprint) {
      throw new Problem(
        "IDEMPOTENCY_KEY_REUSED",
        "This Idempotency-Key was used with another request. Use a new key for a new request.",
      );
    }
    if (answer.status === ERASED) {
      throw new Problem(
        "CONFLICT",
        "This request was answered before. The response named a user who was erased since, and is not kept.",
      );
    }
    const headers = { "idempotency-replayed": "true" };
    // An answer without a body is recorded as null.
    return { status: answer.status, body: answer.body ?? undefined, headers };
  }

  return {
    /** Reads the header. @throws Problem INVALID_REQUEST when it cannot be a key. */
    claimOf(header: unknown, request: RequestPrint) {
      if (header === undefined) return undefined;
      if (typeof header !== "string" || !header || header.length > LONGEST_KEY) {
        throw new Problem("INVALID_REQUEST", "The Idempotency-Key must have 1 to 255 characters.");
      }
      return { key: header, fingerprint: fingerprintOf(request) };
    },

    /**
     * The recorded answer, or else what `run` answers; `run` must record its answer itself.
     *
     * @throws Problem CONFLICT while the same key runs, and if the response named an erased user;
     * IDEMPOTENCY_KEY_REUSED for another request.
     */
    async once(owner: KeyOwner, claim: IdempotencyClaim, run: () => Promise<Reply>) {
      const name = `${owner.id} ${claim.key}`;
      if (running.has(name)) {
        throw new Problem("CONFLICT", "A request with this Idempotency-Key is still running.");
      }
      running.add(name);
      try {
        return (await recorded(owner, claim)) ?? (await run());
      } catch (error) {
        if (!(error instanceof KeyTaken)) throw error;
        const answer = await recorded(owner, claim);
        if (!answer) throw error;
        return answer;
      } finally {
        running.delete(name);
      }
    },

    /** Records answers in the transaction that they acknowledge. @throws KeyTaken. */
    async record(
      tx: Transaction,
      owner: KeyOwner,
      answers: readonly { readonly claim: IdempotencyClaim; readonly reply: Reply }[],
    ) {
      if (answers.length === 0) return;
      const rows = answers.map(({ claim, reply }) => ({
        ...claim,
        status: reply.status,
        body: reply.body ?? null,
        namesPeople: !isAcknowledgement(reply.body),
      }));
      const kept = await insertAnswers(tx, owner.id, rows, clock.now(), dayAgo());
      if (kept.length < rows.length) throw new KeyTaken();
    },

    /** Forgets records older than a day. */
    sweep: () => deleteAnswersBefore(database.for("maintenance"), dayAgo()),
  };
}

/** Whether a body contains only counts and "success". */
const isAcknowledgement = (body: unknown): boolean =>
  Object.values(body ?? {}).every((each) => typeof each === "number" || each === "success");

function fingerprintOf(request: RequestPrint): string {
  const hash = createHash("sha256").update(`${request.method} ${request.url}\n`);
  return hash.update(request.body ?? "").digest("hex");
}
