import { BASE_URL } from "../../src/server/reference/site.ts";
import { CALLS } from "./calls.ts";
import { aboutGuide, GUIDES, markdownOf } from "./guides.ts";

/* What language models read, in the form of https://llmstxt.org: a title, a summary, and lists of links. */

const HEAD = `# Rapport

> Rapport is an open customer-engagement data server. It records events, purchases and user attributes, merges identities, stores subscription
> states, hosts preference pages, syncs from data warehouses, counts and exports segments, and serves message translations.

Calls have an API key of a workspace as \`Authorization: Bearer KEY\`, and those below /admin/v1 the admin token. A 2xx response means that the
write is committed. A response with 201 may name items that were refused, in \`errors\`.
`;

const link = (title: string, path: string, about: string): string =>
  `- [${title}](${BASE_URL}${path})${about && `: ${about}`}`;

export const llmsText = (): string =>
  `${[
    HEAD,
    "## Reference\n",
    link("OpenAPI", "/openapi.json", "every public call, as an OpenAPI 3.1 document"),
    link("OpenAPI of the admin API", "/openapi-admin.json", "every call below /admin/v1"),
    link("Manifest", "/manifest.schema.json", "the JSON Schema of a manifest"),
    link(
      "Everything as one text",
      "/llms-full.txt",
      "the guides, and all calls with a sentence each",
    ),
    "\n## Guides\n",
    ...GUIDES.map((guide) => link(guide.title, `${guide.path}.md`, aboutGuide(guide))),
  ].join("\n")}\n`;

export function llmsFullText(): string {
  const calls = CALLS.map(({ method, path, summary }) => `- \`${method} ${path}\`: ${summary}`);
  return `${HEAD}\n${GUIDES.map(markdownOf).join("\n\n")}\n\n# All calls\n\n${calls.join("\n")}\n`;
}
