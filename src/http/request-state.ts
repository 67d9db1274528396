import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Company } from "../access/company.ts";
import type { Workspace } from "../access/workspace.ts";
import type { Contract } from "./endpoint.ts";
import type { Room } from "./load.ts";

/* What is known of a request on its way through the server. */

declare module "fastify" {
  interface FastifyRequest {
    /** On whose behalf the request runs; set once the key is checked. */
    workspace: Workspace | undefined;
    /** The same where a SCIM token was shown. */
    company: Company | undefined;
    /** The name of the key or the token that was shown. */
    keyName: string | undefined;
    /** The body as it was sent. */
    bytes: Buffer | undefined;
    /** What the request takes of what the server can hold. */
    room: Room | undefined;
  }
}

/** Tells the framework, so that every request has these members from its beginning. */
export function declareRequestState(server: FastifyInstance): void {
  server.decorateRequest("workspace", undefined);
  server.decorateRequest("company", undefined);
  server.decorateRequest("keyName", undefined);
  server.decorateRequest("bytes", undefined);
  server.decorateRequest("room", undefined);
}

/** The declaration that a request is answered by; undefined where it belongs to none. */
export const contractOf = (request: FastifyRequest): Contract | undefined =>
  (request.routeOptions.config as { contract?: Contract }).contract;
