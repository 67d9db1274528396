/* Requests made from an endpoint's own declaration: mostly as declared, and in places not. */
import fc from "fast-check";
import type { TSchema } from "typebox";
import { schemaOf } from "../../../src/core/admin/workspaces/apply-manifest.ts";
import { type Contract, keyOf, pathsOf } from "../../../src/core/http/endpoint.ts";
import { COMPANY_RESOURCES, RESOURCES } from "../../../src/server/assembled.ts";
import { pathOf, type Sample } from "../../sample-requests.ts";
import { anyValue, mutationOf, valueFor } from "./schema-arbitrary.ts";

type Text = string | number | boolean;

const propertiesOf = (schema: TSchema | undefined): Record<string, TSchema> =>
  (schema as { properties?: Record<string, TSchema> } | undefined)?.properties ?? {};

const textFor = (schema: TSchema): fc.Arbitrary<Text[]> =>
  valueFor(schema).map((value) =>
    [value]
      .flat()
      .map((each) => (typeof each === "object" ? JSON.stringify(each) : (each as Text))),
  );

/** A path segment or a query value that can be sent: a lone surrogate cannot be encoded. */
const encoded = (value: Text): string => encodeURIComponent(String(value).toWellFormed());

/** Real segments of the sample, so that most requests get past the path. */
function pathFor(contract: Contract, workspace: string, sample: Sample): fc.Arbitrary<string> {
  const [template = ""] = pathsOf(contract);
  const real = pathOf(template, workspace, { ...sample, query: {} }).split(/[/?]/);
  const segments = template.split("/").map((segment, index) =>
    segment.startsWith(":")
      ? fc.oneof(
          { weight: 5, arbitrary: fc.constant(real[index] ?? "x") },
          {
            weight: 1,
            arbitrary: anyValue.map((value) => encoded(JSON.stringify(value)) || "x"),
          },
        )
      : fc.constant(segment),
  );
  return fc.tuple(...segments).map((parts) => parts.join("/"));
}

/** How long a stream lasts or a request waits: every request that is sent here would take as long. */
const DURATIONS = new Set(["for_seconds", "wait_s"]);

function queryFor(contract: Contract): fc.Arbitrary<string> {
  const entries = Object.entries(propertiesOf(contract.query)).map(([name, schema]) =>
    DURATIONS.has(name)
      ? fc.constant(`${name}=0`)
      : fc.option(
          textFor(schema).map((values) =>
            values.map((value) => `${name}=${encoded(value)}`).join("&"),
          ),
          { nil: "" },
        ),
  );
  return fc.tuple(...entries).map((parts) => {
    const query = parts.filter(Boolean).join("&");
    return query && `?${query}`;
  });
}

/** Bodies that say more than their declaration does. */
const BODIES: Readonly<Record<string, TSchema>> = {
  "POST /admin/v1/apply": schemaOf({
    resources: RESOURCES,
    companyResources: COMPANY_RESOURCES,
  }),
};

/** Whether all requests for an endpoint are the same. */
export const isAlwaysTheSame = (contract: Contract): boolean =>
  !contract.body && !contract.accepts && !contract.query && !pathsOf(contract)[0]?.includes("/:");

export function requestsFor(contract: Contract, workspace: string, sample: Sample) {
  const schema = BODIES[keyOf(contract)] ?? contract.body;
  return fc.record({
    path: pathFor(contract, workspace, sample),
    query: queryFor(contract),
    body: schema
      ? fc.oneof(valueFor(schema), mutationOf(sample.body ?? sample.raw))
      : fc.constant(undefined),
  });
}
