import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import Type from "typebox";
import { packageRoot } from "../../core/base/package-root.ts";
import { Problem } from "../../core/base/problem.ts";
import { byAnybody, type Endpoint, endpoint } from "../../core/http/endpoint.ts";
import { OfFile, replyWith } from "../pages/pages.ts";
import type { DocumentFile } from "./documents.ts";
import { landingPage } from "./landing-page.ts";
import { BASE_URL, fileOfSite } from "./site.ts";

/** The endpoints that describe the others. */
export function documentationEndpoints(): Endpoint<object>[] {
  return [
    openApiDocument("getOpenApiDocument", "openapi.json", "The public API, SCIM and the pages"),
    openApiDocument("getAdminOpenApiDocument", "openapi-admin.json", "The admin API"),
    endpoint({
      name: "showLandingPage",
      ...OPEN,
      path: "/",
      summary: "A page with a link to the reference.",
      produces: "text/html",
      replies: { 200: Type.String() },
    }).handledBy(async (_services, _context, { baseUrl }) => ({
      status: 200,
      body: landingPage(baseUrl),
    })),
    endpoint({
      name: "showReference",
      ...OPEN,
      path: ["/docs", "/docs/*"],
      summary:
        "The reference and the guides, a page each; a guide as Markdown at its address with `.md`.",
      dialect: "page",
      produces: "text/html",
      refusals: ["NOT_FOUND"],
      ...OfFile,
    }).handledBy(async (_services, _context, { params, headers }) =>
      replyWith(await fileOfSite(params["*"] ?? ""), headers),
    ),
    endpoint({
      name: "getThirdPartyNotices",
      ...OPEN,
      path: "/docs/third-party-notices",
      summary: "The licences of the works of others that this build contains.",
      produces: "text/plain",
      refusals: ["NOT_FOUND"],
      replies: { 200: Type.String() },
    }).handledBy(async () => ({ status: 200, body: readNotices(), headers: CACHED })),
    endpoint({
      name: "getLlmsText",
      ...OPEN,
      path: "/llms.txt",
      summary: "What a language model can read about Rapport, as https://llmstxt.org has it.",
      produces: "text/plain",
      refusals: ["NOT_FOUND"],
      replies: { 200: Type.String() },
    }).handledBy(async (_services, _context, { baseUrl }) => {
      const { bytes } = await fileOfSite("llms.txt");
      return { status: 200, body: bytes.toString().replaceAll(BASE_URL, baseUrl) };
    }),
    endpoint({
      name: "getLlmsFullText",
      ...OPEN,
      path: "/llms-full.txt",
      summary: "The guides and a list of all calls as one Markdown text.",
      produces: "text/plain",
      refusals: ["NOT_FOUND"],
      replies: { 200: Type.String() },
    }).handledBy(async () => {
      const { bytes } = await fileOfSite("llms-full.txt");
      return { status: 200, body: "", bytes };
    }),
  ];
}

const OPEN = { method: "GET", access: byAnybody } as const;

const CACHED = { "cache-control": "public, max-age=3600" };

/** The committed document, as it is: building it from the declarations would block all other requests for 150 ms. */
function openApiDocument(name: string, file: DocumentFile, contents: string): Endpoint<object> {
  let bytes: Buffer | undefined;
  return endpoint({
    name,
    ...OPEN,
    path: `/${file}`,
    summary: `${contents} as an OpenAPI 3.1 document.`,
    replies: { 200: Type.Record(Type.String(), Type.Unknown()) },
  }).handledBy(async () => {
    bytes ??= readFileSync(join(packageRoot(), file));
    return { status: 200, body: {}, bytes };
  });
}

const NOTICES = join(packageRoot(), "dist", "THIRD-PARTY-NOTICES");

/** @throws Problem NOT_FOUND in a clone that was only compiled. */
function readNotices(): string {
  if (existsSync(NOTICES)) return readFileSync(NOTICES, "utf8");
  throw new Problem("NOT_FOUND", "The notices are missing: npm run build.");
}
