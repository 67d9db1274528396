import { createHash } from "node:crypto";
import { AwsClient } from "aws4fetch";
import { fetchOutbound, type OutboundResponse } from "../../../core/outbound/fetch-outbound.ts";
import { OutboundRefused } from "../../../core/outbound/outbound.ts";
import { ConnectionUnfit, SourceUnfit } from "../../../core/outbound/unfit.ts";
import { type Opening, SourceFailed } from "./source.ts";

/* Signed requests to S3 or a compatible storage: what reads files for syncs and what writes exports have in common. */

/** A bucket, or a folder or file in it, with the credentials for it. */
export interface S3Place {
  readonly access_key_id: string;
  readonly secret_access_key: string;
  readonly region?: string;
  readonly endpoint?: string;
  /** `s3://bucket/path` */
  readonly url?: string;
}

/** Whether a path has no segment that a URL would resolve: it would name another object. */
export const isPlainPath = (path: string): boolean => !/(?:^|\/)\.\.?(?:\/|$)/.test(path);

export const keyPath = (key: string): string => key.split("/").map(encodeURIComponent).join("/");

/** The host for the requests to a bucket, and the path of the files in it. */
export function storageOf({ url = "s3://bucket/", region = "us-east-1", endpoint }: S3Place) {
  const [, name = "", path = ""] = /^s3:\/\/([^/]+)\/(.*)$/.exec(url) ?? [];
  const base = endpoint
    ? `${endpoint.replace(/\/$/, "")}/${name}`
    : `https://${name}.s3.${region}.amazonaws.com`;
  return { base, path, region };
}

const LARGEST_ERROR_BYTES = 65_536;

export interface S3Request {
  /** The path in the bucket as a URL has it, with its query. */
  readonly place: string;
  /** Present for an object to be stored. */
  readonly put?: { readonly data: Uint8Array; readonly type: string };
}

/**
 * Sends requests to the bucket of a place.
 *
 * @returns a function that throws ConnectionUnfit or SourceUnfit for failures that no later try can
 * fix, and SourceFailed.
 */
export function s3Client(
  place: S3Place,
  { signal, outbound }: Opening,
): (request: S3Request) => Promise<OutboundResponse> {
  const { base, region } = storageOf(place);
  const client = new AwsClient({
    accessKeyId: place.access_key_id,
    secretAccessKey: place.secret_access_key,
    service: "s3",
    region,
    // Tries are counted by the caller.
    retries: 0,
  });
  return async ({ place: path, put }) => {
    const signed = await client.sign(`${base}/${path}`, {
      method: put ? "PUT" : "GET",
      // The signature covers the content, so the storage refuses content that was changed on the
      // way.
      ...(put && {
        headers: {
          "content-type": put.type,
          "x-amz-content-sha256": createHash("sha256").update(put.data).digest("hex"),
        },
      }),
    });
    const response = await fetchOutbound(outbound, {
      url: signed.url,
      method: signed.method,
      headers: Object.fromEntries(signed.headers),
      ...(put && { body: put.data }),
      signal,
    }).catch((error: Error) => {
      if (error instanceof OutboundRefused) throw new ConnectionUnfit(error.message, error);
      throw new SourceFailed(error);
    });
    if (response.ok) return response;
    throw await refusalOf(place, response);
  };
}

async function refusalOf({ url = "" }: S3Place, response: OutboundResponse): Promise<Error> {
  const text = await response.text(LARGEST_ERROR_BYTES).catch(() => "");
  const reason = /<Code>(\w+)<\/Code>/.exec(text)?.[1] ?? `status ${response.status}`;
  const message = `The storage refuses ${url}: ${reason}.`;
  if (KEY_REFUSALS.test(reason)) return new ConnectionUnfit(message);
  return REFUSALS.test(reason) ? new SourceUnfit(message) : new SourceFailed(undefined, message);
}

/** Failures that no later try can fix. */
const REFUSALS = /^(?:NoSuchBucket|NoSuchKey|AccessDenied|InvalidBucketName|PermanentRedirect)$/;

/** The same about the credentials. */
const KEY_REFUSALS = /^(?:InvalidAccessKeyId|SignatureDoesNotMatch)$/;
