import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  allowlistOf,
  isAllowlistEntry,
} from "../../../../../src/core/admin/access/ip-allowlist.ts";
import { startOwnServer, startServer, type TestServer } from "../../../../harness.ts";

const direct = await startServer();
const proxied = await startOwnServer({ trustedProxies: ["127.0.0.0/8", "10.9.0.0/16"] });

async function statusFrom(server: TestServer, allowlist: string[], forwardedFor?: string) {
  const key = `key-${Math.random()}`;
  await server.workspace({
    api_keys: [{ name: "listed", key, permissions: ["all"], ip_allowlist: allowlist }],
  });
  const answer = await server.send(
    "POST",
    "/users/track",
    { attributes: [{ external_id: "ada" }] },
    { key, headers: forwardedFor === undefined ? {} : { "x-forwarded-for": forwardedFor } },
  );
  if (answer.status === 403) assert.match(answer.body.message, /may not be used from this address/);
  return answer.status;
}

describe("the IP allowlist of a key limits the addresses that can use the key", () => {
  const cases: readonly [
    what: string,
    server: TestServer,
    list: string[],
    forwarded: string | undefined,
    status: number,
  ][] = [
    ["an empty list allows everybody", direct, [], undefined, 201],
    ["a listed address is allowed", direct, ["192.0.2.1", "127.0.0.1"], undefined, 201],
    ["a listed block is allowed", direct, ["127.0.0.0/8"], undefined, 201],
    ["another address is refused", direct, ["192.0.2.1"], undefined, 403],
    ["a caller who claims an address is not believed", direct, ["192.0.2.1"], "192.0.2.1", 403],
    [
      "behind a trusted proxy the caller's address counts",
      proxied,
      ["192.0.2.1"],
      "192.0.2.1",
      201,
    ],
    ["and the proxy's own does not", proxied, ["127.0.0.1"], "192.0.2.1", 403],
    [
      "through two trusted proxies the last who is not one counts",
      proxied,
      ["192.0.2.0/24"],
      "192.0.2.7, 10.9.1.1",
      201,
    ],
    [
      "an address that the caller put in front is not believed",
      proxied,
      ["192.0.2.1"],
      "192.0.2.1, 198.51.100.4",
      403,
    ],
    ["an IPv6 address matches its block", proxied, ["2001:db8::/32"], "2001:db8::7", 201],
    [
      "an IPv4 address written as IPv6 is the same",
      proxied,
      ["192.0.2.1"],
      "::ffff:192.0.2.1",
      201,
    ],
    ["a text that is not an address is on no list", proxied, ["0.0.0.0/0", "::/0"], "unknown", 403],
  ];
  for (const [what, server, list, forwarded, status] of cases) {
    test(what, async () => {
      assert.equal(await statusFrom(server, list, forwarded), status);
    });
  }
});

describe("an entry of an IP allowlist", () => {
  test("an entry of an IP allowlist must be an IP address or a CIDR block", () => {
    for (const entry of ["10.0.0.1", "10.0.0.0/8", "::1", "2001:db8::/32", "0.0.0.0/0"]) {
      assert.ok(isAllowlistEntry(entry), entry);
      assert.equal(typeof allowlistOf([entry])("192.0.2.1"), "boolean");
    }
    for (const entry of [
      "",
      "localhost",
      "10.0.0",
      "10.0.0.0/33",
      "::/129",
      "10.0.0.0/8/8",
      "10.0.0.0/",
      "10.0.0.0/-1",
    ]) {
      assert.ok(!isAllowlistEntry(entry), entry);
    }
  });
});
