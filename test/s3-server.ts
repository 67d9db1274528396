/*
 * A storage that speaks the part of S3's protocol that Rapport uses, with its files in memory. It
 * lists and returns objects, stores those whose content matches the signature, and refuses requests
 * that are not signed with its key (Signature Version 4, computed here from its description, not
 * with the library that signs).
 */
import { createHash, createHmac } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { after } from "node:test";

export interface TestStorage {
  readonly endpoint: string;
  readonly objects: Map<string, Uint8Array>;
  /** The requested paths with their query. */
  readonly requests: string[];
  /** Faults to imitate. */
  readonly faults: {
    repeatsToken?: boolean;
    announcedBytes?: number;
    /** How many of the next objects are refused with 503. */
    busyPuts?: number;
    /** The error code for every object. */
    refusesPuts?: string;
  };
}

export const ACCESS_KEY_ID = "AKIDEXAMPLE";
export const SECRET_ACCESS_KEY = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
export const REGION = "eu-central-1";

/** How many keys one page of a listing holds: few, so that tests turn pages. */
const KEYS_A_PAGE = 2;

/** Starts a storage with one bucket, `crm`. */
export async function startStorage(): Promise<TestStorage> {
  const objects = new Map<string, Uint8Array>();
  const requests: string[] = [];
  const faults: TestStorage["faults"] = {};
  const server = createServer((request, response) => {
    requests.push(request.url ?? "");
    if (request.method === "PUT") void store(objects, request, response, faults);
    else answer(objects, request, response, faults);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  after(() => server.close());
  const { port } = server.address() as { port: number };
  return { endpoint: `http://127.0.0.1:${port}`, objects, requests, faults };
}

function answer(
  objects: ReadonlyMap<string, Uint8Array>,
  request: IncomingMessage,
  response: ServerResponse,
  { repeatsToken, announcedBytes }: TestStorage["faults"],
): void {
  const url = new URL(request.url ?? "", "http://storage");
  const [, bucket, ...rest] = url.pathname.split("/").map(decodeURIComponent);
  const key = rest.join("/");
  const object = objects.get(key);
  if (!isSigned(request, url)) refuse(response, 403, "SignatureDoesNotMatch");
  else if (bucket !== "crm") refuse(response, 404, "NoSuchBucket");
  else if (key === "" && repeatsToken) {
    response.end(`${ONE_KEY}<NextContinuationToken>again</NextContinuationToken>`);
  } else if (key === "") response.end(listing(objects, url.searchParams));
  else if (object && announcedBytes) {
    response.writeHead(200, { "content-length": announcedBytes }).write(object);
  } else if (object) response.end(object);
  else refuse(response, 404, "NoSuchKey");
}

async function store(
  objects: Map<string, Uint8Array>,
  request: IncomingMessage,
  response: ServerResponse,
  faults: TestStorage["faults"],
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const data = Buffer.concat(chunks);
  const url = new URL(request.url ?? "", "http://storage");
  const [, bucket, ...key] = url.pathname.split("/").map(decodeURIComponent);
  const { busyPuts = 0, refusesPuts } = faults;
  if (busyPuts > 0) faults.busyPuts = busyPuts - 1;
  if (!isSigned(request, url)) refuse(response, 403, "SignatureDoesNotMatch");
  else if (request.headers["x-amz-content-sha256"] !== sha256(data)) {
    refuse(response, 400, "XAmzContentSHA256Mismatch");
  } else if (bucket !== "crm") refuse(response, 404, "NoSuchBucket");
  else if (refusesPuts) refuse(response, 403, refusesPuts);
  else if (busyPuts > 0) refuse(response, 503, "SlowDown");
  else {
    objects.set(key.join("/"), data);
    response.end();
  }
}

const ONE_KEY = "<Contents><Key>in/a.csv</Key></Contents>";

function refuse(response: ServerResponse, status: number, code: string): void {
  response.writeHead(status).end(`<Error><Code>${code}</Code></Error>`);
}

function listing(objects: ReadonlyMap<string, Uint8Array>, query: URLSearchParams): string {
  const keys = [...objects.keys()]
    .sort()
    .filter((key) => key.startsWith(query.get("prefix") ?? ""));
  const from = Number(query.get("continuation-token")?.replace("from=&", "") ?? 0);
  const page = keys.slice(from, from + KEYS_A_PAGE);
  const next = from + KEYS_A_PAGE;
  const contents = page.map((key) => `<Contents><Key>${encodeURIComponent(key)}</Key></Contents>`);
  const token = `<NextContinuationToken>from=&amp;${next}</NextContinuationToken>`;
  return `<ListBucketResult>${contents.join("")}${next < keys.length ? token : ""}</ListBucketResult>`;
}

const sha256 = (text: string | Uint8Array): string =>
  createHash("sha256").update(text).digest("hex");

const hmac = (key: string | Buffer, text: string): Buffer =>
  createHmac("sha256", key).update(text).digest();

function isSigned(request: IncomingMessage, url: URL): boolean {
  const {
    authorization = "",
    "x-amz-date": time = "",
    "x-amz-content-sha256": body = "",
  } = request.headers as Record<string, string>;
  const [, day, names = "", signature] =
    new RegExp(
      `^AWS4-HMAC-SHA256 Credential=${ACCESS_KEY_ID}/(\\d{8})/${REGION}/s3/aws4_request, ` +
        "SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})$",
    ).exec(authorization) ?? [];
  if (!day || !time.startsWith(day)) return false;
  const query = [...url.searchParams].map((pair) => pair.map(strict).join("=")).sort();
  const headers = names.split(";").map((name) => `${name}:${request.headers[name]}\n`);
  const canonical = [
    request.method,
    url.pathname
      .split("/")
      .map((part) => strict(decodeURIComponent(part)))
      .join("/"),
    query.join("&"),
    headers.join(""),
    names,
    body,
  ].join("\n");
  const scope = `${day}/${REGION}/s3/aws4_request`;
  const toSign = ["AWS4-HMAC-SHA256", time, scope, sha256(canonical)].join("\n");
  const key = [day, REGION, "s3", "aws4_request"].reduce<string | Buffer>(
    hmac,
    `AWS4${SECRET_ACCESS_KEY}`,
  );
  return hmac(key, toSign).toString("hex") === signature;
}

/** Everything but letters, digits and -._~ is escaped. */
const strict = (text: string): string =>
  encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
