/* Members of responses that open something are declared, so that they are masked (docs/decisions/live-requests.md). */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { TSchema } from "typebox";
import { keyOf } from "../../../src/core/http/endpoint.ts";
import { ENDPOINTS } from "../../../src/server/assembled.ts";

const OPENS = /(^|_)(url|link|key|token|secret|password)$/;

/** Names that only look as if they opened something. */
const HARMLESS = ["locale_key", "logo_url", "redirect_url"];

/** The names of all members of a schema, at any depth. */
function membersOf(schema: TSchema): string[] {
  const { properties, items, anyOf, allOf } = schema as Record<string, any>;
  const inner = [...Object.values(properties ?? {}), items, ...(anyOf ?? []), ...(allOf ?? [])];
  return [
    ...Object.keys(properties ?? {}),
    ...inner.filter((each) => each !== undefined).flatMap((each) => membersOf(each as TSchema)),
  ];
}

/** What was declared by the caller, and is read again. */
const isDeclared = (call: string, name: string): boolean =>
  name === "url" && /webhooks|settings|workspaces(\/:name)?$/.test(call);

test("every endpoint declares the members of its responses that open something", () => {
  const missing = ENDPOINTS.flatMap(({ contract }) => {
    const { secrets = [], replies, access } = contract;
    const call = keyOf(contract);
    // What administrators read shows no secret again (`secrets.test.ts`), and a session begins in the browser alone.
    const isRead = access.by === "administrator" && contract.method === "GET";
    if (isRead || access.by === "session" || access.by === "anybody") return [];
    return Object.values(replies)
      .flatMap(membersOf)
      .filter((name) => OPENS.test(name) && !secrets.includes(name))
      .filter((name) => !HARMLESS.includes(name))
      .filter((name) => !isDeclared(call, name))
      .map((name) => `${call} ${name}`);
  });
  assert.deepEqual(missing, []);
});

test("a response with secrets is not recorded for an Idempotency-Key", () => {
  const recorded = ENDPOINTS.map(({ contract }) => contract)
    .filter(({ access, secrets }) => secrets && (access.by === "key" || access.by === "scim"))
    .filter(({ method, idempotency }) => method !== "GET" && idempotency !== "ignored");
  assert.deepEqual(recorded.map(keyOf), []);
});
