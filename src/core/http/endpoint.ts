import type { Static, TSchema } from "typebox";
import type {
  CompanyContext,
  Context,
  SessionContext,
  WorkspaceContext,
} from "../base/context/context.ts";
import type {
  CompanyPermission,
  WorkspacePermission,
} from "../base/context/dashboard-permissions.ts";
import type { Permission } from "../base/context/permissions.ts";
import type { Workspace } from "../base/context/workspace.ts";
import type { ProblemCode } from "../base/problem.ts";
import type { Budgets, WorkBudget } from "../base/work.ts";

/**
 * An endpoint is declared once: this is the declaration. The route, the validation, the permission
 * check, the rate limit, the OpenAPI document and the access tests all follow from it.
 *
 * It is declared in two steps, `endpoint(contract).handledBy(handler)`: with both in one call
 * TypeScript widens the literals of the reply and cannot check it.
 */

/**
 * Who may call: a caller with an API key with a permission or with a SCIM token, the administrator
 * (of the workspace that the path names as `:name`, of the company, or of the server), a person who
 * is signed in to the dashboard, or everyone.
 */
export type Access =
  | {
      readonly by: "key";
      readonly permission: Permission;
      /**
       * Refuses a workspace that does not have the endpoint, before the key's permissions are
       * checked.
       * @throws Problem
       */
      readonly refuseWithout?: (workspace: Workspace, baseUrl: string) => void;
    }
  | { readonly by: "scim" }
  | AdministratorAccess
  | { readonly by: "session" }
  | { readonly by: "anybody" };

/** The admin token may do everything; a person who is signed in needs every permission that is named. */
export type AdministratorAccess = { readonly by: "administrator" } & (
  | { readonly of: "workspace"; readonly permissions: readonly WorkspacePermission[] }
  | { readonly of: "company" | "server"; readonly permissions: readonly CompanyPermission[] }
);

export const withPermission = <Name extends Permission>(permission: Name) =>
  ({ by: "key", permission }) as const;

export const byScimToken = { by: "scim" } as const;

/**
 * Access for administrators of the server, and for dashboard users with all of these permissions in
 * the company.
 */
export const byAdministrator = (...permissions: readonly CompanyPermission[]) =>
  ({ by: "administrator", of: "server", permissions }) as const;

/** The path names the workspace as `:name`; it is resolved before the body is read. */
export const byAdministratorOfWorkspace = (...permissions: readonly WorkspacePermission[]) =>
  ({ by: "administrator", of: "workspace", permissions }) as const;

/** Access as with `byAdministrator`; the handler also gets the company. */
export const byAdministratorOfCompany = (...permissions: readonly CompanyPermission[]) =>
  ({ by: "administrator", of: "company", permissions }) as const;

export const bySession = { by: "session" } as const;

export const byAnybody = { by: "anybody" } as const;

/** The context that a handler gets, by who may call it. */
export type ContextOf<Caller extends Access> = Caller extends { by: "key" } | { of: "workspace" }
  ? WorkspaceContext
  : Caller extends { by: "scim" } | { of: "company" }
    ? CompanyContext
    : Caller extends { by: "session" }
      ? SessionContext
      : Context;

type StaticOrUndefined<Schema> = Schema extends TSchema ? Static<Schema> : undefined;

/** How errors are written: see `core/http/respond.ts`. */
export type Dialect = "message" | "message-and-errors" | "scim" | "translations" | "page";

/** A key that makes a retry safe, with the print of the request that it came with. */
export interface IdempotencyClaim {
  readonly key: string;
  readonly fingerprint: string;
}

export interface Contract {
  /** The operationId: a verb and a noun in camel case. Clients call the operation by this name. */
  readonly name: string;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** One path, or all its spellings with the preferred one first. `:name` is a parameter. */
  readonly path: string | readonly string[];
  /** One sentence for the documentation. */
  readonly summary: string;
  /** Further facts for callers, in Markdown. */
  readonly description?: string;
  /**
   * Bodies to show in the documentation, by title; each is accepted. By default one is derived from
   * the schema.
   */
  readonly examples?: Readonly<Record<string, unknown>>;
  /**
   * Further refusals of the handler, in addition to those that follow from the rest of the
   * contract.
   */
  readonly refusals?: readonly ProblemCode[];
  readonly access: Access;
  readonly params?: TSchema;
  readonly query?: TSchema;
  /** The headers that the handler looks at, in lower case; none of them is required. */
  readonly headers?: TSchema;
  readonly body?: TSchema;
  readonly replies: Readonly<Record<number, TSchema>>;
  /**
   * The members of a success that open something: links, keys, tokens. They are masked wherever requests are stored or
   * shown, and a response with them is never recorded for an `Idempotency-Key`.
   */
  readonly secrets?: readonly string[];
  readonly dialect?: Dialect;
  /** The media types of the request's body, if it is not JSON; the body is then its text. */
  readonly accepts?: readonly [string, ...string[]];
  /** The body holds items that the handler checks one by one, so that a bad one does not affect others. */
  readonly hasItems?: true;
  /** The media type of a success, if it is not JSON; the body is then a string. */
  readonly produces?: string;
  /**
   * How an `Idempotency-Key` is honoured. `transaction` (the default for API keys and SCIM tokens):
   * the handler runs in one transaction with the record of its answer. `handler`: the handler does
   * it itself. `ignored`: the endpoint only reads, like every GET, and its response must be
   * current.
   */
  readonly idempotency?: "transaction" | "handler" | "ignored";
  /**
   * A browser may send it only from Rapport's own pages. With a session this applies to every
   * endpoint.
   */
  readonly fromOwnPages?: true;
  /** Whether it is served even when the server has too much to do. */
  readonly isEssential?: true;
  /** Whether it may take longer than the deadline of requests, as an import may. */
  readonly takesLong?: true;
  /**
   * Its handler mostly waits, and limits by itself how many wait: it is not counted among running
   * requests.
   */
  readonly waits?: true;
  /**
   * The caller may wait for it for a while: `signal` is aborted once the client hangs up, and within
   * a second after the caller's right is gone. The handler of a stream needs no signal: its
   * connection is closed.
   */
  readonly lasts?: true;
  /** The limits of one request, if the defaults do not fit. */
  readonly budgets?: Partial<Budgets>;
  /** Its responses may take megabytes: they are written piece by piece. */
  readonly writesInPieces?: true;
  /** The same, and a few such requests run at a time, while workspaces take turns. */
  readonly isHeavy?: true;
  /** The body is a `TextStream`, of any length; `produces` is its media type. See `core/http/serve-endpoint.ts`. */
  readonly streams?: true;
}

/** A text body that is produced while it is sent. */
export type TextStream = AsyncGenerator<string | Uint8Array>;

export interface Input<C extends Contract> {
  readonly params: StaticOrUndefined<C["params"]>;
  readonly query: StaticOrUndefined<C["query"]>;
  readonly headers: StaticOrUndefined<C["headers"]>;
  readonly body: StaticOrUndefined<C["body"]>;
  /**
   * The address where people reach the server, without a trailing slash: `https://rapport.example`.
   */
  readonly baseUrl: string;
  /** Identifies the caller again, past all caches. @throws Problem when access was revoked. */
  readonly confirmCaller: () => Promise<Pick<Context, "person">>;
  /** See `Contract.lasts`; without that it is never aborted. Its reason is the refusal to respond with. */
  readonly signal: AbortSignal;
  /** Present only for endpoints whose handler honours it itself. */
  readonly idempotency: IdempotencyClaim | undefined;
  /** Where the handler counts its work: `spend(work, units)`. */
  readonly work: WorkBudget;
}

/** A list is sent as several headers of that name. */
export type ReplyHeaders = Readonly<Record<string, string | string[]>>;

type ReplyOf<C extends Contract> = {
  [Status in keyof C["replies"]]: {
    readonly status: Status;
    readonly body: C["replies"][Status] extends TSchema ? Static<C["replies"][Status]> : never;
    readonly headers?: ReplyHeaders;
    /** The body as sent, if it is always the same and was serialized once. */
    readonly bytes?: Buffer;
    /** Asked twice a second while a stream is sent: it is broken off once this throws a refusal. */
    readonly confirm?: () => Promise<unknown>;
  };
}[keyof C["replies"]];

/** A response whose shape the compiler no longer knows. */
export interface Reply {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: ReplyHeaders;
  readonly bytes?: Buffer;
  readonly confirm?: () => Promise<unknown>;
}

export interface Endpoint<Services> {
  readonly contract: Contract;
  readonly handler: (
    services: Services,
    context: Context,
    input: Input<Contract>,
  ) => Promise<Reply>;
}

/**
 * Declares an endpoint; `handledBy` adds its handler, whose input and reply follow from the
 * declaration.
 */
export function endpoint<const C extends Contract>(contract: C) {
  return {
    handledBy<Services>(
      handler: (
        services: Services,
        context: ContextOf<C["access"]>,
        input: Input<C>,
      ) => Promise<ReplyOf<C>>,
    ): Endpoint<Services> {
      return { contract, handler: handler as unknown as Endpoint<Services>["handler"] };
    },
  };
}

/** The reply of most endpoints: 200, with `message` as the last member of the body. */
export const success = <Body extends object = object>(body?: Body) =>
  ({ status: 200, body: { ...(body as Body), message: "success" } }) as const;

/** The paths of an endpoint, the preferred one first. */
export const pathsOf = (contract: Contract): readonly string[] =>
  typeof contract.path === "string" ? [contract.path] : contract.path;

/** `POST /users/track`: method and preferred path. */
export const keyOf = (contract: Contract): string => `${contract.method} ${pathsOf(contract)[0]}`;

/** Whether a body may come with it: the body of a GET is never read. */
export const takesBody = ({ method }: Contract): boolean => method !== "GET";
