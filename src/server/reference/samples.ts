/* TypeScript samples with rapport-client, for the reference. The viewer writes those for curl, Python and Ruby. */

type Json = Record<string, unknown>;

interface Operation extends Json {
  readonly operationId: string;
  readonly parameters?: readonly Json[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Json>> };
  readonly security: readonly Json[];
}

const CREDENTIALS: Readonly<Record<string, string>> = {
  apiKey: 'key: "YOUR_KEY"',
  scimToken: 'scim: { token: "YOUR_TOKEN", origin: "acme.example" }',
  adminToken: 'adminToken: "YOUR_ADMIN_TOKEN"',
};

/** The document with a sample in every operation. */
export function withTypeScriptSamples(document: Json): Json {
  const paths = Object.entries(document.paths as Record<string, Record<string, Operation>>);
  return {
    ...document,
    paths: Object.fromEntries(
      paths.map(([path, methods]) => [
        path,
        Object.fromEntries(
          Object.entries(methods).map(([method, operation]) => [method, withSample(operation)]),
        ),
      ]),
    ),
  };
}

const withSample = (operation: Operation): Json => ({
  ...operation,
  ...(!operation["x-not-in-client"] && {
    "x-codeSamples": [{ lang: "typescript", label: "TypeScript", source: sampleOf(operation) }],
  }),
});

/** The client's property with the operations that need a credential. */
const NAMESPACES: Readonly<Record<string, string>> = { adminToken: "admin.", scimToken: "scim." };

function sampleOf(operation: Operation): string {
  const { operationId, parameters = [], requestBody, security } = operation;
  const [scheme = ""] = security.flatMap(Object.keys);
  const credential = CREDENTIALS[scheme];
  const options = ["url: location.origin", ...(credential ? [credential] : [])].join(", ");
  const input: Json = {};
  for (const place of ["path", "query"]) {
    const known = parameters.filter(
      (each) => each.in === place && (each.required || place === "path"),
    );
    if (known.length > 0) {
      input[place] = Object.fromEntries(known.map(({ name, example }) => [name, example]));
    }
  }
  const [content] = Object.values(requestBody?.content ?? {});
  if (content) input.body = exampleIn(content);
  const argument = Object.keys(input).length > 0 ? literal(input) : "";
  return `import { createClient } from "rapport-client";

const rapport = createClient({ ${options} });

const answer = await rapport.${NAMESPACES[scheme] ?? ""}${operationId}(${argument});
`;
}

function exampleIn({ example, examples }: Json): unknown {
  if (example !== undefined) return example;
  return Object.values((examples ?? {}) as Record<string, { value: unknown }>)[0]?.value;
}

/** As TypeScript writes it: names that need no quotes have none. */
const literal = (value: unknown): string =>
  JSON.stringify(value, null, 2).replaceAll(/^(\s*)"([a-zA-Z_]\w*)":/gm, "$1$2:");
