import type { TSchema } from "typebox";
import Type from "typebox";
import { type Contract, pathsOf } from "./endpoint.ts";

const ErrorBody = Type.Object({ message: Type.String() });

const SECURITY = {
  key: [{ apiKey: [] }],
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
        adminToken: { type: "http", scheme: "bearer", description: "The administrator's token." },
      },
    },
  };
}

function operationOf(contract: Contract): Record<string, unknown> {
  const { access } = contract;
  return {
    summary: contract.summary,
    ...(access.by === "key" && { description: `Permission: \`${access.permission}\`.` }),
    security: SECURITY[access.by],
    parameters: [
      ...parametersOf(contract.params, "path"),
      ...parametersOf(contract.query, "query"),
    ],
    ...(contract.body && { requestBody: { required: true, content: jsonOf(contract.body) } }),
    responses: {
      ...Object.fromEntries(
        Object.entries(contract.replies).map(([status, schema]) => [
          status,
          { description: "Success", content: { [contract.produces ?? JSON_TYPE]: { schema } } },
        ]),
      ),
      default: { description: "Refused: the message says why.", content: jsonOf(ErrorBody) },
    },
  };
}

const JSON_TYPE = "application/json";

const jsonOf = (schema: TSchema) => ({ [JSON_TYPE]: { schema } });

function parametersOf(schema: TSchema | undefined, place: "path" | "query") {
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
