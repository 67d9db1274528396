/* How many requests pages serve to one client and for one workspace. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Problem } from "../../../src/core/base/problem.ts";
import { createPageLimits } from "../../../src/features/preference-centers/page-limits.ts";
import { startOwnServer } from "../../harness.ts";
import { emailStateOf, opened, openPage, submit } from "../../preference-center-calls.ts";

const LIMIT = 5;

const server = await startOwnServer({ pageLimit: LIMIT, trustedProxies: ["127.0.0.1"] });

const from = (address: string) => ({ "x-forwarded-for": address });

describe("GET /preferences/{link}", () => {
  test("a client that exceeds the page limit gets a 429 page with Retry-After; other clients do not", async () => {
    const { path } = await opened(server);
    for (let sent = 0; sent < LIMIT; sent++) {
      assert.equal((await openPage(server, path, from("192.0.2.1"))).status, 200);
    }
    const over = await openPage(server, path, from("192.0.2.1"));
    assert.equal(over.status, 429);
    assert.match(over.headers.get("content-type") ?? "", /^text\/html/);
    const seconds = Number(over.headers.get("retry-after"));
    assert.ok(seconds >= 1 && seconds <= 60 / LIMIT, `${seconds}`);
    assert.equal((await openPage(server, path, from("192.0.2.2"))).status, 200);
  });

  test("requests with forged preference links count towards the page limit of the client", async () => {
    const { path } = await opened(server);
    for (let sent = 0; sent < LIMIT; sent++) {
      assert.equal((await openPage(server, `${path}x`, from("192.0.2.3"))).status, 404);
    }
    assert.equal((await openPage(server, path, from("192.0.2.3"))).status, 429);
  });

  test("all addresses of an IPv6 /64 network share one page limit", async () => {
    const { path } = await opened(server);
    for (let sent = 0; sent < LIMIT; sent++) {
      const answer = await openPage(server, path, from(`2001:db8::1:${sent}`));
      assert.equal(answer.status, 200);
    }
    assert.equal((await openPage(server, path, from("2001:db8:0:0:2::9"))).status, 429);
    assert.equal((await openPage(server, path, from("2001:db8:0:1::9"))).status, 200);
  });
});

describe("POST /preferences/{link}", () => {
  test("a one-click unsubscribe works even if pages are rate limited, up to a separate limit", async () => {
    const { workspace, path } = await opened(server);
    const local = Array.from({ length: LIMIT + 1 }, () => openPage(server, path));
    const statuses = (await Promise.all(local)).map(({ status }) => status);
    assert.equal(statuses.filter((status) => status === 429).length, 1);
    const oneClick = () => submit(server, path, { "List-Unsubscribe": "One-Click" });
    assert.equal((await oneClick()).status, 200);
    assert.equal(await emailStateOf(workspace), "unsubscribed");
    let last = 200;
    for (let sent = 1; sent <= 20 * LIMIT && last === 200; sent++) last = (await oneClick()).status;
    assert.equal(last, 429);
  });
});

describe("page limits", () => {
  const page = (address: string) => ({ address, isOneClick: false });
  const isRefused = (error: unknown) => error instanceof Problem && error.code === "RATE_LIMITED";

  test("the page limit of a workspace is 50 times that of a client and is counted per workspace", () => {
    const limits = createPageLimits(2, () => 0);
    for (let sent = 0; sent < 100; sent++) limits.countForWorkspace(1, page(`${sent}`));
    assert.throws(() => limits.countForWorkspace(1, page("new")), isRefused);
    limits.countForWorkspace(1, { address: "new", isOneClick: true });
    limits.countForWorkspace(2, page("new"));
  });

  test("an exhausted page limit refills within one minute", () => {
    let now = 0;
    const limits = createPageLimits(2, () => now);
    const open = () => limits.countForAddress(page("192.0.2.1"));
    open();
    open();
    assert.throws(open, isRefused);
    now += 30_000;
    open();
    assert.throws(open, isRefused);
    now += 3_600_000;
    open();
    open();
    assert.throws(open, isRefused);
  });

  test("an address shares its page limit in every spelling, and all texts that are not addresses share one", () => {
    const same = [
      ["192.0.2.1", "::ffff:192.0.2.1", "::FFFF:c000:0201"],
      ["2001:db8::1", "2001:0DB8:0000:0000::2", "2001:db8:0:0:1::%eth0"],
      ["unknown", "client 7", "10.0.0.1, 10.0.0.2"],
    ];
    for (const [first = "", ...others] of same) {
      const limits = createPageLimits(1, () => 0);
      limits.countForAddress(page(first));
      for (const each of others) assert.throws(() => limits.countForAddress(page(each)), isRefused);
    }
  });

  test("page limits are counted for at most 20,000 client addresses", () => {
    const limits = createPageLimits(1, () => 0);
    const first = () => limits.countForAddress(page("192.0.2.1"));
    first();
    assert.throws(first, isRefused);
    for (let sent = 0; sent < 20_000; sent++)
      limits.countForAddress(page(`10.0.${sent >> 8}.${sent & 255}`));
    first();
  });
});
