import { join } from "node:path";
import Type, { type Static } from "typebox";
import { RAPPORT } from "../../core/base/command.ts";
import { packageRoot } from "../../core/base/package-root.ts";
import { Problem } from "../../core/base/problem.ts";
import { Text } from "../../core/base/values/schemas.ts";
import { byAnybody, type Endpoint, endpoint } from "../../core/http/endpoint.ts";
import { PAGE_HEADERS } from "../../core/http/page-headers.ts";
import { sentencePage } from "../../core/http/sentence-page.ts";
import { type Coding, readWebFiles, type WebFile, type WebFiles } from "./web-files.ts";

/** The front end as `npm run build` writes it. */
const WEB_FOLDER = join(packageRoot(), "dist", "web");

const NOT_BUILT = `The dashboard is not part of this build. Build it with npm run build, or use the command line: ${RAPPORT} --help.`;

/**
 * Scripts and styles come only from this server, and none is inline: components set styles through
 * the object model, which the policy allows. The preview of a page is in a frame without scripts.
 */
const HEADERS = {
  ...PAGE_HEADERS,
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; " +
    "font-src 'self' data:; connect-src 'self'; manifest-src 'self'; worker-src 'self' blob:; " +
    "frame-src 'self' blob:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; object-src 'none'",
};

const IMMUTABLE = "public, max-age=31536000, immutable";

/** Requested again each time, so that a new version of the server brings its dashboard with it. */
const REVALIDATED = "no-cache";

/** What a request for a file has besides its path. */
export const OfFile = {
  params: Type.Object({
    "*": Type.Optional(Text("The rest of the path.", "guides/users")),
  }),
  headers: Type.Object({
    "if-none-match": Type.Optional(Text("The ETag of a copy: 304 if it is current.", '"x"')),
    "accept-encoding": Type.Optional(Text("The codings that the caller reads.", "br, gzip")),
  }),
  replies: { 200: Type.Undefined(), 304: Type.Undefined() },
} as const;

type Wanted = Static<typeof OfFile.headers>;

/** The pages of the dashboard: its files, and the page itself for every path that is one of its views. */
export function dashboardPages(folder = WEB_FOLDER): Endpoint<object>[] {
  let files: Promise<WebFiles> | undefined;
  return [
    endpoint({
      name: "showDashboard",
      method: "GET",
      path: ["/dashboard", "/dashboard/", "/dashboard/*"],
      summary: "The dashboard.",
      access: byAnybody,
      dialect: "page",
      refusals: ["NOT_FOUND"],
      ...OfFile,
    }).handledBy(async (_services: object, _context, { params, headers }) => {
      files ??= readWebFiles(folder);
      const all = await files;
      const index = all.get("index.html");
      if (!index) return notBuilt();
      return replyWith(find(all, params["*"] ?? "") ?? index, headers);
    }),
  ];
}

/** @returns undefined for a path without a file that may be a view. @throws Problem NOT_FOUND for a missing file. */
function find(files: WebFiles, path: string): WebFile | undefined {
  const file = files.get(path);
  if (file || !path.startsWith("assets/")) return file;
  throw new Problem("NOT_FOUND", "There is nothing at this path.");
}

/** A file in the best coding that the caller reads, or 304 if its copy is current. */
export async function replyWith(
  file: WebFile,
  { "if-none-match": etag, "accept-encoding": encodings = "" }: Wanted,
) {
  const headers = {
    ...HEADERS,
    "cache-control": file.isHashed ? IMMUTABLE : REVALIDATED,
    etag: file.etag,
    vary: "accept-encoding",
  };
  if (etag?.includes(file.etag)) return { status: 304, body: undefined, headers } as const;
  const [encoding, bytes] = await packedFor(file, encodings);
  return {
    status: 200,
    body: undefined,
    bytes,
    headers: {
      ...headers,
      "content-type": file.mediaType,
      ...(encoding && { "content-encoding": encoding }),
    },
  } as const;
}

async function packedFor(
  { packed, bytes }: WebFile,
  encodings: string,
): Promise<[Coding | undefined, Buffer]> {
  const coding = CODINGS.find((each) => accepts(encodings, each));
  return packed && coding ? [coding, await packed(coding)] : [undefined, bytes];
}

/** The best first. */
const CODINGS: readonly Coding[] = ["br", "gzip"];

/** Whether `Accept-Encoding` names a coding, and not with a weight of 0 (RFC 9110, 12.5.3). */
const accepts = (encodings: string, coding: string): boolean =>
  encodings.split(",").some((part) => {
    const [name, ...parameters] = part.toLowerCase().split(";");
    return name?.trim() === coding && !parameters.some((each) => /^\s*q=0(\.0*)?\s*$/.test(each));
  });

const notBuilt = () =>
  ({
    status: 200,
    body: undefined,
    bytes: Buffer.from(sentencePage(NOT_BUILT)),
    headers: {
      ...HEADERS,
      "cache-control": REVALIDATED,
      "content-type": "text/html; charset=utf-8",
    },
  }) as const;
