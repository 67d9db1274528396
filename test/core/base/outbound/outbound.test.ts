/* The guard of outgoing connections, against real sockets and the system's resolver. */
import assert from "node:assert/strict";
import { createServer, type RequestListener } from "node:http";
import { createServer as createTcpServer } from "node:net";
import { after, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { BodyTooLarge, fetchOutbound } from "../../../../src/core/outbound/fetch-outbound.ts";
import { createOutbound, OutboundRefused } from "../../../../src/core/outbound/outbound.ts";

const strict = createOutbound({ allow: [], own: [] });

const local = createOutbound({ allow: ["127.0.0.0/8"], own: [] });

async function serve(listener: RequestListener): Promise<{ url: string; port: number }> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  after(() => void server.close());
  const { port } = server.address() as { port: number };
  return { url: `http://127.0.0.1:${port}`, port };
}

describe("outgoing connections", () => {
  for (const host of [
    "127.0.0.1",
    "127.1",
    "0x7f000001",
    "2130706433",
    "localhost",
    "LOCALHOST.",
    "0.0.0.0",
    "10.0.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "100.64.0.1",
    "169.254.169.254",
    "168.63.129.16",
    "192.0.0.192",
    "224.0.0.1",
    "255.255.255.255",
    "::1",
    "[::1]",
    "::",
    "::ffff:127.0.0.1",
    "::ffff:7f00:1",
    "::127.0.0.1",
    "64:ff9b::7f00:1",
    "2002:7f00:1::",
    "2001:db8::1",
    "fe80::1",
    "fe80::1%lo",
    "fc00::1",
    "fd00:ec2::254",
    "fec0::1",
    "ff02::1",
  ]) {
    test(`the address ${host} is refused unless it is allowed`, async () => {
      await assert.rejects(strict.check(host, 443), OutboundRefused);
    });
  }

  for (const host of [
    "8.8.8.8",
    "172.32.0.1",
    "100.63.255.255",
    "2606:4700::1111",
    "::ffff:8.8.8.8",
  ]) {
    test(`the public address ${host} passes`, async () => {
      await strict.check(host, 443);
    });
  }

  test("an allowed network, address or host name passes, and its neighbours do not", async () => {
    const outbound = createOutbound({ allow: ["10.1.0.0/16", "fd00::1", "localhost"], own: [] });
    for (const host of ["10.1.2.3", "fd00::1", "LocalHost"]) await outbound.check(host, 80);
    for (const host of ["10.2.0.1", "fd00::2", "127.0.0.1"]) {
      await assert.rejects(outbound.check(host, 80), OutboundRefused);
    }
  });

  test("a refusal names the host as given, and no address", async () => {
    await assert.rejects(strict.check("localhost", 80), (error: Error) => {
      assert.match(error.message, /'localhost'/);
      assert.doesNotMatch(error.message, /127\.0\.0\.1|::1/);
      return true;
    });
  });

  test("a name that cannot be resolved passes when declared and fails when connecting", async () => {
    await strict.check("no-such-host.invalid", 80);
    await assert.rejects(strict.connect("no-such-host.invalid", 80), /ENOTFOUND|EAI_AGAIN/);
  });

  test("Rapport's own database is refused by every name of it, even if the network is allowed", async () => {
    const own = [{ host: "localhost", port: 5_432 }];
    const outbound = createOutbound({ allow: ["0.0.0.0/0", "::/0", "localhost"], own });
    for (const host of ["localhost", "127.0.0.1", "127.0.0.2", "::1", "0.0.0.0"]) {
      await assert.rejects(outbound.check(host, 5_432), OutboundRefused);
      await outbound.check(host, 5_433);
    }
  });

  test("a socket is connected to the address that was checked", async () => {
    const server = createTcpServer((socket) => socket.end("hello"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    after(() => void server.close());
    const { port } = server.address() as { port: number };
    await assert.rejects(strict.connect("127.0.0.1", port), OutboundRefused);
    const socket = await local.connect("127.0.0.1", port);
    assert.equal(socket.remoteAddress, "127.0.0.1");
    let text = "";
    for await (const part of socket) text += part;
    assert.equal(text, "hello");
  });
});

describe("outgoing HTTP requests", () => {
  test("a request sends method, headers and body, and gets status, headers and body", async () => {
    const { url } = await serve(async (request, response) => {
      let body = "";
      for await (const part of request) body += part;
      response.writeHead(201, { "x-answer": "yes" });
      response.end(`${request.method} ${request.headers["x-mine"]} ${body}`);
    });
    const headers = { "x-mine": "1" };
    const response = await fetchOutbound(local, { url, method: "POST", headers, body: "hé" });
    assert.equal(response.status, 201);
    assert.equal(response.headers["x-answer"], "yes");
    assert.equal(await response.text(100), "POST 1 hé");
  });

  test("a refused host gets no request", async () => {
    let requests = 0;
    const { url } = await serve((_, response) => {
      requests += 1;
      response.end();
    });
    await assert.rejects(fetchOutbound(strict, { url }), OutboundRefused);
    assert.equal(requests, 0);
  });

  test("a redirect is returned and not followed", async () => {
    let requests = 0;
    const { url } = await serve((_, response) => {
      requests += 1;
      response.writeHead(302, { location: "http://169.254.169.254/" }).end();
    });
    const response = await fetchOutbound(local, { url });
    response.discard();
    assert.equal(response.status, 302);
    assert.equal(requests, 1);
  });

  test("a body is read up to its bound, packed or not, and the connection ends there", async () => {
    let isClosed: Promise<unknown> | undefined;
    const { url } = await serve((request, response) => {
      isClosed = new Promise((resolve) => response.on("close", resolve));
      if (request.url === "/packed") {
        response.writeHead(200, { "content-encoding": "gzip" });
        response.end(gzipSync(Buffer.alloc(10_000_000)));
        return;
      }
      response.on("drain", () => response.write(Buffer.alloc(65_536)));
      response.write(Buffer.alloc(65_536));
      response.write(Buffer.alloc(65_536));
    });
    for (const path of ["/endless", "/packed"]) {
      const response = await fetchOutbound(local, { url: url + path });
      await assert.rejects(response.text(1_000_000), BodyTooLarge);
      await isClosed;
    }
  });

  test("a packed body is unpacked", async () => {
    const { url } = await serve((_, response) => {
      response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync("unpacked"));
    });
    assert.equal(await (await fetchOutbound(local, { url })).text(100), "unpacked");
  });

  test("a server that is silent or breaks off fails the request", async () => {
    const { url } = await serve((request, response) => {
      if (request.url === "/silent") return;
      response.writeHead(200, { "content-length": "1000" });
      response.write("half");
      setTimeout(() => response.destroy(), 20);
    });
    await assert.rejects(fetchOutbound(local, { url: `${url}/silent`, silenceMs: 50 }), /silent/);
    const response = await fetchOutbound(local, { url });
    await assert.rejects(response.text(10_000));
  });

  test("a server that sends its headers or its body drop by drop fails the request", async () => {
    const { url } = await serve((request, response) => {
      if (request.url === "/headers") response.socket?.write("HTTP/1.1 200 OK\r\n");
      else response.writeHead(200).flushHeaders();
      const drop = () => response.socket?.write(request.url === "/headers" ? "a" : "1\r\na\r\n");
      const dripping = setInterval(drop, 10);
      response.on("close", () => clearInterval(dripping));
    });
    const limits = { silenceMs: 5_000, longestMs: 1_000 };
    await assert.rejects(fetchOutbound(local, { url: `${url}/headers`, ...limits }), /too slow/);
    const response = await fetchOutbound(local, { url, ...limits });
    await assert.rejects(response.text(10_000), /too slow/);
  });

  test("a reader may take its time over a body", async () => {
    const { url } = await serve((_, response) => {
      response.write("one");
      setTimeout(() => response.end("two"), 50);
    });
    const { inTime } = await fetchOutbound(local, { url, longestMs: 1_500 });
    let text = "";
    for await (const part of inTime()) {
      text += part.toString();
      if (text === "one") await sleep(2_000);
    }
    assert.equal(text, "onetwo");
  });

  test("other protocols, and URLs with a password, are refused", async () => {
    for (const url of ["ftp://8.8.8.8/", "file:///etc/passwd", "http://u:p@8.8.8.8/"]) {
      await assert.rejects(fetchOutbound(strict, { url }), TypeError);
    }
  });
});
