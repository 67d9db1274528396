import { type Call, exampleOf, type Json } from "./calls.ts";

/* Samples of a call: with rapport-client, and with curl. */

/** Where the samples send their requests; the page puts the address of its server in its place. */
const ADDRESS = "http://127.0.0.1:8080";

const CREDENTIALS: Readonly<Record<string, string>> = {
  apiKey: 'key: "YOUR_KEY"',
  scimToken: 'scim: { token: "YOUR_TOKEN", origin: "acme.example" }',
  adminToken: 'adminToken: "YOUR_ADMIN_TOKEN"',
};

/** The client's property with the operations that need a credential. */
const NAMESPACES: Readonly<Record<string, string>> = { adminToken: "admin.", scimToken: "scim." };

const contentOf = ({ body }: Call) => Object.entries(body ?? {})[0];

/** Examples of parameters; of those in the query only what is required. */
const examplesIn = ({ parameters }: Call, place: "path" | "query"): Json =>
  Object.fromEntries(
    parameters
      .filter((each) => each.in === place && (each.required || place === "path"))
      .map(({ name, example }) => [name, example]),
  );

/** @returns undefined if rapport-client does not have the call. */
export function clientSample(call: Call): string | undefined {
  if (!call.isInClient) return undefined;
  const credential = CREDENTIALS[call.credential];
  const options = [`url: "${ADDRESS}"`, ...(credential ? [credential] : [])].join(", ");
  const input: Record<string, unknown> = {};
  for (const place of ["path", "query"] as const) {
    const known = examplesIn(call, place);
    if (Object.keys(known).length > 0) input[place] = known;
  }
  const [, content] = contentOf(call) ?? [];
  if (content) input.body = exampleOf(content);
  const argument = Object.keys(input).length > 0 ? literal(input) : "";
  return `import { createClient } from "rapport-client";

const rapport = createClient({ ${options} });

const answer = await rapport.${NAMESPACES[call.credential] ?? ""}${call.id}(${argument});`;
}

/** As TypeScript writes it: names that need no quotes have none. */
const literal = (value: unknown): string =>
  JSON.stringify(value, null, 2).replaceAll(/^(\s*)"([a-zA-Z_]\w*)":/gm, "$1$2:");

/** A text for a shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const HEADERS: Readonly<Record<string, readonly string[]>> = {
  apiKey: ["Authorization: Bearer YOUR_KEY"],
  scimToken: ["Authorization: Bearer YOUR_TOKEN", "X-Request-Origin: acme.example"],
  adminToken: ["Authorization: Bearer YOUR_ADMIN_TOKEN"],
};

/** The path with the examples of its parameters. */
export function examplePath(call: Call): string {
  const inPath = examplesIn(call, "path");
  const path = call.path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) =>
    encodeURIComponent(String(inPath[name] ?? name)),
  );
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(examplesIn(call, "query"))) {
    for (const each of [value].flat()) query.append(name, String(each));
  }
  return query.size > 0 ? `${path}?${query}` : path;
}

export function curlSample(call: Call): string {
  const method =
    call.method === "GET" || (call.method === "POST" && call.body) ? "" : `-X ${call.method} `;
  const lines = [`curl ${method}${quoted(ADDRESS + examplePath(call))}`];
  for (const header of HEADERS[call.credential] ?? []) lines.push(`-H ${quoted(header)}`);
  const [mediaType, content] = contentOf(call) ?? [];
  if (content) {
    const body = exampleOf(content);
    const text =
      mediaType === "application/x-www-form-urlencoded"
        ? new URLSearchParams(body as Record<string, string>).toString()
        : typeof body === "string"
          ? body
          : JSON.stringify(body, null, 2);
    lines.push(`-H ${quoted(`Content-Type: ${mediaType}`)}`, `--data-binary ${quoted(text)}`);
  }
  return lines.join(" \\\n  ");
}
