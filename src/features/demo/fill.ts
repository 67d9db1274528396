import { setTimeout as sleep } from "node:timers/promises";
import type { PreparedServer } from "../../core/feature.ts";
import { aliasOf } from "./activity.ts";
import { MANIFEST } from "./company.ts";
import { sampleAt } from "./sample.ts";
import { IDS } from "./shop.ts";

export interface Filled {
  readonly users: number;
  readonly events: number;
  readonly purchases: number;
  readonly merged: number;
  /** The preference page of one of the customers. */
  readonly pageUrl: string;
}

/** As many as a track request takes by default. */
const OBJECTS_EACH = 50;

/** A merge request takes no more. */
const MERGES_EACH = 50;

/** As many as the server joins into a few transactions, and few enough not to be shed. */
const REQUESTS_AT_ONCE = 8;

/** How often a request is sent that the server refuses for now, a second or more apart. */
const MOST_TRIES = 20;

/**
 * Sends everything as a client would: the manifest, then users, events and purchases, then merges.
 *
 * @throws Error with the first refusal.
 */
export async function fill({ url, adminToken, key }: PreparedServer, now: Date): Promise<Filled> {
  const { people, visitors, events, purchases } = sampleAt(now);
  const track = (name: string, objects: readonly object[]) =>
    inParallel(chunksOf(objects, OBJECTS_EACH), async (chunk) => {
      await send(url, "/users/track", key, { [name]: chunk });
    });
  await send(url, "/admin/v1/apply", adminToken, MANIFEST);
  await track("attributes", [
    ...people.map(({ attributes }) => attributes),
    // Only an attribute creates a user of whom nothing but an alias is known.
    ...visitors.map((visitor) => ({
      user_alias: aliasOf(visitor),
      _update_existing_only: false,
      country: visitor.place.country,
    })),
  ]);
  await track("events", events);
  await track("purchases", purchases);
  const merges = visitors.map((visitor) => ({
    identifier_to_merge: { user_alias: aliasOf(visitor) },
    identifier_to_keep: { external_id: visitor.externalId },
  }));
  for (const merge_updates of chunksOf(merges, MERGES_EACH)) {
    await send(url, "/users/merge", key, { merge_updates });
  }
  const [reader] = people.filter(({ getsNewsletter }) => getsNewsletter);
  const page = await send(
    url,
    `/preference_center/v1/${IDS.center}/url/${reader?.externalId}`,
    key,
  );
  return {
    users: people.length,
    events: events.length,
    purchases: purchases.length,
    merged: visitors.length,
    pageUrl: String(page.preference_center_url),
  };
}

/** Sends a request; with a body it is a POST. A server that is busy gets it again later. */
async function send(
  base: string,
  path: string,
  token: string,
  body?: object,
): Promise<Readonly<Record<string, unknown>>> {
  const request = {
    method: body === undefined ? "GET" : "POST",
    headers: {
      authorization: `Bearer ${token}`,
      ...(body && { "content-type": "application/json" }),
    },
    ...(body && { body: JSON.stringify(body) }),
  };
  for (let tries = 1; ; tries += 1) {
    const response = await fetch(base + path, request);
    const answer = (await response.json()) as Record<string, unknown>;
    // A successful response names objects that are refused or change nothing.
    const faults = answer.errors ?? answer.skipped;
    if (response.ok && faults === undefined) return answer;
    const wait = Number(response.headers.get("retry-after"));
    if (response.ok || !(wait > 0) || tries === MOST_TRIES) {
      const reason = JSON.stringify(faults ?? answer.message);
      throw new Error(`The server refused ${path} of the demo: ${reason}`);
    }
    await sleep(wait * 1_000);
  }
}

const chunksOf = <Each>(all: readonly Each[], size: number): Each[][] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, index) =>
    all.slice(index * size, (index + 1) * size),
  );

/** Runs a task for each, a few at a time. The first failure ends it. */
async function inParallel<Each>(
  all: readonly Each[],
  task: (each: Each) => Promise<void>,
): Promise<void> {
  const left = all.values();
  const work = async () => {
    for (const each of left) await task(each);
  };
  await Promise.all(Array.from({ length: REQUESTS_AT_ONCE }, work));
}
