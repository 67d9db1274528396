/* The treatment of an address that sends one wrong secret after another. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createFailedAttempts } from "../../../../../src/core/admin/access/failed-attempts.ts";
import { networkOf } from "../../../../../src/core/outbound/networks.ts";
import { freePort } from "../../../../free-port.ts";
import { startOwnServer } from "../../../../harness.ts";

const MOST = 3;
const metricsPort = await freePort();
const server = await startOwnServer({
  maxFailedAuth: MOST,
  trustedProxies: ["127.0.0.1"],
  metricsPort,
});
const workspace = await server.workspace();
const ORIGIN = "acme.example";
const { token: SCIM_TOKEN } = (
  await server.admin("POST", "/admin/v1/scim-tokens", { name: "idp", service_origin: ORIGIN })
).body;

const trackFrom = (address: string, key: string) =>
  workspace.track({ attributes: [] }, { key, headers: { "x-forwarded-for": address } });

async function exhaust(address: string): Promise<void> {
  for (let sent = 0; sent < MOST; sent++) {
    assert.equal((await trackFrom(address, `wrong-${sent}`)).status, 401);
  }
}

describe("wrong secrets", () => {
  test("too many wrong secrets from one address get 429 with Retry-After, while valid ones keep working", async () => {
    await exhaust("192.0.2.1");
    const refused = await trackFrom("192.0.2.1", "wrong-again");
    assert.equal(refused.status, 429);
    assert.deepEqual(refused.body, {
      message: "Too many requests without a valid secret came from this address.",
    });
    const seconds = Number(refused.headers.get("retry-after"));
    assert.ok(seconds >= 1 && seconds <= 60, `${seconds}`);

    for (const address of ["192.0.2.1", "192.0.2.2"]) {
      assert.notEqual((await trackFrom(address, workspace.key)).status, 429);
      assert.notEqual((await trackFrom(address, workspace.key)).status, 401);
    }
    assert.equal((await trackFrom("192.0.2.2", "wrong")).status, 401);
    assert.equal((await trackFrom("192.0.2.1", "wrong-still")).status, 429);
  });

  test("a new key works immediately from an address that sent too many wrong ones", async () => {
    await exhaust("192.0.2.3");
    assert.equal((await trackFrom("192.0.2.3", "wrong")).status, 429);
    const path = `/admin/v1/workspaces/${workspace.name}/api-keys`;
    const { body } = await server.admin("POST", path, { name: "new", permissions: ["all"] });
    assert.notEqual((await trackFrom("192.0.2.3", body.key)).status, 429);
  });

  test("an address that sent too many wrong admin tokens gets 429 for the right one too, and no other address does", async () => {
    const from = (address: string, key: string) =>
      server.send("GET", "/admin/v1/workspaces", undefined, {
        key,
        headers: { "x-forwarded-for": address },
      });
    for (let sent = 0; sent < MOST; sent++)
      assert.equal((await from("192.0.2.20", "no")).status, 401);
    const locked = await from("192.0.2.20", server.adminToken);
    assert.equal(locked.status, 429);
    assert.ok(Number(locked.headers.get("retry-after")) <= 60);
    assert.equal((await from("192.0.2.21", server.adminToken)).status, 200);
    assert.notEqual((await trackFrom("192.0.2.20", workspace.key)).status, 429);
    const signIn = await server.send(
      "POST",
      "/dashboard/session",
      { admin_token: server.adminToken },
      { headers: { "x-forwarded-for": "192.0.2.20" } },
    );
    assert.equal(signIn.status, 429);
  });

  test("an address that sent too many wrong SCIM tokens gets 429 for the right one too, and no other address does", async () => {
    const from = (address: string, key: string) =>
      server.send("GET", "/scim/v2/Users", undefined, {
        key,
        headers: { "x-forwarded-for": address, "x-request-origin": ORIGIN },
      });
    for (let sent = 0; sent < MOST; sent++)
      assert.equal((await from("192.0.2.22", "no")).status, 401);
    assert.equal((await from("192.0.2.22", SCIM_TOKEN)).status, 429);
    assert.equal((await from("192.0.2.23", SCIM_TOKEN)).status, 200);
  });

  test("all addresses of an IPv6 /64 network share one count of failed authentications", async () => {
    await exhaust("2001:db8:0:1::1");
    assert.equal((await trackFrom("2001:db8:0:1:ffff::2", "wrong")).status, 429);
    assert.equal((await trackFrom("2001:db8:0:2::1", "wrong")).status, 401);
  });

  test("wrong SCIM and admin tokens are throttled like API keys, and SCIM responses use the SCIM error format", async () => {
    await exhaust("192.0.2.4");
    const from = (path: string, key: string) =>
      server.send("GET", path, undefined, {
        key,
        headers: {
          "x-forwarded-for": "192.0.2.4",
          "x-request-origin": ORIGIN,
        },
      });
    const scim = await from("/scim/v2/Users", "wrong");
    assert.equal(scim.status, 429);
    assert.equal(scim.body.status, 429);
    assert.match(scim.body.detail, /^Too many requests without a valid secret/);
    assert.equal((await from("/scim/v2/Users", SCIM_TOKEN)).status, 200);
    assert.equal((await from("/admin/v1/workspaces", "wrong")).status, 429);
    assert.equal((await from("/admin/v1/workspaces", server.adminToken)).status, 200);
  });

  test("a metric counts requests without a valid secret by the kind of secret they needed", async () => {
    await trackFrom("192.0.2.5", "wrong");
    await server.send("GET", "/scim/v2/Users", undefined, { key: "wrong" });
    await server.send("GET", "/admin/v1/workspaces", undefined, { key: "wrong" });
    const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    for (const kind of ["key", "scim", "administrator"]) {
      assert.match(text, new RegExp(`rapport_failed_authentications_total{kind="${kind}"} [1-9]`));
    }
  });
});

describe("failed authentications per address", () => {
  test("the failed authentications of an address expire after one minute", () => {
    let now = 0;
    const attempts = createFailedAttempts(1, { failedAuthentication() {} }, () => now);
    const codeOf = () => attempts.refuse("key", "192.0.2.1").code;
    assert.deepEqual([codeOf(), codeOf()], ["UNAUTHENTICATED", "RATE_LIMITED"]);
    now = 59_999;
    assert.equal(attempts.refuse("key", "192.0.2.1").details.retryAfterSeconds, 1);
    now = 60_000;
    assert.equal(codeOf(), "UNAUTHENTICATED");
  });

  test("failed authentications are counted for the 10,000 addresses with the latest attempts", () => {
    const attempts = createFailedAttempts(1, { failedAuthentication() {} });
    const codeOf = (address: string) => attempts.refuse("key", address).code;
    for (const each of ["192.0.2.1", "192.0.2.2", "192.0.2.1"]) codeOf(each);
    for (let n = 0; n < 9_999; n++) codeOf(`10.1.${n >> 8}.${n & 255}`);
    assert.equal(codeOf("192.0.2.1"), "RATE_LIMITED");
    assert.equal(codeOf("192.0.2.2"), "UNAUTHENTICATED");
  });

  test("failed authentications are counted per IPv4 address and per IPv6 /64 network", () => {
    const cases = [
      ["192.0.2.1", "192.0.2.1"],
      ["::ffff:192.0.2.1", "192.0.2.1"],
      ["::ffff:c000:201", "192.0.2.1"],
      ["2001:db8::1", "2001:db8:0:0"],
      ["2001:0DB8:0000:0001:1:2:3:4", "2001:db8:0:1"],
      ["::1", "0:0:0:0"],
      ["fe80::1%eth0", "fe80:0:0:0"],
      ["1:2:3:4:5:6:7:8", "1:2:3:4"],
      ["1:2:3:4::", "1:2:3:4"],
      ["2001:db8::192.0.2.1", "2001:db8:0:0"],
      ["unknown", "unknown"],
      ["", "unknown"],
      ["not:an address", "unknown"],
    ];
    for (const [address = "", network] of cases) assert.equal(networkOf(address), network, address);
  });
});
