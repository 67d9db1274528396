import { isUtf8 } from "node:buffer";
import { isDeepStrictEqual } from "node:util";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { Problem } from "../base/problem.ts";
import { nextTurn } from "../base/turns.ts";
import { budgetsOf } from "../base/work.ts";
import { type Contract, type Endpoint, takesBody } from "./endpoint.ts";
import { hasAtMost, parseJsonBody, tooManyValues } from "./json-body.ts";
import { parseEntries, splitEntries } from "./json-entries.ts";
import type { Load } from "./load.ts";
import { contractOf } from "./request-state.ts";
import { tooMuchLoad } from "./respond.ts";

const JSON_MEDIA_TYPE = /^application\/(?:[\w.-]+\+)?json(?:\s*;.*)?$/i;

/** Parsing more takes milliseconds, and so does checking it: others get a turn in between. */
const LARGE_BODY_BYTES = 131_072;

/** Whether parsing and checking the body takes milliseconds. */
export const isLarge = ({ bytes }: FastifyRequest): boolean =>
  bytes !== undefined && bytes.length > LARGE_BODY_BYTES;

/**
 * Teaches the server to read bodies: JSON, and the texts that an endpoint declares with `accepts`.
 * Every other media type is refused before a byte of the body is read.
 */
export function readBodies(
  server: FastifyInstance,
  endpoints: readonly Endpoint<never>[],
  load: Load,
): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser(
    JSON_MEDIA_TYPE,
    { parseAs: "buffer" },
    async (request: FastifyRequest, bytes: Buffer) => {
      request.bytes = bytes;
      // Clients that set the header on every request send a type without a body.
      const contract = contractOf(request);
      if (bytes.length === 0 && !contract?.body) return undefined;
      const { valuesIn, entriesApart } = budgetsOf(contract ?? {});
      const holds = (more: number) => !request.room || load.holdBody(request.room, more);
      const body = entriesApart
        ? await parseInTurns(bytes, valuesIn, holds)
        : parseAtOnce(bytes, valuesIn);
      if (contract && !contract.body) refuseBody(body);
      if (isLarge(request)) await nextTurn();
      return body;
    },
  );
  const texts = new Set(endpoints.flatMap(({ contract }) => contract.accepts ?? []));
  if (texts.size === 0) return;
  server.addContentTypeParser(
    [...texts],
    { parseAs: "buffer" },
    async (request: FastifyRequest, bytes: Buffer) => {
      request.bytes = bytes;
      if (isUtf8(bytes)) return bytes.toString("utf8");
      throw new Problem("INVALID_REQUEST", "The body is not UTF-8.");
    },
  );
}

function parseAtOnce(bytes: Buffer, mostValues: number): unknown {
  if (!hasAtMost(mostValues, bytes)) throw tooManyValues(mostValues);
  return parseJsonBody(bytes);
}

/** A parsed value takes about 64 bytes, and the pool of bodies counts on ten times their size (`load.ts`). */
const BODY_BYTES_OF_VALUE = 6.4;

/**
 * Parses a body in which each entry of a list may have as many values as another body altogether.
 *
 * @param holds reserves more of the memory for bodies than the bytes of this one.
 */
async function parseInTurns(
  bytes: Buffer,
  mostValues: number,
  holds: (bytes: number) => boolean,
): Promise<unknown> {
  if (hasAtMost(mostValues, bytes)) return parseJsonBody(bytes);
  const split = splitEntries(bytes, mostValues);
  if (!split) throw tooManyValues(mostValues);
  const parsedBytes = Math.ceil(split.values * BODY_BYTES_OF_VALUE);
  if (parsedBytes > bytes.length && !holds(parsedBytes - bytes.length)) throw tooMuchLoad();
  return parseEntries(bytes, split);
}

/**
 * A member of a body that is not read would be a wish that is ignored: a link for one person would sign in as
 * the administrator.
 */
function refuseBody(body: unknown): void {
  if (isDeepStrictEqual(body, {})) return;
  throw new Problem("INVALID_REQUEST", "This endpoint takes no body.");
}

/** Counts a body that was too small to be counted on its way. @returns false if there is no room. */
export function holdSmallBody(load: Load, { room, bytes }: FastifyRequest): boolean {
  if (!room || !bytes || room.bodyBytes > 0) return true;
  return load.holdBody(room, bytes.length);
}

/**
 * Refuses a body of a type that the endpoint does not take, though another one may. A missing type
 * is refused by the framework, which knows whether there is a body.
 *
 * @throws Problem UNSUPPORTED_MEDIA_TYPE
 */
export function refuseForeignBody(contract: Contract, contentType: string | undefined): void {
  if (contentType === undefined || !takesBody(contract)) return;
  const { accepts } = contract;
  const mediaType = contentType.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  if (accepts ? accepts.includes(mediaType) : JSON_MEDIA_TYPE.test(contentType)) return;
  throw new Problem(
    "UNSUPPORTED_MEDIA_TYPE",
    `The Content-Type must be ${(accepts ?? ["application/json"]).join(" or ")}.`,
  );
}
