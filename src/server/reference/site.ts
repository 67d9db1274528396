import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliDecompress } from "node:zlib";
import { packageRoot } from "../../core/base/package-root.ts";
import { Problem } from "../../core/base/problem.ts";
import { type WebFile, type WebFiles, webFileOf } from "../pages/web-files.ts";

/*
 * The site at /docs as the build writes it: pages for the guides and for each call, their index for the search, and
 * the texts for language models. One file, because two hundred that repeat each other would take ten times the space.
 */

export const SITE_FILE = join(packageRoot(), "dist", "reference", "site.json.br");

/** Where the address of the server belongs in a text. */
export const BASE_URL = "{base_url}";

const unpack = promisify(brotliDecompress);

let files: Promise<WebFiles> | undefined;

/** Read for the first request; empty if the build has not made it. */
const readSite = (): Promise<WebFiles> => {
  files ??= readFile(SITE_FILE)
    .then(unpack)
    .then((json) => Object.entries(JSON.parse(json.toString()) as Record<string, string>))
    .catch(() => [])
    .then((all) => new Map(all.map(([path, text]) => [path, webFileOf(path, Buffer.from(text))])));
  return files;
};

/** @throws Problem NOT_FOUND, as a page. */
export async function fileOfSite(path: string): Promise<WebFile> {
  const site = await readSite();
  const file = site.get(path) ?? site.get(`${path.replace(/\/$/, "") || "index"}.html`);
  if (file) return file;
  const sentence =
    site.size === 0
      ? "The reference is not part of this build. Build it with npm run build."
      : "There is no such page.";
  throw new Problem("NOT_FOUND", sentence, {
    page: {
      heading: sentence,
      text: "Check the address.",
      locale: "en",
      direction: "ltr",
      link: site.size === 0 ? { path: "/", text: "To the start page of this server" } : TO_DOCS,
    },
  });
}

const TO_DOCS = { path: "/docs", text: "To the guides and the calls" };
