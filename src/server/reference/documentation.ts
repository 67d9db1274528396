import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import Type from "typebox";
import { packageRoot } from "../../core/base/package-root.ts";
import { Problem } from "../../core/base/problem.ts";
import { byAnybody, type Endpoint, endpoint } from "../../core/http/endpoint.ts";
import { joinedGuides } from "./guides.ts";
import { readingEndpoints } from "./llms.ts";
import { withTypeScriptSamples } from "./samples.ts";
import { landingPage, REFERENCE_HEADERS, REFERENCE_PAGE, REFERENCE_SCRIPT } from "./site-pages.ts";
import { readViewer } from "./viewer.ts";

/** A response as an object, and as bytes. */
interface Written {
  readonly body: Record<string, unknown>;
  readonly bytes: Buffer;
}

/** Large, and needs no key: written for the first request, because each would otherwise take milliseconds. */
function writtenOnce(write: () => Record<string, unknown>): () => Written {
  let written: Written | undefined;
  return () => {
    if (written === undefined) {
      const body = write();
      written = { body, bytes: Buffer.from(JSON.stringify(body)) };
    }
    return written;
  };
}

/** The committed document; building it from the declarations would block all other requests for 150 ms. */
const readDocument = (): Record<string, unknown> =>
  JSON.parse(readFileSync(join(packageRoot(), "openapi.json"), "utf8"));

/** The endpoints that describe the others. */
export function documentationEndpoints(): Endpoint<object>[] {
  const document = writtenOnce(readDocument);
  return [
    endpoint({
      name: "getOpenApiDocument",
      method: "GET",
      path: "/openapi.json",
      summary: "The API as an OpenAPI 3.1 document.",
      access: byAnybody,
      replies: { 200: Type.Record(Type.String(), Type.Unknown()) },
    }).handledBy(async () => ({ status: 200, ...document() })),
    ...siteEndpoints(() => document().body),
    ...readingEndpoints(() => document().body),
  ];
}

const CACHED = { "cache-control": "public, max-age=3600" };

function siteEndpoints(document: () => Record<string, unknown>): Endpoint<object>[] {
  const shown = writtenOnce(() => withTypeScriptSamples(withGuides(document())));
  let viewer: Buffer | undefined;
  const page = (name: string, path: string, summary: string) =>
    endpoint({
      name,
      method: "GET",
      path,
      summary,
      access: byAnybody,
      produces: "text/html",
      replies: { 200: Type.String() },
    });
  return [
    page("showLandingPage", "/", "A page with a link to the reference.").handledBy(
      async (_services, _context, { baseUrl }) => ({ status: 200, body: landingPage(baseUrl) }),
    ),
    page("showReference", "/docs", "The reference and the guides.").handledBy(async () => ({
      status: 200,
      body: REFERENCE_PAGE,
      headers: REFERENCE_HEADERS,
    })),
    endpoint({
      name: "getReferenceDocument",
      method: "GET",
      path: "/docs/openapi.json",
      summary: "The contents of the reference: the OpenAPI document with the guides and samples.",
      access: byAnybody,
      replies: { 200: Type.Record(Type.String(), Type.Unknown()) },
    }).handledBy(async () => ({ status: 200, ...shown() })),
    endpoint({
      name: "getReferenceScript",
      method: "GET",
      path: "/docs/start.js",
      summary: "The script of the reference's page.",
      access: byAnybody,
      produces: "text/javascript",
      replies: { 200: Type.String() },
    }).handledBy(async () => ({ status: 200, body: REFERENCE_SCRIPT })),
    endpoint({
      name: "getThirdPartyNotices",
      method: "GET",
      path: "/docs/third-party-notices",
      summary: "The licences of the works of others that this build contains.",
      access: byAnybody,
      produces: "text/plain",
      refusals: ["NOT_FOUND"],
      replies: { 200: Type.String() },
    }).handledBy(async () => ({ status: 200, body: readNotices(), headers: CACHED })),
    endpoint({
      name: "getReferenceViewer",
      method: "GET",
      path: "/docs/scalar.js",
      summary: "The viewer of the reference, packed with gzip.",
      access: byAnybody,
      produces: "text/javascript",
      refusals: ["NOT_FOUND"],
      replies: { 200: Type.String() },
    }).handledBy(async () => {
      viewer ??= readViewer();
      if (viewer === undefined) {
        throw new Problem("NOT_FOUND", "The viewer of the reference is missing: npm run build.");
      }
      const headers = { ...CACHED, "content-encoding": "gzip" };
      return { status: 200, body: "", bytes: viewer, headers };
    }),
  ];
}

const LICENCES = "# Licences\n\n[The works of others in Rapport](/docs/third-party-notices)";

const NOTICES = join(packageRoot(), "dist", "THIRD-PARTY-NOTICES");

/** @throws Problem NOT_FOUND in a clone that was only compiled. */
function readNotices(): string {
  if (existsSync(NOTICES)) return readFileSync(NOTICES, "utf8");
  throw new Problem("NOT_FOUND", "The notices are missing: npm run build.");
}

function withGuides(document: Record<string, unknown>): Record<string, unknown> {
  const info = document.info as { readonly description: string };
  const components = document.components as { readonly parameters: Record<string, object> };
  // The console would send the example, and the second request would be refused: it has the key of the first.
  const { example: _, ...key } = components.parameters.IdempotencyKey as { example: unknown };
  return {
    ...document,
    info: {
      ...info,
      description: `${info.description}\n\n${joinedGuides("#description/")}\n\n${LICENCES}`,
    },
    components: { ...components, parameters: { ...components.parameters, IdempotencyKey: key } },
  };
}
