import type { TSchema } from "typebox";
import Type from "typebox";
import { pascalCase } from "../../core/base/values/pascal-case.ts";
import type { ReferencePart } from "../../core/feature.ts";
import {
  type AdministratorAccess,
  type Contract,
  type Dialect,
  pathsOf,
} from "../../core/http/endpoint.ts";
import { isRefusal, MEDIA_TYPE_OF } from "../../core/http/respond.ts";
import { exampleOf } from "./examples.ts";
import { FIELD_NOTES } from "./field-notes.ts";
import { honoursIdempotencyKey, isPassing, refusalResponse, refusalsByStatus } from "./refusals.ts";
import { type Components, newComponents, published } from "./schemas.ts";
import { TAGS, tagOf } from "./tags.ts";

/* An OpenAPI 3.1 document. Everything in it follows from the declarations of the endpoints. */

type Json = Record<string, unknown>;

interface DocumentHead {
  readonly title: string;
  readonly summary: string;
  /** Markdown. */
  readonly about: string;
  readonly webhooks?: (components: Components) => Json;
}

const SECURITY_SCHEMES = {
  apiKey: {
    type: "http",
    scheme: "bearer",
    description: "An API key of a workspace. The first start prints one for the demo workspace.",
  },
  scimToken: { type: "http", scheme: "bearer", description: "A SCIM token of the company." },
  requestOrigin: {
    type: "apiKey",
    in: "header",
    name: "X-Request-Origin",
    description: "The service origin that the SCIM token is declared with.",
  },
  adminToken: {
    type: "http",
    scheme: "bearer",
    description:
      "The administrator's token: `ADMIN_TOKEN`, or the file `admin-token` in the data folder.",
  },
  session: {
    type: "apiKey",
    in: "cookie",
    name: "rapport-session",
    description:
      "The session of the dashboard; over https the cookie is `__Host-rapport-session`. Requests that change " +
      "something need the header `X-CSRF-Token` as well: see `GET /dashboard/session`.",
  },
} as const;

const SECURITY = {
  key: [{ apiKey: [] }],
  scim: [{ scimToken: [], requestOrigin: [] }],
  administrator: [{ adminToken: [] }, { session: [] }],
  session: [{ session: [] }],
  anybody: [],
} as const;

const integer = (description: string, example: number) => ({
  description,
  schema: { type: "integer" },
  example,
});

const HEADERS = {
  "X-Request-Id": {
    description: "The id of the request, also in the logs; a request may bring its own.",
    schema: { type: "string" },
    example: "0d7e5a3c-7d0e-4f1b-8a5d-2b1c3d4e5f60",
  },
  "X-RateLimit-Limit": integer("How many requests the window allows.", 3000),
  "X-RateLimit-Remaining": integer("How many of them are left.", 2999),
  "X-RateLimit-Reset": integer("When the window ends, in seconds since 1970.", 1767268803),
  "Retry-After": integer("After how many seconds to try again.", 1),
  Link: {
    description: "The neighbouring pages; absent if there are none.",
    schema: { type: "string" },
    example: '</cdi/integrations?cursor=YWZ0ZXIg>; rel="next"',
  },
  Location: {
    description: "The address of the resource.",
    schema: { type: "string" },
    example: "/scim/v2/Users/3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
  },
} as const;

type HeaderName = keyof typeof HEADERS;

const headers = (...names: readonly HeaderName[]): Json =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

const IDEMPOTENCY_KEY = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description: "Makes a retry safe: with the same key the request is applied once.",
  schema: { type: "string", minLength: 1, maxLength: 255 },
  example: "order-4711-attempt",
};

/** Pages, texts, and calls of the dashboard and of the command line: programs have no use for them, and no client has them. */
const NOT_IN_CLIENT =
  /^(?:(?:show|submit|begin|finish|follow)\w+|get(?:PreferencePreview|\w*OpenApiDocument|Llms\w+|ThirdPartyNotices)|\w+EngineCopy|streamLiveRequests)$/;

const isInClient = (contract: Contract): boolean =>
  !NOT_IN_CLIENT.test(contract.name) && !pathsOf(contract)[0]?.startsWith("/dashboard/");

/** The path as OpenAPI writes it. What a `*` stands for may have several steps. */
export const templateOf = (path: string): string =>
  path.replaceAll(/:(\w+)/g, "{$1}").replace("*", "{path}");

/**
 * A document of these endpoints. An endpoint with several spellings of its path has its name at
 * the first; the others have names of their own, and the client leaves them out.
 */
export function openApiDocument(
  { title, summary, about, webhooks }: DocumentHead,
  contracts: readonly Contract[],
  reference: readonly ReferencePart[],
  version: string,
): Json {
  const components = newComponents();
  const responses = new Map<string, Json>();
  const paths: Record<string, Json> = {};
  const used = new Set<string>();
  for (const contract of contracts) {
    const [path = "", ...others] = pathsOf(contract).map(templateOf);
    const method = contract.method.toLowerCase();
    const tag = tagOf(contract, reference);
    used.add(tag);
    const operation = operationOf(components, responses, contract, { tag, otherPaths: others });
    paths[path] = { ...paths[path], [method]: at(path, operation) };
    for (const other of others) {
      const same = {
        ...at(other, operation),
        operationId: `${contract.name}At${pascalCase(other)}`,
        "x-not-in-client": true,
        description: `The same as \`${contract.method} ${path}\`.`,
      };
      paths[other] = { ...paths[other], [method]: same };
    }
  }
  const body = { paths, ...(webhooks && { webhooks: webhooks(components) }) };
  const named = { schemas: sorted(components.schemas), responses: sorted(responses) };
  const text = JSON.stringify([body, named]);
  const usedOf = (all: Json, mark: (name: string) => string): Json =>
    Object.fromEntries(Object.entries(all).filter(([name]) => text.includes(mark(name))));
  return {
    openapi: "3.1.0",
    info: {
      title,
      version,
      summary,
      description: about,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/", description: "This server." }],
    tags: TAGS.filter(({ name }) => used.has(name)),
    ...body,
    components: {
      securitySchemes: usedOf(SECURITY_SCHEMES, (name) => `"${name}":[]`),
      headers: usedOf(HEADERS, (name) => `#/components/headers/${name}"`),
      parameters: usedOf({ IdempotencyKey: IDEMPOTENCY_KEY }, (name) => `/parameters/${name}"`),
      ...named,
    },
  };
}

/** The operation at one spelling of its path, which may not have every parameter. */
function at(path: string, { parameters = [], ...operation }: Json & { parameters?: Json[] }): Json {
  const inPath = parameters.filter((each) => each.in !== "path" || path.includes(`{${each.name}}`));
  return { ...operation, ...(inPath.length > 0 && { parameters: inPath }) };
}

const sorted = (map: ReadonlyMap<string, Json>): Json =>
  Object.fromEntries([...map].sort(([a], [b]) => (a < b ? -1 : 1)));

function operationOf(
  components: Components,
  responses: Map<string, Json>,
  contract: Contract,
  { tag, otherPaths }: { readonly tag: string; readonly otherPaths: readonly string[] },
): Json & { parameters?: Json[] } {
  const { access, dialect = "message", params, query, headers: read } = contract;
  const parameters = [
    ...parametersOf(components, params, "path"),
    ...parametersOf(components, query, "query"),
    ...parametersOf(components, read, "header"),
    ...(honoursIdempotencyKey(contract)
      ? [{ $ref: "#/components/parameters/IdempotencyKey" }]
      : []),
  ];
  return {
    operationId: contract.name,
    ...(!isInClient(contract) && { "x-not-in-client": true }),
    tags: [tag],
    summary: contract.summary,
    description: [
      contract.description,
      access.by === "key" && `Permission: \`${access.permission}\`.`,
      access.by === "administrator" &&
        `Needs the administrator's token, or a session of the dashboard with ${permissionsOf(access)}.`,
      otherPaths.length > 0 &&
        `Also served at ${otherPaths.map((each) => `\`${each}\``).join(", ")}.`,
    ]
      .filter(Boolean)
      .join("\n\n"),
    security: SECURITY[access.by],
    ...(parameters.length > 0 && { parameters }),
    ...(contract.body && {
      requestBody: requestBodyOf(components, contract, contract.body, dialect),
    }),
    responses: {
      ...successesOf(components, contract, dialect),
      ...refusedOf(components, responses, contract, dialect),
    },
  };
}

const permissionsOf = ({ of, permissions }: AdministratorAccess): string =>
  permissions.map((name) => `\`${name}\``).join(" and ") +
  (of === "workspace" ? "" : " of the company");

function requestBodyOf(
  components: Components,
  contract: Contract,
  body: TSchema,
  dialect: Dialect,
): Json {
  const schema = published(components, body);
  const shown = contract.examples
    ? {
        examples: Object.fromEntries(
          Object.entries(contract.examples).map(([title, value]) => [
            title.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-"),
            { summary: title, value },
          ]),
        ),
      }
    : undefined;
  const types = contract.accepts ?? [
    dialect === "scim" ? MEDIA_TYPE_OF.scim : MEDIA_TYPE_OF.message,
  ];
  return {
    required: true,
    content: Object.fromEntries(
      types.map((type) => [
        type,
        IS_FORM.test(type) ? FORM : { schema, ...(shown ?? { example: exampleIn(type, body) }) },
      ]),
    ),
  };
}

const IS_FORM = /^(?:application\/x-www-form-urlencoded|multipart\/form-data)$/;

/** The fields of a form: generators encode them, and write no valid code for a form that is a text. */
const FORM = {
  schema: { type: "object", additionalProperties: { type: "string" } },
  example: { email_global_state: "opted_in" },
};

/** Bodies that are texts. */
const EXAMPLE_OF_MEDIA: Readonly<Record<string, string>> = {
  "text/html": "<!doctype html><title>Email preferences</title>…",
  "text/csv": "id,source,es-MX\r\nid_0,Hello,Hola\r\n",
  "text/plain": "# Rapport …",
};

const XLIFF =
  '<?xml version="1.0" encoding="UTF-8"?><xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">…</xliff>';

const exampleIn = (mediaType: string, schema: TSchema): unknown =>
  EXAMPLE_OF_MEDIA[mediaType] ?? (mediaType.endsWith("xml") ? XLIFF : exampleOf(schema));

function successesOf(components: Components, contract: Contract, dialect: Dialect): Json {
  const mediaType = contract.produces ?? MEDIA_TYPE_OF[dialect];
  const isLimited = contract.access.by === "key" || contract.access.by === "scim";
  const names: HeaderName[] = ["X-Request-Id"];
  if (isLimited) names.push("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset");
  if (contract.path.toString().startsWith("/cdi") && contract.method === "GET") names.push("Link");
  if (contract.access.by === "scim" && contract.method === "POST") names.push("Location");
  const successes = Object.entries(contract.replies).filter(
    ([status]) => !isRefusal(Number(status)),
  );
  return Object.fromEntries(
    successes.map(([status, schema]) => [
      status,
      {
        description: MEANING_OF_SUCCESS[status] ?? "Success.",
        headers: headers(...names),
        ...(!Type.IsUndefined(schema) && {
          content: {
            [mediaType]: {
              schema: published(components, schema),
              example: exampleIn(mediaType, schema),
            },
          },
        }),
      },
    ]),
  );
}

const MEANING_OF_SUCCESS: Readonly<Record<string, string>> = {
  200: "Done.",
  201: "Done and committed.",
  202: "Accepted.",
  204: "Done; there is no body.",
  301: "It moved: see `Location`.",
  303: "Done; the browser continues on another page.",
};

/** A refusal that several operations share is a component. */
function refusedOf(
  components: Components,
  responses: Map<string, Json>,
  contract: Contract,
  dialect: Dialect,
): Json {
  const entries = [...refusalsByStatus(contract)].sort(([a], [b]) => a - b);
  return Object.fromEntries(
    entries.map(([status, codes]) => {
      const refusal = refusalResponse(dialect, status, codes);
      const schema = contract.replies[status] ?? refusal.schema;
      const response = {
        description: refusal.description,
        headers: headers(
          "X-Request-Id",
          ...(codes.some(isPassing) ? (["Retry-After"] as const) : []),
        ),
        content: {
          [refusal.mediaType]: {
            schema: published(components, schema),
            example: contract.replies[status] ? exampleOf(schema) : refusal.example,
          },
        },
      };
      const name = [...codes].sort().map(camel).join("Or") + SUFFIX_OF[dialect];
      if (contract.replies[status]) return [status, response];
      responses.set(name, response);
      return [status, { $ref: `#/components/responses/${name}` }];
    }),
  );
}

const SUFFIX_OF: Readonly<Record<Dialect, string>> = {
  message: "",
  "message-and-errors": "",
  scim: "InScim",
  translations: "InTranslations",
  page: "AsPage",
};

const camel = (code: string): string =>
  code
    .split("_")
    .map((word) => word.charAt(0) + word.slice(1).toLowerCase())
    .join("");

function parametersOf(
  components: Components,
  schema: TSchema | undefined,
  place: "path" | "query" | "header",
): Json[] {
  const { properties = {}, required = [] } = (schema ?? {}) as {
    properties?: Record<string, TSchema>;
    required?: string[];
  };
  return Object.entries(properties).map(([key, property]) => {
    const name = key === "*" ? "path" : key;
    const { description, ...shown } = published(components, property, name);
    const isWorkspace = place === "path" && name === "name";
    return {
      name,
      in: place,
      required: place === "path" || required.includes(name),
      description: isWorkspace
        ? "The name of the workspace."
        : (description ?? FIELD_NOTES.get(name)?.description),
      schema: shown,
      example: isWorkspace ? "demo" : exampleOf(property, name),
      // Clients write lists with brackets, too.
      ...(shown.type === "array" && { style: "form", explode: true }),
    };
  });
}
