import Type from "typebox";
import { byAnybody, type Contract, type Endpoint, endpoint } from "./endpoint.ts";
import { openApiDocument } from "./openapi.ts";

/** The endpoints that describe the others, made once from their declarations. */
export function documentationEndpoints(contracts: readonly Contract[]): Endpoint<object>[] {
  const document = openApiDocument(contracts);
  return [
    endpoint({
      method: "GET",
      path: "/openapi.json",
      summary: "The API as an OpenAPI 3.1 document.",
      access: byAnybody,
      replies: { 200: Type.Record(Type.String(), Type.Unknown()) },
    }).handledBy(async () => ({ status: 200, body: document })),
  ];
}
