/*
 * A walk over every endpoint as each kind of caller without the right to it, and as one with it, with the sample request and
 * with bodies that have an unknown member, are empty, deep, wide or long. A caller is refused before a body is read: each sends
 * the sample. One of them in turn, in the night each, also sends an odd body: over the endpoints every caller sends every body.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { request as sendHttp } from "undici";
import { type Contract, keyOf, pathsOf } from "../../../../src/core/http/endpoint.ts";
import { contracts, credentialOf, optionsOf, sampleIn } from "../../../core/http/endpoint-walk.ts";
import { startPermittedPeople } from "../../../dashboard-users/permitted-people.ts";
import { pathOf, SCIM_TOKEN, sampleRequests, sampleWorkspace } from "../../../sample-requests.ts";
import { TOKEN } from "../../../scim-client.ts";
import { sized } from "../../../sizes.ts";

const { server, personWith } = await startPermittedPeople();
const REVOKED = "key-that-is-revoked-at-the-beginning";
const NOTHING = "key-that-has-no-permission-at-all";
const own = await server.workspace({
  ...sampleWorkspace(),
  api_keys: [
    { name: "revoked", key: REVOKED, permissions: ["all"] },
    { name: "nothing", key: NOTHING, permissions: [] },
  ],
});
const revoke = `/admin/v1/workspaces/${own.name}/api-keys/revoked`;
assert.equal((await server.admin("DELETE", revoke)).status, 200);
const samples = await sampleRequests(server, own);

const nobody = await personWith("workspace", []);
const gone = await personWith("company", ["admin"]);
await fetch(`${server.url}/dashboard/session`, { method: "DELETE", headers: gone.headers });

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

const scim = { ...bearer(SCIM_TOKEN), "x-request-origin": TOKEN.service_origin };

/** Callers without the right, by what they have. */
const CALLERS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "no credential": {},
  "a wrong key": bearer("wrong-key-of-nobody-at-all"),
  "a revoked key": bearer(REVOKED),
  "a key without permissions": bearer(NOTHING),
  "a SCIM token": scim,
  "a session without permissions": nobody.headers,
  "a session that has ended": gone.headers,
};

const nested = (levels: number): string => `${"[".repeat(levels)}1${"]".repeat(levels)}`;

/** Bodies by what is odd about them. */
const BODIES: Readonly<Record<string, (sample: unknown) => string>> = {
  "an unknown member": (sample) => JSON.stringify({ ...(sample as object), no_such_member: 1 }),
  "an empty object": () => "{}",
  "an empty list": () => "[]",
  null: () => "null",
  "deep nesting": () => `{"a":${nested(3_000)}}`,
  "many values": () => `{"a":[${"1,".repeat(90_000)}1]}`,
  "a long text": () => JSON.stringify({ a: "x".repeat(1_000_000) }),
};

const mayCall = ({ access }: Contract, caller: string): boolean =>
  access.by === "anybody" ||
  (access.by === "scim" && caller === "a SCIM token") ||
  // These say that nobody is signed in.
  access.by === "session";

async function statusOf(
  contract: Contract,
  path: string,
  headers: Readonly<Record<string, string>>,
  body: string | undefined,
): Promise<number> {
  const response = await sendHttp(server.url + path, {
    method: contract.method as "GET",
    headers: { "content-type": contract.accepts?.[0] ?? "application/json", ...headers },
    ...(body !== undefined && contract.method !== "GET" && { body }),
  });
  await response.body.dump();
  return response.statusCode;
}

/** Some of a list, from a place on, and from its beginning again. */
const inTurn = <Item>(items: readonly Item[], from: number, count: number): Item[] =>
  [...items, ...items].slice(from % (items.length || 1)).slice(0, Math.min(count, items.length));

/** The odd bodies that an endpoint can get. */
const bodiesFor = ({ method }: Contract) => (method === "GET" ? [] : Object.entries(BODIES));

for (const [turn, contract] of contracts.entries()) {
  test(`${keyOf(contract)} accepts no caller without the right to it, and no odd body ends in an error of the server`, async () => {
    // Two of the samples turn it off.
    await server.admin("PATCH", "/admin/v1/sign-in", { local: true });
    const sample = await sampleIn(samples, contract);
    const options = optionsOf(sample);
    const path = pathOf(pathsOf(contract)[0] ?? "", own.name, sample);
    const whole =
      sample.raw ?? (sample.body === undefined ? undefined : JSON.stringify(sample.body));
    const raw = typeof whole === "string" ? whole : undefined;
    const odd = bodiesFor(contract);
    const callers = Object.entries(CALLERS);
    for (const [place, [caller, headers]] of callers.entries()) {
      if (mayCall(contract, caller)) continue;
      const sendsOdd = sized(turn % callers.length === place, true);
      for (const [body, make] of [
        ["the sample", () => raw] as const,
        ...inTurn(odd, Math.floor(turn / callers.length) + place, sendsOdd ? 1 : 0),
      ]) {
        const status = await statusOf(
          contract,
          path,
          { ...options.headers, ...headers },
          make(sample.body),
        );
        assert.ok(status >= 400 && status < 500, `${caller} with ${body}: ${status}`);
      }
    }
    const key = credentialOf(contract, server, own);
    const right = contract.access.by === "scim" ? scim : key === null ? {} : bearer(key);
    // Each endpoint gets some of them, each of them many endpoints.
    for (const [body, make] of inTurn(odd, turn, sized(2, odd.length))) {
      const status = await statusOf(
        contract,
        path,
        { ...options.headers, ...right },
        make(sample.body),
      );
      // Exports under way may hold all their slots.
      assert.ok(status < 500 || status === 503, `the rightful caller with ${body}: ${status}`);
    }
  });
}
