/*
 * Looks for work that grows faster than its input. Every endpoint gets its sample request with one place of the
 * body, the path or the query made large, once and twice as large: wide, deep, long, with many entries that differ
 * or that are all the same. The second must not take more than about twice the processor time of the first.
 *
 * Processor time is that of this process, which is client and server; the client's share grows with the input.
 * Small times are noise, and harmless: only what takes more than FREE_MS is compared.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Contract, pathsOf } from "../../src/http/endpoint.ts";
import { ENDPOINTS } from "../../src/server/app.ts";
import { TOKEN } from "../dashboard/scim/scim-client.ts";
import { startOwnServer } from "../harness.ts";
import {
  pathOf,
  type Sample,
  SCIM_TOKEN,
  sampleRequests,
  sampleWorkspace,
} from "../sample-requests.ts";
import { sized } from "../sizes.ts";

/** How much longer twice the input may take: quadratic work takes four times as long, linear work two. */
const MOST_GROWTH = 3;

const FREE_MS = sized(30, 60);

/** A pair over the limit is measured again: other processes and the garbage collector add to a time, never less. */
const TRIES = 6;

const server = await startOwnServer();
const workspace = await server.workspace(sampleWorkspace());
const samples = await sampleRequests(server, workspace);

/** One of this many places and shapes is measured, different ones in each run. */
const SHARE = sized(3, 1);
let turn = Math.floor(Math.random() * SHARE);

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

function nested(size: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < size / 8; level++) value = level % 2 ? [value] : { a: value };
  return value;
}

const entryOf = (sample: unknown): unknown => (Array.isArray(sample) ? sample[0] : sample);

/** Twice as many make 16 million pairs: work of two nanoseconds on each pair is more than FREE_MS. */
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

/** Every place in a value, with the value there. */
function* placesIn(
  value: unknown,
  place: readonly (string | number)[] = [],
): Generator<{ place: readonly (string | number)[]; value: unknown }> {
  yield { place, value };
  if (place.length === 4 || value === null || typeof value !== "object") return;
  const entries = Array.isArray(value) ? [[0, value[0]] as const] : Object.entries(value);
  for (const [name, each] of entries) yield* placesIn(each, [...place, name]);
}

function withValue(whole: unknown, place: readonly (string | number)[], value: unknown): unknown {
  const [name, ...rest] = place;
  if (name === undefined) return value;
  if (Array.isArray(whole)) return [withValue(whole[0], rest, value), ...whole.slice(1)];
  const object = whole as Record<string, unknown>;
  return { ...object, [name]: withValue(object[name], rest, value) };
}

/** A request whose size is a factor of one that takes a few milliseconds. */
interface Growing {
  readonly what: string;
  request(factor: 1 | 2): { readonly path: string; readonly raw?: string };
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

function* growing(contract: Contract, sample: Sample): Generator<Growing> {
  const path = pathOf(pathsOf(contract)[0] ?? "", workspace.name, sample);
  yield* growingPaths(contract, path);
  if (typeof sample.raw === "string") yield* growingTexts(path, sample.raw);
  else if (sample.body !== undefined) yield* growingBodies(path, sample.body);
}

const KEYS = {
  key: workspace.key,
  scim: SCIM_TOKEN,
  administrator: server.adminToken,
  session: null,
  anybody: null,
};

/** Sends a request. @returns the processor time that it took, in milliseconds. */
async function timeOf(
  { method, access, accepts }: Contract,
  { path, raw }: { readonly path: string; readonly raw?: string },
): Promise<number> {
  const startedAt = process.cpuUsage();
  const response = await fetch(server.url + path, {
    method,
    headers: {
      ...(KEYS[access.by] && { authorization: `Bearer ${KEYS[access.by]}` }),
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

/**
 * @returns the times of a request and of one that is twice as large, the best of a few if they
 * differ much.
 */
async function timesOf(contract: Contract, { request }: Growing): Promise<[number, number]> {
  const [small, large] = [request(1), request(2)];
  let two = await timeOf(contract, large);
  // Fast enough, regardless of the other one.
  if (two <= FREE_MS) return [0, two];
  let one = await timeOf(contract, small);
  for (let tries = 1; tries < TRIES && isOver(one, two); tries++) {
    one = Math.min(one, await timeOf(contract, small));
    two = Math.min(two, await timeOf(contract, large));
  }
  return [one, two];
}

const isOver = (one: number, two: number): boolean => two > FREE_MS && two > MOST_GROWTH * one;

describe("twice the input takes at most about twice the processor time", () => {
  for (const { contract } of ENDPOINTS) {
    const name = `${contract.method} ${pathsOf(contract)[0]}`;
    test(`${name} takes no more than ${MOST_GROWTH} times as long for twice the input`, async () => {
      const sample = (await samples[name]?.()) ?? {};
      for (const each of growing(contract, sample)) {
        if (turn++ % SHARE !== 0) continue;
        const [one, two] = await timesOf(contract, each);
        const times = `${one.toFixed(0)} ms, then ${two.toFixed(0)} ms`;
        assert.ok(!isOver(one, two), `${each.what}: ${times}`);
      }
    });
  }
});
