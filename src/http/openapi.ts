import type { TSchema } from "typebox";
import Type from "typebox";
import { type Contract, type Dialect, pathsOf } from "./endpoint.ts";
import { MEDIA_TYPE_OF } from "./respond.ts";

const Message = Type.Object({ message: Type.String() });

const ERROR_OF: Readonly<Record<Dialect, TSchema>> = {
  message: Message,
  "message-and-errors": Message,
  scim: Type.Object({
    schemas: Type.Array(Type.String()),
    scimType: Type.Optional(Type.String()),
    detail: Type.String(),
    status: Type.Integer(),
  }),
  translations: Type.Object({
    errors: Type.Array(Type.Object({ message: Type.String(), code: Type.String() })),
  }),
  page: Type.String(),
};

const SECURITY = {
  key: [{ apiKey: [] }],
  scim: [{ scimToken: [] }],
  administrator: [{ adminToken: [] }],
  anybody: [],
} as const;

/** The OpenAPI 3.1 document of the endpoints, made from their declarations alone. */
export function openApiDocument(contracts: readonly Contract[]): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const contract of contracts) {
    for (const path of pathsOf(contract)) {
      const template = path.replaceAll(/:(\w+)/g, "{$1}");
      paths[template] = {
        ...paths[template],
        [contract.method.toLowerCase()]: operationOf(contract),
      };
    }
  }
  return {
    openapi: "3.1.0",
    info: { title: "Rapport", version: "1" },
    paths,
    components: {
      securitySchemes: {
        apiKey: { type: "http", scheme: "bearer", description: "An API key of a workspace." },
        scimToken: { type: "http", scheme: "bearer", description: "A SCIM token of the company." },
        adminToken: { type: "http", scheme: "bearer", description: "The administrator's token." },
      },
    },
  };
}

function operationOf(contract: Contract): Record<string, unknown> {
  const { access, dialect = "message" } = contract;
  const mediaType = contract.produces ?? MEDIA_TYPE_OF[dialect];
  return {
    summary: contract.summary,
    ...(access.by === "key" && { description: `Permission: \`${access.permission}\`.` }),
    security: SECURITY[access.by],
    parameters: [
      ...parametersOf(contract.params, "path"),
      ...parametersOf(contract.query, "query"),
      ...parametersOf(contract.headers, "header"),
    ],
    ...(contract.body && {
      requestBody: requestBodyOf(contract.accepts ?? [MEDIA_TYPE_OF[dialect]], contract.body),
    }),
    responses: {
      ...Object.fromEntries(
        Object.entries(contract.replies).map(([status, schema]) => [
          status,
          {
            description: "Success",
            ...(hasBody(schema) && { content: contentOf(mediaType, schema) }),
          },
        ]),
      ),
      default: {
        description: "Refused: the message says why.",
        content: contentOf(MEDIA_TYPE_OF[dialect], ERROR_OF[dialect]),
      },
    },
  };
}

const contentOf = (mediaType: string, schema: TSchema) => ({ [mediaType]: { schema } });

const hasBody = (schema: TSchema): boolean => !Type.IsUndefined(schema);

const requestBodyOf = (mediaTypes: readonly string[], schema: TSchema) => ({
  required: true,
  content: Object.fromEntries(mediaTypes.map((type) => [type, { schema }])),
});

function parametersOf(schema: TSchema | undefined, place: "path" | "query" | "header") {
  const { properties = {}, required = [] } = (schema ?? {}) as {
    properties?: Record<string, TSchema>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: place,
    required: place === "path" || required.includes(name),
    schema: property,
  }));
}
