import assert from "node:assert/strict";
import { type Contract, pathsOf } from "../../src/core/http/endpoint.ts";
import type { TestServer, TestWorkspace } from "../harness.ts";
import { placesIn, withValue } from "../places-in-values.ts";
import { pathOf, type Sample, SCIM_TOKEN } from "../sample-requests.ts";
import { TOKEN } from "../scim-client.ts";
import { sized } from "../sizes.ts";

/* Sample requests with one place of the body, the path or the query made large: wide, deep, long, with many entries. */

/** A value of a given size. */
type Shape = (size: number, sample: unknown) => unknown;

const list = (size: number, make: (index: number) => unknown): unknown[] =>
  Array.from({ length: size }, (_, index) => make(index));

const members = (size: number, value: unknown) =>
  Object.fromEntries(list(size, (index) => [`name-${index}`, value]) as [string, unknown][]);

/** The same value with other texts. */
function renamed(value: unknown, index: number): unknown {
  if (typeof value === "string") return `${value}-${index}`;
  if (Array.isArray(value)) return value.map((each) => renamed(each, index));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, renamed(each, index)]),
  );
}

/** Deeper values cannot be written as JSON by the client. */
const DEEPEST = 3_000;

function nested(size: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < Math.min(DEEPEST, size / 8); level++)
    value = level % 2 ? [value] : { a: value };
  return value;
}

const entryOf = (sample: unknown): unknown => (Array.isArray(sample) ? sample[0] : sample);

/** Twice as many make 16 million pairs: work of two nanoseconds on each pair is more than what is free. */
const VALUES = sized(2_000, 4_000);
/** Quadratic work on twice as many is seconds in either case. */
const CHARACTERS = sized(25_000, 200_000);

const STRUCTURES: Readonly<Record<string, Shape>> = {
  "the same entry": (size, sample) => list(size, () => entryOf(sample)),
  "different entries": (size, sample) => list(size, (index) => renamed(entryOf(sample), index)),
  "many members": (size, sample) => members(size, entryOf(sample)),
  "deep nesting": (size) => nested(size),
};

const TEXTS: Readonly<Record<string, (size: number) => string>> = {
  letters: (size) => "a".repeat(size),
  "blanks before a letter": (size) => `${" ".repeat(size)}a`,
  "at signs and dots": (size) => "a@.".repeat(size / 3),
  "tags of Liquid": (size) => "{{ a }}".repeat(size / 7),
  "elements of HTML": (size) => "<b>".repeat(size / 3),
  "conditions of a filter": (size) => `${'a eq "b" or '.repeat(size / 12)}a pr`,
  emoji: (size) => "😀".repeat(size / 2),
};

/** A request whose size is a factor of one that takes a few milliseconds. */
export interface Growing {
  readonly what: string;
  request(factor: number): { readonly path: string; readonly raw?: string };
}

function* growingBodies(path: string, body: unknown): Generator<Growing> {
  for (const { place, value } of placesIn(body)) {
    const at = place.join(".") || "the body";
    const grown = (what: string, make: (factor: number) => unknown): Growing => ({
      what: `${what} in ${at}`,
      request: (factor) => ({ path, raw: JSON.stringify(withValue(body, place, make(factor))) }),
    });
    for (const [what, shape] of Object.entries(STRUCTURES)) {
      // In place of a text, one list says as much as any other.
      if (typeof value === "string" && what !== "different entries") continue;
      yield grown(what, (factor) => shape(VALUES * factor, value));
    }
    if (typeof value !== "string") continue;
    for (const [what, text] of Object.entries(TEXTS)) {
      yield grown(what, (factor) => text(CHARACTERS * factor));
    }
  }
}

function* growingTexts(path: string, sample: string): Generator<Growing> {
  for (const part of [sample, ...sample.split(/(?<=[\n>])/).slice(0, 12)]) {
    yield {
      what: `${part.slice(0, 20)} repeated`,
      request: (factor) => {
        const count = (CHARACTERS * factor) / Math.max(1, part.length);
        return { path, raw: sample.replace(part, () => part.repeat(count)) };
      },
    };
  }
}

/** Paths and queries have at most 49,152 characters. */
function* growingPaths({ query }: Contract, path: string): Generator<Growing> {
  const names = Object.keys((query as { properties?: object } | undefined)?.properties ?? {});
  for (const name of names) {
    const separator = path.includes("?") ? "&" : "?";
    for (const [what, text] of Object.entries(TEXTS)) {
      yield {
        what: `${what} in ${name}`,
        request: (factor) => {
          const value = encodeURIComponent(text(12_000 * factor)).slice(0, 20_000 * factor);
          return { path: `${path}${separator}${name}=${value.replace(/%.?$|%[^%]{0,11}$/, "")}` };
        },
      };
    }
    yield {
      what: `${name} again and again`,
      request: (factor) => ({ path: path + separator + `${name}=a&`.repeat(2_000 * factor) }),
    };
  }
}

/** Requests of an endpoint, each with one place that can be made large. */
export function* growing(
  contract: Contract,
  sample: Sample,
  workspace: string,
): Generator<Growing> {
  const path = pathOf(pathsOf(contract)[0] ?? "", workspace, sample);
  yield* growingPaths(contract, path);
  if (typeof sample.raw === "string") yield* growingTexts(path, sample.raw);
  else if (sample.body !== undefined) yield* growingBodies(path, sample.body);
}

/** Sends a request. @returns the processor time that client and server took, in milliseconds. */
export async function timeOf(
  server: TestServer,
  workspace: TestWorkspace,
  { method, access, accepts }: Contract,
  { path, raw }: ReturnType<Growing["request"]>,
): Promise<number> {
  const keys = {
    key: workspace.key,
    scim: SCIM_TOKEN,
    administrator: server.adminToken,
    session: null,
    anybody: null,
  };
  const key = keys[access.by];
  const startedAt = process.cpuUsage();
  const response = await fetch(server.url + path, {
    method,
    headers: {
      ...(key && { authorization: `Bearer ${key}` }),
      ...(access.by === "scim" && { "x-request-origin": TOKEN.service_origin }),
      "content-type": accepts?.[0] ?? "application/json",
    },
    ...(raw !== undefined && { body: raw }),
  });
  await response.arrayBuffer();
  const { user, system } = process.cpuUsage(startedAt);
  assert.ok(response.status < 500 || response.status === 503, `${response.status}`);
  return (user + system) / 1_000;
}
