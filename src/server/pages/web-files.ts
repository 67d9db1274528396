import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { extname, join, sep } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, gzip, constants as zlib } from "node:zlib";
import { RAPPORT_ON_PAGES } from "../../core/base/command.ts";
import { escapeHtml } from "../../core/http/sentence-page.ts";

/*
 * The built files of the dashboard (dist/web) and of the reference, read once and kept in memory with the compressed
 * forms that were requested. Requests are looked up among the files that existed at the start, so
 * that no path reaches anything else.
 */

export interface WebFile {
  readonly mediaType: string;
  /** Changes with the content. */
  readonly etag: string;
  /** Whether its name changes with its content, as Vite names assets. */
  readonly isHashed: boolean;
  readonly bytes: Buffer;
  /**
   * The compressed form, made once, when it is first requested; undefined if compression saves
   * nothing.
   */
  readonly packed: ((coding: Coding) => Promise<Buffer>) | undefined;
}

/** A coding of HTTP (RFC 9110, 8.4.1; RFC 7932). */
export type Coding = "br" | "gzip";

/** The files by their path below the dashboard, such as `assets/index-BX2f.js`. */
export type WebFiles = ReadonlyMap<string, WebFile>;

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".ico": "image/x-icon",
  ".jpg": "image/jpeg",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".map": "application/json; charset=utf-8",
  ".md": "text/plain; charset=utf-8",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
  ".wasm": "application/wasm",
  ".webmanifest": "application/manifest+json",
  ".woff2": "font/woff2",
};

const PACKED = /^(?:text\/|application\/(?:json|manifest|wasm)|image\/svg)/;

/** `index-BX2fa9Qz.js` */
const HASHED = /^assets\/.*-[\w-]{8,}\.\w+$/;

const packGzip = promisify(gzip);
const packBrotli = promisify(brotliCompress);

/** @returns an empty map if the dashboard was not built. */
export async function readWebFiles(folder: string): Promise<WebFiles> {
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  const files = new Map<string, WebFile>();
  for (const name of names) {
    if (!(extname(name) in MEDIA_TYPES)) continue;
    const path = name.split(sep).join("/");
    const bytes = withCommand(path, await readFile(join(folder, name)));
    files.set(path, webFileOf(path, bytes));
  }
  return files;
}

/** @param path has one of the known extensions. */
export function webFileOf(path: string, bytes: Buffer): WebFile {
  const mediaType = MEDIA_TYPES[extname(path)] ?? "application/octet-stream";
  const isPacked = PACKED.test(mediaType) && bytes.length > 1_024;
  return {
    mediaType,
    etag: `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"`,
    isHashed: HASHED.test(path),
    bytes,
    packed: isPacked ? packerOf(bytes) : undefined,
  };
}

/** The page shows commands as they are called where this server runs. */
function withCommand(name: string, bytes: Buffer): Buffer {
  if (name !== "index.html") return bytes;
  const present = '<meta name="rapport-command" content="rapport"';
  const text = bytes
    .toString("utf8")
    .replace(present, (tag) => tag.replace('"rapport"', () => `"${escapeHtml(RAPPORT_ON_PAGES)}"`));
  return Buffer.from(text);
}

/**
 * Compresses on a separate thread: compressing all files at once would make the first visitor wait
 * for more than a second.
 */
function packerOf(bytes: Buffer): (coding: Coding) => Promise<Buffer> {
  const forms = new Map<Coding, Promise<Buffer>>();
  const pack = (coding: Coding): Promise<Buffer> =>
    coding === "br"
      ? packBrotli(bytes, { params: { [zlib.BROTLI_PARAM_QUALITY]: 9 } })
      : packGzip(bytes);
  return (coding) => {
    const form = forms.get(coding) ?? pack(coding);
    forms.set(coding, form);
    return form;
  };
}
