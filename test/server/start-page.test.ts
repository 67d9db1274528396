/* The page at a server's address, and the page for an address with nothing at it. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { request } from "node:http";
import { describe, test } from "node:test";
import { promisify } from "node:util";
import { startOwnServer, startServer } from "../harness.ts";
import { skipWithoutCurl } from "../system/curl.ts";

const server = await startServer();

/** What Chromium and Firefox send when a person opens an address. */
const BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8";

const open = async (path: string, accept = BROWSER, method = "GET") => {
  const response = await fetch(server.url + path, { method, headers: { accept } });
  const { status, headers } = response;
  return { status, type: headers.get("content-type") ?? "", headers, text: await response.text() };
};

/** The status and the body for a Host header that fetch would not send. */
const withHost = (host: string, url = server.url): Promise<{ status?: number; text: string }> =>
  new Promise((resolve, reject) => {
    request(`${url}/`, { headers: { host } }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk) => {
        text += chunk;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
    })
      .on("error", reject)
      .end();
  });

const ENTITIES: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#39;": "'",
};

const commandIn = (html: string): string =>
  (/<pre[^>]*>(.*?)<\/pre>/s.exec(html)?.[1] ?? "").replace(
    /&(?:amp|lt|gt|quot|#39);/g,
    (entity) => ENTITIES[entity] ?? entity,
  );

describe("the page at the server's address", () => {
  test("the page links to the dashboard, the reference and the document, and each opens", async () => {
    const { text } = await open("/");
    const links = [...text.matchAll(/href="(\/[^"]+)"/g)].map(([, path = ""]) => path);
    for (const path of ["/dashboard/", "/docs", "/openapi.json", "/openapi-admin.json"]) {
      assert.ok(links.includes(path), path);
    }
    for (const path of links) {
      const { status } = await open(path);
      // A clone that was only compiled has no notices and no dashboard.
      assert.ok(status === 200 || /notices|dashboard/.test(path), `${path}: ${status}`);
    }
  });

  test("the command on the page works when it is pasted, with a key in place of KEY", {
    skip: skipWithoutCurl,
  }, async () => {
    const workspace = await server.workspace();
    const command = commandIn((await open("/")).text);
    assert.match(command, /Bearer KEY/);
    const pasted = command.replace("KEY", workspace.key);
    const { stdout } = await promisify(execFile)("sh", ["-c", pasted]);
    assert.deepEqual(JSON.parse(stdout), { events_processed: 1, message: "success" });
  });

  test("the command names the host of the request, and a host that is none is refused", async () => {
    const { text } = await withHost("rapport.example:8443");
    assert.match(commandIn(text), /^curl 'http:\/\/rapport\.example:8443\/users\/track' /);
    for (const host of ["<b>x</b>", "x' -o /etc/passwd '", 'a"b', "x;rm", "$(id)", "a b"]) {
      const { status, text } = await withHost(host);
      assert.equal(status, 400, host);
      assert.deepEqual(JSON.parse(text), {
        message: "The Host header is not a host name or an address.",
      });
    }
  });

  test("the command names PUBLIC_URL if it is set, whatever the request says", async () => {
    const own = await startOwnServer({ publicUrl: "https://rapport.example/a&b'c" });
    const { text } = await withHost("other.example", own.url);
    assert.ok(!text.includes("other.example") && !text.includes("a&b"));
    assert.ok(commandIn(text).startsWith("curl 'https://rapport.example/a&b'\\''c/users/track' "));
    await own.stop();
  });
});

describe("an address with nothing at it", () => {
  test("a browser gets a page with the way back and what may have been meant, and 404", async () => {
    const { status, type, headers, text } = await open("/dcos");
    assert.equal(status, 404);
    assert.match(type, /^text\/html/);
    assert.match(headers.get("content-security-policy") ?? "", /default-src 'none'/);
    assert.match(headers.get("vary") ?? "", /accept/i);
    assert.match(text, /<a href="\/">/);
    assert.match(text, /There is nothing at this path\..*Did you mean \/docs\?/s);
    assert.equal((await open("/dcos", BROWSER, "HEAD")).status, 404);
  });

  test("a browser gets a page below every first step of the API, and no part of the address in it", async () => {
    for (const path of [
      "/users/trakc",
      "/scim/v2/Nothing",
      "/admin/v1/nothing",
      "/x%3Cscript%3E",
    ]) {
      const { status, type, text } = await open(path);
      assert.equal(status, 404, path);
      assert.match(type, /^text\/html/, path);
      assert.doesNotMatch(text, /script|trakc|Nothing/, path);
    }
  });

  test("a client gets JSON at an address with nothing at it, whatever it accepts besides pages", async () => {
    for (const accept of [
      "*/*",
      "application/json",
      "application/json, text/html",
      "text/htmlx",
      "text/plain",
      "",
      ",",
    ]) {
      const { status, type, text } = await open("/dcos", accept);
      assert.equal(status, 404, accept);
      assert.match(type, /^application\/json/, accept);
      assert.match(JSON.parse(text).message, /^There is nothing at this path\./);
    }
    assert.match((await open("/dcos", BROWSER, "POST")).type, /^application\/json/);
    assert.match((await open("/users/track", BROWSER)).type, /^application\/json/);
  });
});
