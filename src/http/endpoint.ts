import type { Static, TSchema } from "typebox";
import type { Company } from "../access/company.ts";
import type { Permission } from "../access/permissions.ts";
import type { Workspace } from "../access/workspace.ts";

/**
 * An endpoint is declared once: this is the declaration. The route, the validation, the permission
 * check, the rate limit, the OpenAPI document and the access tests all follow from it.
 *
 * It is declared in two steps, `endpoint(contract).handledBy(handler)`: with both in one call
 * TypeScript widens the literals of the reply and cannot check it.
 */

/**
 * Who may call: the holder of an API key with a permission, the holder of a SCIM token, the
 * administrator, or anybody.
 */
export type Access =
  | { readonly by: "key"; readonly permission: Permission }
  | { readonly by: "scim" }
  | { readonly by: "administrator" }
  | { readonly by: "anybody" };

export const withPermission = <Name extends Permission>(permission: Name) =>
  ({ by: "key", permission }) as const;

export const byScimToken = { by: "scim" } as const;

export const byAdministrator = { by: "administrator" } as const;

export const byAnybody = { by: "anybody" } as const;

/** On whose behalf a handler runs; undefined where it is nobody in particular. */
export type Subject = Workspace | Company | undefined;

type SubjectOf<Who extends Access> = Who extends { by: "key" }
  ? Workspace
  : Who extends { by: "scim" }
    ? Company
    : undefined;

type StaticOrUndefined<Schema> = Schema extends TSchema ? Static<Schema> : undefined;

/** How errors are written: see `http/respond.ts`. */
export type Dialect = "message" | "message-and-errors" | "scim" | "translations";

/** A key that makes a retry safe, with the print of the request that it came with. */
export interface IdempotencyClaim {
  readonly key: string;
  readonly fingerprint: string;
}

/** By which call something is done, for what must be provable later. */
export interface Call {
  /** Method and path as they are declared, such as `POST /users/track`; or a job's name. */
  readonly name: string;
  /** In which capacity somebody calls; a job does on nobody's behalf. */
  readonly by: Access["by"] | "job";
  /** The name of the API key or the SCIM token; null where it is not the holder of one who calls. */
  readonly keyName: string | null;
  /** As it stands in `X-Request-Id`; of a job its id. */
  readonly requestId: string;
  /** The caller's IP address; behind a trusted proxy the one that it tells. Null of a job. */
  readonly address: string | null;
}

export interface Contract {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** One path, or all its spellings with the preferred one first. `:name` is a parameter. */
  readonly path: string | readonly string[];
  /** One sentence for the documentation. */
  readonly summary: string;
  readonly access: Access;
  readonly params?: TSchema;
  readonly query?: TSchema;
  readonly body?: TSchema;
  /** The body by success status. */
  readonly replies: Readonly<Record<number, TSchema>>;
  readonly dialect?: Dialect;
  /** The media types of the request's body, where it is not JSON; the body is then its text. */
  readonly accepts?: readonly [string, ...string[]];
  /** The body holds items that the handler judges one by one, so that a bad one spoils no other. */
  readonly hasItems?: true;
  /** The media type of a success, where it is not JSON; the body is then a string. */
  readonly produces?: string;
  /**
   * How an `Idempotency-Key` is honoured. `transaction` (the default for API keys and SCIM tokens): the handler
   * runs in one transaction with the record of its answer. `handler`: the handler does it itself.
   * `ignored`: the endpoint only reads, like every GET, and what it answers has to be current.
   */
  readonly idempotency?: "transaction" | "handler" | "ignored";
  /** Whether it is answered even when the server has too much to do. */
  readonly isEssential?: true;
}

export interface Input<C extends Contract> {
  readonly params: StaticOrUndefined<C["params"]>;
  readonly query: StaticOrUndefined<C["query"]>;
  readonly body: StaticOrUndefined<C["body"]>;
  readonly call: Call;
  /** There only for endpoints whose handler honours it itself. */
  readonly idempotency: IdempotencyClaim | undefined;
}

type ReplyOf<C extends Contract> = {
  [Status in keyof C["replies"]]: {
    readonly status: Status;
    readonly body: C["replies"][Status] extends TSchema ? Static<C["replies"][Status]> : never;
    readonly headers?: Readonly<Record<string, string>>;
  };
}[keyof C["replies"]];

/** An answer whose shape is not known to the compiler any more. */
export interface Reply {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Endpoint<Services> {
  readonly contract: Contract;
  readonly handler: (
    services: Services,
    subject: Subject,
    input: Input<Contract>,
  ) => Promise<Reply>;
}

export function endpoint<const C extends Contract>(contract: C) {
  return {
    handledBy<Services>(
      handler: (
        services: Services,
        subject: SubjectOf<C["access"]>,
        input: Input<C>,
      ) => Promise<ReplyOf<C>>,
    ): Endpoint<Services> {
      return { contract, handler: handler as unknown as Endpoint<Services>["handler"] };
    },
  };
}

export const pathsOf = (contract: Contract): readonly string[] =>
  typeof contract.path === "string" ? [contract.path] : contract.path;

/** Whether a body may come with it: the body of a GET is never read. */
export const takesBody = ({ method }: Contract): boolean => method !== "GET";
