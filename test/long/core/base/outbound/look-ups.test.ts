/* How the guard looks up names that others give: unanswered ones must not stop the look-ups of the process. */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, beforeEach, describe, test } from "node:test";
import { fetchOutbound } from "../../../../../src/core/outbound/fetch-outbound.ts";
import {
  createOutbound,
  OutboundRefused,
  UNGUARDED,
} from "../../../../../src/core/outbound/outbound.ts";
import { startNameServer } from "../../../../system/reach/name-server.ts";

const names = await startNameServer();
const trusted = names.keep("trusted", "127.0.0.1");
const outbound = createOutbound({ allow: ["127.0.0.0/8", trusted], own: [] });

const mustResolve = { mustResolve: true };

describe("look-ups of names that others give", () => {
  beforeEach(() => Object.assign(names.ofSystem, { times: 0, most: 0 }));

  test("names that a name server never answers for are refused, and the system looks up none of them", async () => {
    const checks = Array.from({ length: 50 }, (_, index) =>
      outbound.check(names.ignore(`silent-${index}`), 80, mustResolve),
    );
    for (const check of checks) await assert.rejects(check, OutboundRefused);
    assert.equal(names.ofSystem.times, 0);
  });

  test("a request ends with its signal while its host is looked up", async () => {
    const url = `http://${names.ignore("silent")}/`;
    const request = fetchOutbound(outbound, { url, signal: AbortSignal.timeout(100) });
    await assert.rejects(request, { name: "TimeoutError" });
  });

  test("without a signal a host that is never answered for fails as one that the name server is silent about", async () => {
    await assert.rejects(outbound.resolve(names.ignore("silent"), 80), {
      code: "EAI_AGAIN",
      syscall: "getaddrinfo",
    });
  });

  test("names that only the system knows are found, one at a time", async () => {
    const hosts = [1, 2, 3, 4].map((each) => names.keep(`kept-${each}`, `127.0.0.${each}`));
    const found = await Promise.all(hosts.map((host) => outbound.resolve(host, 80)));
    assert.deepEqual(found.flat(), ["127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4"]);
    assert.deepEqual(names.ofSystem, { times: 4, most: 1 });
  });

  test("a name that OUTBOUND_ALLOW lists, and those of an administrator, are the system's at once", async () => {
    assert.deepEqual(await outbound.resolve(trusted, 80), ["127.0.0.1"]);
    assert.deepEqual(await UNGUARDED.resolve(trusted, 80), ["127.0.0.1"]);
    assert.deepEqual([names.asked(trusted), names.ofSystem.times], [0, 2]);
  });

  test("a name with addresses of both families has one of each first, and every address is checked", async () => {
    const both = names.answer("both", ["8.8.8.8", "8.8.4.4", "2606:4700::1111", "2606:4700::1001"]);
    const [first = "", second = "", ...rest] = await outbound.resolve(both, 80);
    assert.deepEqual([first.includes(":"), second.includes(":"), rest.length], [false, true, 2]);
    const mixed = names.answer("mixed", ["8.8.8.8", "fc00::1"]);
    await assert.rejects(outbound.resolve(mixed, 80), OutboundRefused);
  });

  test("a request goes to the address that the name server gave", async () => {
    const server = createServer((request, response) => response.end(request.headers.host));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    after(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const host = `${names.answer("here", ["127.0.0.1"])}:${port}`;
    const response = await fetchOutbound(outbound, { url: `http://${host}/` });
    assert.equal(await response.text(100), host);
    assert.equal(names.ofSystem.times, 0);
  });
});
