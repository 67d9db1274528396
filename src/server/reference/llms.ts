import Type from "typebox";
import { Problem } from "../../core/base/problem.ts";
import { byAnybody, type Endpoint, endpoint } from "../../core/http/endpoint.ts";
import { GUIDE_PATH, guideText, joinedGuides, listGuides } from "./guides.ts";

/* What language models read, in the form of https://llmstxt.org: a title, a summary, and lists of links. */

const HEAD = `# Rapport

> Rapport is an open customer-engagement data server. It records events, purchases and user attributes, merges identities, stores subscription
> states, hosts preference pages, syncs from data warehouses, counts and exports segments, and serves message translations.

Calls have an API key of a workspace as \`Authorization: Bearer KEY\`, and those below /admin/v1 the admin token. A 2xx response means that the
write is committed. A response with 201 may name items that were refused, in \`errors\`.
`;

/** @param baseUrl where the reader reached the server. */
function llmsText(baseUrl: string): string {
  const link = (title: string, path: string, about: string) =>
    `- [${title}](${baseUrl}${path})${about && `: ${about}`}`;
  return `${[
    HEAD,
    "## Reference\n",
    link("OpenAPI", "/openapi.json", "every call, as an OpenAPI 3.1 document"),
    link("Manifest", "/manifest.schema.json", "the JSON Schema of a manifest"),
    link(
      "Everything as one text",
      "/llms-full.txt",
      "the guides, and all calls with a sentence each",
    ),
    "\n## Guides\n",
    ...listGuides().map(({ name, title, about }) => link(title, `${GUIDE_PATH}/${name}.md`, about)),
  ].join("\n")}\n`;
}

type Operations = Readonly<Record<string, { readonly summary?: string } | undefined>>;

/** @param document the API as an OpenAPI document. */
function llmsFullText(document: Readonly<Record<string, unknown>>): string {
  const paths = document.paths as Readonly<Record<string, Operations>>;
  const calls = Object.entries(paths).flatMap(([path, operations]) =>
    METHODS.filter((method) => operations[method] !== undefined).map(
      (method) => `- \`${method.toUpperCase()} ${path}\`: ${operations[method]?.summary ?? ""}`,
    ),
  );
  return `${HEAD}\n${joinedGuides("#")}\n\n# All calls\n\n${calls.join("\n")}\n`;
}

const METHODS = ["get", "put", "post", "patch", "delete"];

/** The texts for language models, and each guide by itself. @param document the API as an OpenAPI document. */
export function readingEndpoints(
  document: () => Readonly<Record<string, unknown>>,
): Endpoint<object>[] {
  let fullText: Buffer | undefined;
  const full = () => {
    fullText ??= Buffer.from(llmsFullText(document()));
    return fullText;
  };
  return [
    endpoint({
      name: "getLlmsText",
      method: "GET",
      path: "/llms.txt",
      summary: "What a language model can read about Rapport, as https://llmstxt.org has it.",
      access: byAnybody,
      produces: "text/plain",
      replies: { 200: Type.String() },
    }).handledBy(async (_services, _context, { baseUrl }) => ({
      status: 200,
      body: llmsText(baseUrl),
    })),
    endpoint({
      name: "getLlmsFullText",
      method: "GET",
      path: "/llms-full.txt",
      summary: "The guides and a list of all calls as one Markdown text.",
      access: byAnybody,
      produces: "text/plain",
      replies: { 200: Type.String() },
    }).handledBy(async () => ({ status: 200, body: "", bytes: full() })),
    endpoint({
      name: "getGuide",
      method: "GET",
      path: `${GUIDE_PATH}/:guide`,
      summary: "A guide as Markdown.",
      access: byAnybody,
      params: Type.Object({ guide: Type.String() }),
      produces: "text/plain",
      refusals: ["NOT_FOUND"],
      replies: { 200: Type.String() },
    }).handledBy(async (_services, _context, { params }) => {
      const body = guideText(params.guide);
      if (body === undefined) throw new Problem("NOT_FOUND", "There is no such guide.");
      return { status: 200, body };
    }),
  ];
}
