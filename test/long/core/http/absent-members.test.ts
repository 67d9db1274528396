/*
 * A member that is null or empty means the same as an absent one, in every call that writes with an API key:
 * docs/decisions/null-is-absent.md. The bodies below have every member of their endpoint. Each is sent with each
 * member left out, null and empty, each time for other users; responses and stored users are compared.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { TSchema } from "typebox";
import { descriptionOf } from "../../../../src/core/http/described.ts";
import { keyOf, pathsOf } from "../../../../src/core/http/endpoint.ts";
import { ENDPOINTS } from "../../../../src/server/assembled.ts";
import { BODIES, SEGMENT, type User } from "../../../core/http/full-bodies.ts";
import { type Answer, startOwnServer } from "../../../harness.ts";
import { sampleWorkspace } from "../../../sample-requests.ts";

const CENTER = "center";
const PAGES = { page_html: "<p>Page</p>", confirmation_html: "<p>Thanks</p>" };

const server = await startOwnServer();
const workspace = await server.workspace({
  ...sampleWorkspace(),
  segments: [{ id: SEGMENT, name: "All", filter: { attribute: "external_id", exists: true } }],
  preference_centers: [{ id: CENTER, name: CENTER, ...PAGES }],
});

/** Rapport does not guess the meaning of their null: it is refused. */
const CHOICES =
  /(?:^|\.)(?:dry_run|merge_behavior|use_double_opt_in_logic|output_format|state|type|visits\.inc|pets\.\$add\.0\.id)$/;

/** An empty text, list or object is a value of its own. */
const VALUES =
  /^(first_name|last_name|home_city|image_url|plan|facebook|likes|twitter|visits|tags|pets|properties|id|app_id|platform_id|braze_id|screen_name|email_address|alias_name|alias_label|id_0|id_1)$/;

/** spec: POST /users/track, the counter of an array that was sent. */
const COUNTED = /^(attributes|events|purchases)$/;

/** An order of preferences may be empty: then only a single match is chosen. */
const PREFERENCES = "prioritization";

type Step = string | number;

/** The places of all members of a body, in lists only the members of elements. */
function* membersOf(value: unknown, path: readonly Step[] = []): Generator<readonly Step[]> {
  if (value === null || typeof value !== "object") return;
  const isList = Array.isArray(value);
  for (const [name, member] of Object.entries(value)) {
    const place = [...path, isList ? Number(name) : name];
    if (!isList) yield place;
    yield* membersOf(member, place);
  }
}

const REMOVED = Symbol("removed");

/** A copy of a body with another value at a place. */
function withMember(body: unknown, [step = "", ...rest]: readonly Step[], value: unknown): unknown {
  const copy: any = Array.isArray(body) ? [...body] : { ...(body as object) };
  if (rest.length > 0) copy[step] = withMember(copy[step], rest, value);
  else if (value === REMOVED) delete copy[step];
  else copy[step] = value;
  return copy;
}

const memberAt = (body: unknown, path: readonly Step[]): unknown =>
  path.reduce<any>((value, step) => value?.[step], body);

const emptyOf = (value: unknown): unknown =>
  Array.isArray(value) ? [] : typeof value === "object" ? {} : "";

let users = 0;

function newUser(): User {
  const number = ++users;
  return {
    id: `user-${number}-`,
    email: `user-${number}-@example.com`,
    phone: `+1415${String(5_550_100 + number)}`,
  };
}

interface Outcome {
  readonly status: number;
  readonly body: object;
  readonly isRefused: boolean;
  readonly users: unknown;
  /** What has to be equal. */
  readonly compared: unknown;
}

/** Without what differs from user to user and from moment to moment. */
function comparable(user: User, value: unknown): any {
  const text = (JSON.stringify(value) ?? "null")
    .replaceAll(user.id, "user")
    .replaceAll(user.phone, "phone")
    .replaceAll(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g, "uuid");
  return JSON.parse(text, (name, member) => {
    if (name === "random_bucket" || name === "url" || name === "object_prefix") return undefined;
    const isNow = /_at$/.test(name) && Date.parse(member) > Date.now() - 60_000;
    return isNow ? "now" : member;
  });
}

async function outcomeOf(key: string, user: User, sent: unknown): Promise<Outcome> {
  const [method = "", path = ""] = key.split(" ");
  const answer: Answer<any> = await workspace.call(
    method,
    path.replace(":preference_center_id", CENTER),
    sent,
  );
  const { status } = answer;
  const body = comparable(user, answer.body);
  const wanted = { external_ids: [user.id], email_address: user.email };
  const users = comparable(user, await workspace.profiles(wanted));
  const isRefused = status >= 400 || "errors" in body;
  // The response names the attributes that the object touched.
  const shown = key.endsWith("/sync") && !isRefused ? body.message : body;
  return { status, body, isRefused, users, compared: { status, body: shown, users } };
}

/** Endpoints with the body of another one. */
const SAME_BODY = [
  "POST /users/track/bulk",
  "POST /users/track/sync",
  "PUT /preference_center/v1/:preference_center_id",
  "POST /preference_center/v1/:preference_center_id",
];

for (const [key, bodies] of Object.entries(BODIES)) {
  describe(`${key}: a member that is null or empty is absent, or refused by name`, () => {
    const places = bodies.flatMap((bodyOf) =>
      [...membersOf(bodyOf(newUser()))].map((place) => ({ bodyOf, place })),
    );
    for (const { bodyOf, place } of places) {
      test(place.join("."), async () => {
        const send = (value: (given: unknown) => unknown) => {
          const user = newUser();
          const body = bodyOf(user);
          return outcomeOf(key, user, withMember(body, place, value(memberAt(body, place))));
        };
        const [absent, isNull, isEmpty] = await Promise.all([
          send(() => REMOVED),
          send(() => null),
          send(emptyOf),
        ]);
        const name = String(place.at(-1));
        const refusesByName = ({ body, isRefused }: Outcome) =>
          isRefused && JSON.stringify(body).includes(name);

        if (isNull.isRefused && absent.isRefused) assert.ok(isNull.status < 500);
        else if (refusesByName(isNull)) assert.match(place.join("."), CHOICES);
        else assert.deepEqual(isNull.compared, absent.compared, "null");

        const isValue = VALUES.test(name) || name === PREFERENCES;
        const isList = Array.isArray(memberAt(bodyOf(newUser()), place));
        if (isValue || (isEmpty.isRefused && absent.isRefused)) assert.ok(isEmpty.status < 500);
        else if (COUNTED.test(name)) assert.deepEqual(isEmpty.users, absent.users);
        else if (!isList && refusesByName(isEmpty)) assert.equal(isEmpty.isRefused, true);
        else assert.deepEqual(isEmpty.compared, absent.compared, "empty");
      });
    }
  });
}

/** The names of all members that a schema describes. */
function* namesIn(schema: TSchema): Generator<string> {
  const { properties = {}, items, anyOf = [] } = descriptionOf(schema) as any;
  for (const [name, member] of Object.entries<TSchema>(properties)) {
    yield name;
    yield* namesIn(member);
  }
  if (items) yield* namesIn(items);
  for (const branch of anyOf) yield* namesIn(branch);
}

test("every member of every writing call with an API key is tried as null and empty", () => {
  for (const { contract } of ENDPOINTS) {
    const isOpen = pathsOf(contract)[0]?.includes("*");
    if (contract.access.by !== "key" || contract.method === "GET" || !contract.body || isOpen) {
      continue;
    }
    if (SAME_BODY.includes(keyOf(contract))) continue;
    const bodies = BODIES[keyOf(contract)];
    assert.ok(bodies, `${keyOf(contract)} has no body here`);
    const tried = new Set(
      bodies.flatMap((bodyOf) => [...membersOf(bodyOf(newUser()))].map((place) => place.at(-1))),
    );
    for (const name of namesIn(contract.body)) {
      assert.ok(tried.has(name), `${keyOf(contract)}: '${name}' is not tried`);
    }
  }
});
