/*
 * The description of a body and the checks of the server agree: every example is accepted, and a body that breaks
 * the description is refused with a sentence that names the field.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { TSchema } from "typebox";
import { Compile } from "typebox/compile";
import { descriptionOf } from "../../../../src/core/http/described.ts";
import { type Contract, keyOf, pathsOf } from "../../../../src/core/http/endpoint.ts";
import { ENDPOINTS } from "../../../../src/server/assembled.ts";
import { exampleOf } from "../../../../src/server/reference/examples.ts";
import { type Answer, NEWSLETTER, startOwnServer } from "../../../harness.ts";
import { pathOf, type Sample, sampleRequests, sampleWorkspace } from "../../../sample-requests.ts";
import { TOKEN } from "../../../scim-client.ts";
import { sized } from "../../../sizes.ts";
import { SPANISH } from "../../../translated-workspace.ts";

const server = await startOwnServer();
const workspace = await server.workspace(sampleWorkspace());
const samples = await sampleRequests(server, workspace);

const contracts = ENDPOINTS.map(({ contract }) => contract).filter(
  ({ body, accepts }) => body && !accepts,
);

const examplesOf = ({ examples, body }: Contract): unknown[] =>
  examples ? Object.values(examples) : [exampleOf(body as TSchema)];

async function send(contract: Contract, sample: Sample, body: unknown): Promise<Answer<any>> {
  const key = {
    key: workspace.key,
    scim: TOKEN.token,
    administrator: server.adminToken,
    session: null,
    anybody: null,
  };
  const path = pathOf(pathsOf(contract)[0] ?? "", workspace.name, sample);
  return server.send(contract.method, path, body, {
    key: key[contract.access.by],
    ...(sample.headers && { headers: sample.headers }),
  });
}

const sampleOf = async (contract: Contract): Promise<Sample> => {
  const sample = (await samples[keyOf(contract)]?.()) ?? {};
  return { ...sample, params: { ...sample.params, ...PARAMS[keyOf(contract)] } };
};

/** Members that have to equal the sample's. */
const OF_SAMPLE = ["translation_map", "into", "admin_token", "user_name", "password", "response"];

/** An example that names other things, with the ids and strings of the sample workspace. */
function withKnownIds(contract: Contract, example: unknown, sample: Sample): unknown {
  const isAboutOthers =
    /translations|messages|users\/:id\/merge|segments\/explain|export\/segment|session|passkeys/.test(
      keyOf(contract),
    );
  if (!isAboutOthers) return example;
  const known = Object.entries((sample.body ?? {}) as object).filter(
    ([name]) => name.endsWith("_id") || OF_SAMPLE.includes(name),
  );
  return { ...(example as object), ...Object.fromEntries(known) };
}

const WORKSPACE = "/admin/v1/workspaces/:name";

/** If the sample's own path names something that the example is not about. */
const PARAMS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  [`PUT ${WORKSPACE}/canvases/:id`]: { id: "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03" },
  [`PUT ${WORKSPACE}/locales/:id`]: { id: SPANISH },
};

/**
 * Bodies that are accepted though they are not described: PHP writes an empty map as an empty list.
 */
const isTolerated = (field: string, value: unknown): boolean =>
  field === "properties" && Array.isArray(value);

/** Clients know the refusals of a merge by their words, which do not name the member. */
const inKnownWords = (contract: Contract, text: string): boolean =>
  keyOf(contract) === "POST /users/merge" && text.includes("identifiers must be objects with");

/** The described parts of a schema, instead of what validation accepts there. */
function asDescribed(schema: any): any {
  if (schema === null || typeof schema !== "object") return schema;
  if (Array.isArray(schema)) return schema.map(asDescribed);
  const { describes: _, ...described } = descriptionOf(schema) as any;
  return Object.fromEntries(
    Object.entries(described).map(([key, value]) => [key, asDescribed(value)]),
  );
}

type Path = readonly (string | number)[];

/** Every place inside a value, without the value itself. */
function placesIn(value: unknown, path: Path = []): Path[] {
  if (value === null || typeof value !== "object") return [];
  return Object.entries(value).flatMap(([key, each]) => {
    const place = [...path, Array.isArray(value) ? Number(key) : key];
    return [place, ...placesIn(each, place)];
  });
}

/** A copy with another value at a place; undefined removes the member. */
function replaced(value: any, [step, ...rest]: Path, by: unknown): any {
  if (step === undefined) return by;
  const copy = Array.isArray(value) ? [...value] : { ...value };
  if (rest.length === 0 && by === undefined && !Array.isArray(value)) delete copy[step];
  else copy[step] = replaced(value[step], rest, by);
  return copy;
}

const OTHER_VALUES = [undefined, {}, [], true, 4711, "neither this nor that", "x".repeat(5_000)];

interface Broken {
  readonly body: unknown;
  readonly field: string;
}

/** Copies of an example that break its schema in one place each. */
function brokenFrom(schema: TSchema, example: unknown): Broken[] {
  const validator = Compile(schema);
  return placesIn(example).flatMap((place) => {
    const field = place.filter((step) => typeof step === "string").at(-1) as string;
    const bodies = OTHER_VALUES.filter((value) => !isTolerated(field, value))
      .filter((value) => value !== undefined || typeof place.at(-1) === "string")
      .map((value) => replaced(example, place, value))
      .filter((body) => !validator.Check(body));
    return bodies.map((body) => ({ body, field }));
  });
}

const MOST_FOR_EACH = sized(8, 40);

/** Evenly over the whole list. */
const some = <Entry>(list: readonly Entry[]): Entry[] => {
  const step = Math.max(1, list.length / MOST_FOR_EACH);
  return Array.from(
    { length: Math.min(list.length, MOST_FOR_EACH) },
    (_, index) => list[Math.floor(index * step)] as Entry,
  );
};

describe("the described bodies", () => {
  for (const contract of contracts) {
    test(`${keyOf(contract)} accepts every example of its body`, async () => {
      for (const example of examplesOf(contract)) {
        const sample = await sampleOf(contract);
        const body = withKnownIds(contract, example, sample);
        const answer = await send(contract, sample, body);
        assert.ok(answer.status < 300, JSON.stringify({ answer: answer.body, body }));
        assert.equal(answer.body.errors, undefined, JSON.stringify(answer.body));
      }
    });

    test(`${keyOf(contract)} refuses a body that breaks its description, naming the field`, async () => {
      const schema = asDescribed(contract.body);
      const sample = await sampleOf(contract);
      const broken = examplesOf(contract).flatMap((each) =>
        brokenFrom(schema, withKnownIds(contract, each, sample)),
      );
      for (const { body, field } of some(broken)) {
        const answer = await send(contract, sample, body);
        const text = JSON.stringify(answer.body);
        const shown = `${answer.status} ${text} to ${JSON.stringify(body)?.slice(0, 2_000)}`;
        // If other items are accepted, the faulty one is in `errors`.
        const isRefused = answer.status === 400 || answer.body.errors?.length > 0;
        assert.ok(isRefused, `${field}: ${shown}`);
        assert.ok(text.includes(field) || inKnownWords(contract, text), `${field}: ${shown}`);
      }
    });
  }

  test("a group in the examples exists in test workspaces", () => {
    assert.equal(JSON.stringify(contracts.flatMap(examplesOf)).includes(NEWSLETTER), true);
  });
});
