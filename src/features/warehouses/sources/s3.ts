import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import Type from "typebox";
import { Text } from "../../../core/base/values/schemas.ts";
import { BodyTooLarge } from "../../../core/outbound/fetch-outbound.ts";
import { SourceUnfit } from "../../../core/outbound/unfit.ts";
import { openFiles } from "./duckdb.ts";
import type { FileFormat } from "./file-table.ts";
import { FORMAT, formatOf, formatSetting, hasFormat, withFolder } from "./files.ts";
import { isPlainPath, keyPath, type S3Place, s3Client, storageOf } from "./s3-client.ts";
import { firstTables, type Opening, SourceFailed, sourceKind, TABLES_LIMIT } from "./source.ts";

/*
 * Files on S3 or a compatible storage. They are copied to a temporary folder and read there: DuckDB
 * could read them in place, but only by downloading native code at run time (decision:
 * docs/decisions/warehouse-sources.md).
 */

const S3 = "s3://";

const S3_URL = /^s3:\/\/[a-z0-9][a-z0-9.-]*\//;

const S3Url = (description: string, examples: string[]) =>
  Type.Refine(
    Type.String({ maxLength: 2_048, description, examples }),
    (url) => S3_URL.test(url) && isPlainPath(url.slice("s3://".length)),
    () => "must begin with s3:// and the name of a bucket, and have no '.' or '..' in its path",
  );

const connection = {
  access_key_id: Type.String({
    minLength: 1,
    maxLength: 255,
    description: "The id of the access key.",
  }),
  secret_access_key: Type.String({ minLength: 1, maxLength: 255 }),
  region: Type.Optional(
    Text("The region of the bucket.", "eu-central-1", { pattern: "^[a-z0-9-]{1,64}$" }),
  ),
  endpoint: Type.Optional(
    Type.Refine(
      Text(
        "For a storage other than Amazon's, such as https://storage.example:9000.",
        "https://storage.example:9000",
        { maxLength: 2_048 },
      ),
      (url) => /^https?:\/\//.test(url) && URL.canParse(url),
      () => "must begin with https:// or http://",
    ),
  ),
};

export const s3Source = sourceKind({
  type: "s3",
  label: "Files in S3",
  connection,
  limits: {
    root: Type.Optional(
      S3Url("The folder that integrations stay below, such as s3://bucket/crm/.", [
        "s3://bucket/crm/",
      ]),
    ),
  },
  place: {
    url: S3Url(
      "s3://bucket/folder/users.parquet, or s3://bucket/folder/ for all files in it and below.",
      ["s3://bucket/folder/users.parquet"],
    ),
    format: formatSetting,
  },
  secrets: ["access_key_id", "secret_access_key"],
  free: ["secret_access_key"],
  // The bucket: its name is a part of the host.
  hostIn: { url: (url) => url.split("/", 3).join("/") },
  rule: FORMAT,
  placeOf: ({ url }) => url,
  hostsOf: (warehouse) => {
    const { protocol, hostname, port } = new URL(storageOf(warehouse).base);
    return [{ host: hostname, port: Number(port || (protocol === "http:" ? 80 : 443)) }];
  },
  isBelowRoot: ({ url, root = S3 }) => url.startsWith(withSlash(root)),

  open: (warehouse, { signal, outbound }) =>
    withFolder(async (folder) => {
      const bucket = openBucket(warehouse, { signal, outbound });
      const format = warehouse.format ?? (formatOf(warehouse.url) as FileFormat);
      const paths: string[] = [];
      for (const [index, key] of (await bucket.list(format)).entries()) {
        // The name decides how it is unpacked, so it keeps its ending.
        const path = join(folder, `${index}-${key.slice(key.lastIndexOf("/") + 1).slice(-100)}`);
        await bucket.copy(key, path);
        paths.push(path);
      }
      return openFiles(paths, format, folder, signal);
    }),

  async list({ root, url = "", ...login }, opening) {
    const narrowed = url.slice(0, url.lastIndexOf("/") + 1);
    const below = withSlash(root ?? S3);
    const start = narrowed.startsWith(below) ? narrowed : below;
    const [top] = S3_URL.exec(start) ?? [];
    // Without a root it is not known in which bucket, until the URL begins with one.
    if (top === undefined) return firstTables([]);
    const names = new Set<string>();
    let seen = 0;
    for await (const keys of pagesOf({ ...login, url: start }, opening)) {
      for (const key of keys.filter((key) => formatOf(key) !== undefined && isPlainPath(key))) {
        names.add(`${top}${key.slice(0, key.lastIndexOf("/") + 1)}`).add(`${top}${key}`);
      }
      seen += keys.length;
      if (seen >= MOST_FILES || names.size >= TABLES_LIMIT) break;
    }
    return firstTables([...names].sort(), seen >= MOST_FILES);
  },
});

const withSlash = (folder: string): string => folder.replace(/(?<=[^/])$/, "/");

/** Limits of one sync, so that a storage that never ends its listing or a file cannot fill a disk. */
const MOST_FILES = 10_000;
const MOST_COPIED_BYTES = 20 * 1_024 ** 3;
const LARGEST_LISTING_BYTES = 16 * 1_024 ** 2;

interface Bucket {
  list(format: FileFormat): Promise<string[]>;
  copy(key: string, path: string): Promise<void>;
}

function openBucket(warehouse: S3Place, { signal, outbound }: Opening): Bucket {
  const { url = "" } = warehouse;
  const { path } = storageOf(warehouse);
  const send = s3Client(warehouse, { signal, outbound });

  let copiedBytes = 0;
  const tooLarge = () =>
    new SourceUnfit(
      `The files at ${url} are larger than ${MOST_COPIED_BYTES / 1_024 ** 3} GB together. ` +
        "Name a smaller folder, or delete files that were synced.",
    );

  return {
    async list(format) {
      if (path !== "" && !path.endsWith("/")) return [path];
      const keys: string[] = [];
      for await (const page of pagesOf(warehouse, { signal, outbound })) {
        keys.push(...page);
        if (keys.length > MOST_FILES) {
          throw new SourceUnfit(
            `${url} holds more than ${MOST_FILES} files. Name a smaller folder.`,
          );
        }
      }
      const found = keys.filter((key) => hasFormat(key, format)).sort();
      const wrong = found.find((key) => !isPlainPath(key));
      if (wrong === undefined) return found;
      throw new SourceUnfit(
        `${url} contains a file whose name cannot be requested: ${wrong.slice(0, 200)}.`,
      );
    },

    async copy(key, to) {
      const { inTime, headers, discard } = await send({ place: keyPath(key) });
      // Known before the first byte; a length that is wrong is found while copying.
      if (copiedBytes + Number(headers["content-length"] ?? 0) > MOST_COPIED_BYTES) {
        discard();
        throw tooLarge();
      }
      const counted = new Transform({
        transform(chunk: Buffer, _encoding, done) {
          copiedBytes += chunk.length;
          done(copiedBytes > MOST_COPIED_BYTES ? tooLarge() : null, chunk);
        },
      });
      await pipeline(inTime(), counted, createWriteStream(to)).catch((error) => {
        throw error instanceof SourceUnfit ? error : new SourceFailed(error);
      });
    },
  };
}

/** The keys whose names begin with the path of the place, a page at a time. */
async function* pagesOf(place: S3Place, opening: Opening): AsyncGenerator<string[]> {
  const { url } = place;
  const send = s3Client(place, opening);
  let next: string | undefined;
  let pages = 1;
  do {
    const query = new URLSearchParams({
      "list-type": "2",
      "encoding-type": "url",
      prefix: storageOf(place).path,
      ...(next !== undefined && { "continuation-token": next }),
    });
    const response = await send({ place: `?${query}` });
    const page = await response.text(LARGEST_LISTING_BYTES).catch((error) => {
      if (!(error instanceof BodyTooLarge)) throw new SourceFailed(error);
      throw new SourceFailed(undefined, `The storage's listing of ${url} is too large.`);
    });
    yield elements(page, "Key").map((key) => decodeURIComponent(key.replaceAll("+", " ")));
    const following = elements(page, "NextContinuationToken")[0];
    if (following !== undefined && (following === next || pages > MOST_FILES)) {
      throw new SourceFailed(undefined, `The storage repeats the same page of ${url}.`);
    }
    next = following;
    pages += 1;
  } while (next !== undefined);
}

/** The contents of all elements with this name; a listing has no entities except in the token. */
const elements = (xml: string, name: string): string[] =>
  [...xml.matchAll(new RegExp(`<${name}>([^<]*)</${name}>`, "g"))].map(([, text = ""]) =>
    text.replaceAll("&quot;", '"').replaceAll("&amp;", "&"),
  );
