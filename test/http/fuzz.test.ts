/*
 * Every endpoint gets requests made from its own declaration, mostly as declared and in places not:
 * every response is a declared one, and never a fault of ours.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import type { TSchema } from "typebox";
import { schemaOf } from "../../src/admin/workspaces/apply-manifest.ts";
import { type Contract, pathsOf } from "../../src/http/endpoint.ts";
import { STATUS_OF } from "../../src/http/respond.ts";
import { COMPANY_RESOURCES, ENDPOINTS, RESOURCES } from "../../src/server/app.ts";
import { TOKEN } from "../dashboard/scim/scim-client.ts";
import { type CallOptions, startOwnServer } from "../harness.ts";
import {
  pathOf,
  type Sample,
  SCIM_TOKEN,
  sampleRequests,
  sampleWorkspace,
} from "../sample-requests.ts";
import { sized } from "../sizes.ts";
import { anyValue, mutationOf, valueFor } from "./schema-arbitrary.ts";

const REQUESTS_FOR_EACH = sized(5, 25);

const server = await startOwnServer();
const workspace = await server.workspace(sampleWorkspace());
const samples = await sampleRequests(server, workspace);

/** If the administrator may change something that the others rely on. */
const adminServer = await startOwnServer();
const adminWorkspace = await adminServer.workspace(sampleWorkspace());
const adminSamples = await sampleRequests(adminServer, adminWorkspace);

const sampleOf = async (contract: Contract): Promise<Sample> => {
  const all = contract.access.by === "administrator" ? adminSamples : samples;
  return (await all[nameOf(contract)]?.()) ?? {};
};

/** The refusals that the server itself may give to any request; an endpoint declares the rest. */
const REFUSALS = new Set(Object.values(STATUS_OF).filter((status) => status < 500));

const nameOf = (contract: Contract): string => `${contract.method} ${pathsOf(contract)[0]}`;

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
function pathFor(contract: Contract, sample: Sample): fc.Arbitrary<string> {
  const [template = ""] = pathsOf(contract);
  const { name } = contract.access.by === "administrator" ? adminWorkspace : workspace;
  const real = pathOf(template, name, { ...sample, query: {} }).split(/[/?]/);
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

/** How long a stream lasts: every request that is sent here would have to wait for it. */
const AT_ONCE = "for_seconds";

function queryFor(contract: Contract): fc.Arbitrary<string> {
  const entries = Object.entries(propertiesOf(contract.query)).map(([name, schema]) =>
    name === AT_ONCE
      ? fc.constant(`${AT_ONCE}=0`)
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

function requestFor(contract: Contract, sample: Sample) {
  const schema = BODIES[nameOf(contract)] ?? contract.body;
  return fc.record({
    path: pathFor(contract, sample),
    query: queryFor(contract),
    body: schema
      ? fc.oneof(valueFor(schema), mutationOf(sample.body ?? sample.raw))
      : fc.constant(undefined),
  });
}

/** Sends it with credentials that the endpoint accepts, as JSON or as a text that it reads. */
function send({ access, accepts, method }: Contract, path: string, body: unknown) {
  const key = {
    key: workspace.key,
    scim: SCIM_TOKEN,
    administrator: adminServer.adminToken,
    session: null,
    anybody: null,
  };
  const options: CallOptions = {
    key: key[access.by],
    headers: {
      ...(access.by === "scim" && { "x-request-origin": TOKEN.service_origin }),
      ...(accepts && { "content-type": accepts[0] ?? "" }),
    },
    ...(accepts && { raw: typeof body === "string" ? body : JSON.stringify(body) }),
  };
  const target = access.by === "administrator" ? adminServer : server;
  return target.send(method, path, accepts ? undefined : body, options);
}

describe("requests generated from the declarations", { concurrency: true }, () => {
  for (const { contract } of ENDPOINTS) {
    test(`${nameOf(contract)} responds to random input with a status that it declares`, async () => {
      const declared = new Set([...Object.keys(contract.replies).map(Number), ...REFUSALS]);
      // On a busy machine it is the truth: the database took longer than it has patience.
      if (nameOf(contract) === "GET /health/ready") declared.add(STATUS_OF.UNAVAILABLE);
      const requests = requestFor(contract, await sampleOf(contract));
      await fc.assert(
        fc.asyncProperty(requests, async ({ path, query, body }) => {
          const answer = await send(contract, path + query, body);
          assert.ok(declared.has(answer.status), `${answer.status} ${JSON.stringify(answer.body)}`);
          // A session is known by its cookie, and begins only with the right token.
          const isForSession = nameOf(contract).includes("/dashboard/session");
          assert.ok(answer.status !== 401 || isForSession);
          if (answer.status >= 400 && answer.body?.message !== undefined) {
            assert.equal(typeof answer.body.message, "string");
          }
        }),
        { numRuns: REQUESTS_FOR_EACH },
      );
    });
  }
});

test("the server is healthy and accepts a request after all random input", async () => {
  const event = { external_id: "ada", name: "came", time: "2026-01-01T00:00:00Z" };
  for (const each of [server, adminServer]) {
    assert.equal((await each.send("GET", "/health/ready")).status, 200);
    const fresh = await each.workspace();
    assert.equal((await fresh.track({ events: [event] })).status, 201);
  }
});
