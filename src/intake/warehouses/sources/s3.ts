import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { AwsClient } from "aws4fetch";
import Type, { type Static } from "typebox";
import { openFiles } from "./duckdb.ts";
import { FILE_FORMATS, type FileFormat } from "./file-table.ts";
import { FORMAT_RULE, formatOf, hasFormat, saysFormat, withFolder } from "./files.ts";
import { SourceFailed, type SourceKind, SourceUnfit } from "./source.ts";

/*
 * Files on S3 or a compatible storage. They are copied to a temporary folder and read there: DuckDB
 * could read them in place, but only by downloading native code at run time (decision:
 * docs/decisions/warehouse-sources.md).
 */

const Warehouse = Type.Object(
  {
    type: Type.Enum(["s3"]),
    /** `s3://bucket/folder/users.parquet`, or `s3://bucket/folder/` for all files in it and below. */
    url: Type.Refine(
      Type.String(),
      (url) => /^s3:\/\/[a-z0-9][a-z0-9.-]*\//.test(url),
      () => "must begin with s3:// and the name of a bucket",
    ),
    format: Type.Optional(Type.Enum([...FILE_FORMATS])),
    region: Type.Optional(Type.String({ minLength: 1, description: "The region of the bucket." })),
    /** Of a storage other than Amazon's, such as `https://storage.example:9000`. */
    endpoint: Type.Optional(
      Type.Refine(
        Type.String(),
        (url) => /^https?:\/\//.test(url),
        () => "must begin with https:// or http://",
      ),
    ),
    access_key_id: Type.String({ minLength: 1, description: "The id of the access key." }),
    secret_access_key: Type.String({ minLength: 1 }),
  },
  { additionalProperties: false },
);

type S3Warehouse = Static<typeof Warehouse>;

export const s3Source: SourceKind<S3Warehouse> = {
  schema: Type.Refine(Warehouse, saysFormat, () => FORMAT_RULE),
  placeOf: ({ url }) => url,

  open: (warehouse, signal) =>
    withFolder(async (folder) => {
      const bucket = openBucket(warehouse, signal);
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
};

/** Limits of one sync, so that a storage that never ends its listing or a file cannot fill a disk. */
const MOST_FILES = 10_000;
const MOST_COPIED_BYTES = 20 * 1_024 ** 3;
const LARGEST_LISTING_BYTES = 16 * 1_024 ** 2;

interface Bucket {
  /** The keys of the files to read. */
  list(format: FileFormat): Promise<string[]>;
  copy(key: string, path: string): Promise<void>;
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: its requests share one client, one deadline and one count of bytes.
function openBucket(warehouse: S3Warehouse, signal: AbortSignal): Bucket {
  const { url, region = "us-east-1", endpoint } = warehouse;
  const [, name = "", path = ""] = /^s3:\/\/([^/]+)\/(.*)$/.exec(url) ?? [];
  const base = endpoint
    ? `${endpoint.replace(/\/$/, "")}/${name}`
    : `https://${name}.s3.${region}.amazonaws.com`;
  const client = new AwsClient({
    accessKeyId: warehouse.access_key_id,
    secretAccessKey: warehouse.secret_access_key,
    service: "s3",
    region,
    // Tries are counted by the run.
    retries: 0,
  });

  let copiedBytes = 0;
  const tooLarge = () =>
    new SourceUnfit(
      `The files at ${url} are larger than ${MOST_COPIED_BYTES / 1_024 ** 3} GB together. ` +
        "Name a smaller folder, or delete files that were synced.",
    );

  /** One page of a listing: a thousand keys at most. */
  async function readListing(response: Response): Promise<string> {
    const parts: Uint8Array[] = [];
    let bytes = 0;
    for await (const part of response.body as unknown as AsyncIterable<Uint8Array>) {
      bytes += part.length;
      if (bytes > LARGEST_LISTING_BYTES) {
        throw new SourceFailed(undefined, `The storage's listing of ${url} is too large.`);
      }
      parts.push(part);
    }
    return Buffer.concat(parts).toString("utf8");
  }

  async function get(place: string): Promise<Response> {
    const response = await client.fetch(`${base}/${place}`, { signal }).catch((error: Error) => {
      throw new SourceFailed(error.cause ?? error);
    });
    if (response.ok) return response;
    const reason = /<Code>(\w+)<\/Code>/.exec(await response.text())?.[1] ?? response.statusText;
    const message = `The storage refuses ${url}: ${reason}.`;
    throw REFUSALS.test(reason) ? new SourceUnfit(message) : new SourceFailed(response, message);
  }

  return {
    async list(format) {
      if (path !== "" && !path.endsWith("/")) return [path];
      const keys: string[] = [];
      let next: string | undefined;
      let pages = 1;
      do {
        const query = new URLSearchParams({
          "list-type": "2",
          "encoding-type": "url",
          prefix: path,
          ...(next !== undefined && { "continuation-token": next }),
        });
        const page = await readListing(await get(`?${query}`));
        keys.push(
          ...elements(page, "Key").map((key) => decodeURIComponent(key.replaceAll("+", " "))),
        );
        if (keys.length > MOST_FILES) {
          throw new SourceUnfit(
            `${url} holds more than ${MOST_FILES} files. Name a smaller folder.`,
          );
        }
        const following = elements(page, "NextContinuationToken")[0];
        if (following !== undefined && (following === next || pages > MOST_FILES)) {
          throw new SourceFailed(undefined, `The storage repeats the same page of ${url}.`);
        }
        next = following;
        pages += 1;
      } while (next !== undefined);
      return keys.filter((key) => hasFormat(key, format)).sort();
    },

    async copy(key, to) {
      const { body, headers } = await get(key.split("/").map(encodeURIComponent).join("/"));
      // Known before the first byte; a length that is wrong is found while copying.
      if (copiedBytes + Number(headers.get("content-length") ?? 0) > MOST_COPIED_BYTES) {
        await body?.cancel();
        throw tooLarge();
      }
      const counted = new Transform({
        transform(chunk: Buffer, _encoding, done) {
          copiedBytes += chunk.length;
          done(copiedBytes > MOST_COPIED_BYTES ? tooLarge() : null, chunk);
        },
      });
      await pipeline(Readable.fromWeb(body as never), counted, createWriteStream(to)).catch(
        (error) => {
          throw error instanceof SourceUnfit ? error : new SourceFailed(error);
        },
      );
    },
  };
}

/** What no later try can mend. */
const REFUSALS =
  /^(?:NoSuchBucket|NoSuchKey|AccessDenied|InvalidAccessKeyId|SignatureDoesNotMatch|InvalidBucketName|PermanentRedirect)$/;

/** The contents of all elements of a name; what a listing holds has no entities but the token's. */
const elements = (xml: string, name: string): string[] =>
  [...xml.matchAll(new RegExp(`<${name}>([^<]*)</${name}>`, "g"))].map(([, text = ""]) =>
    text.replaceAll("&quot;", '"').replaceAll("&amp;", "&"),
  );
