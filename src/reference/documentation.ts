import Type, { type TSchema } from "typebox";
import { byAnybody, type Contract, type Endpoint, endpoint, pathsOf } from "../http/endpoint.ts";
import { escapeHtml } from "../values/escape-html.ts";
import { openApiDocument } from "./openapi.ts";
import { RAPPORT_VERSION } from "./version.ts";

/** The endpoints that describe the others, made once from their declarations. */
export function documentationEndpoints(contracts: readonly Contract[]): Endpoint<object>[] {
  const document = openApiDocument(contracts, RAPPORT_VERSION);
  const page = documentationPage(contracts);
  // They are large, need no key, and are written once: each request would otherwise take milliseconds.
  const documentBytes = Buffer.from(JSON.stringify(document));
  const pageBytes = Buffer.from(page);
  return [
    endpoint({
      method: "GET",
      path: "/openapi.json",
      summary: "The API as an OpenAPI 3.1 document.",
      access: byAnybody,
      replies: { 200: Type.Record(Type.String(), Type.Unknown()) },
    }).handledBy(async () => ({ status: 200, body: document, bytes: documentBytes })),
    endpoint({
      method: "GET",
      path: "/docs",
      summary: "The API as a page to read.",
      access: byAnybody,
      produces: "text/html",
      replies: { 200: Type.String() },
    }).handledBy(async () => ({ status: 200, body: page, bytes: pageBytes })),
  ];
}

const STYLE = `
  :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
  body { max-width: 52rem; margin: 2rem auto; padding: 0 1rem; }
  code, pre { font: 0.875rem/1.4 ui-monospace, monospace; }
  pre { overflow-x: auto; padding: 0.75rem; border: 1px solid color-mix(in srgb, currentColor 20%, transparent); border-radius: 6px; }
  summary { cursor: pointer; } section { margin: 2.5rem 0; }
  h2 { font-size: 1.1rem; margin-bottom: 0; } .method { opacity: 0.7; }
  p { margin: 0.25rem 0 0.75rem; }
`;

function documentationPage(contracts: readonly Contract[]): string {
  const sections = contracts.map(sectionOf).join("\n");
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Rapport API</title>
<meta name="viewport" content="width=device-width"><style>${STYLE}</style></head>
<body><h1>Rapport API</h1>
<p>Send <code>Authorization: Bearer KEY</code> and <code>Content-Type: application/json</code>.
The same as a machine reads it: <a href="/openapi.json">openapi.json</a>.</p>
${sections}
</body></html>`;
}

function sectionOf(contract: Contract): string {
  const paths = pathsOf(contract).map((path) => `<code>${escapeHtml(path)}</code>`);
  return `<section>
<h2><span class="method">${contract.method}</span> ${paths.join(" or ")}</h2>
<p>${escapeHtml(contract.summary)} ${whoMayCall(contract)}</p>
${schemaBlock("Query", contract.query)}${schemaBlock("Body", contract.body)}
${Object.entries(contract.replies)
  .map(([status, schema]) => schemaBlock(`Answer ${status}`, schema))
  .join("")}
</section>`;
}

function whoMayCall({ access }: Contract): string {
  if (access.by === "key") return `Permission: <code>${access.permission}</code>.`;
  if (access.by === "scim") return "Needs a SCIM token and <code>X-Request-Origin</code>.";
  return access.by === "administrator" ? "Needs the administrator's token." : "";
}

function schemaBlock(title: string, schema: TSchema | undefined): string {
  if (!schema) return "";
  const json = escapeHtml(JSON.stringify(schema, null, 2));
  return `<details><summary>${title}</summary><pre>${json}</pre></details>`;
}
