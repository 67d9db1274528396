/* The runner of the suite finds out which test something belongs to in another way than Node does by itself: it has to find the same. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { temporaryFolder } from "../stored-rows.ts";

/** Tests, hooks and errors in each place that says nothing of the test that it belongs to. */
const TESTS = `
import { EventEmitter, once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { after, afterEach, before, beforeEach, describe, it, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

const said = [];
const say = (text) => said.push(text);
// Tests side by side end in any order.
process.on("exit", () => console.log("SAID " + said.sort().join(", ")));

const server = createServer(async (request, response) => {
  await wait(2);
  response.end(request.url);
}).listen(0, "127.0.0.1");
await once(server, "listening");
const ask = (path) => fetch("http://127.0.0.1:" + server.address().port + path).then((response) => response.text());
after(() => { say("all have ended"); server.close(); server.closeAllConnections(); });

describe("a suite", { concurrency: 2 }, () => {
  before(async () => { await wait(1); say("before the suite"); });
  beforeEach((context) => say("before " + context.name));
  afterEach((context) => say("after " + context.name));
  after(() => say("after the suite"));
  for (const name of ["one", "two"]) {
    it(name, async (context) => {
      await ask("/" + name);
      after(() => say(name + " has ended"));
      await readFile(new URL(import.meta.url));
      await test(name + " within", async () => {
        await new Promise((resolve) => setImmediate(resolve));
        after(() => say(name + " within has ended"));
        await context.test("of its context", () => wait(1));
      });
    });
  }
  describe("another suite", () => {
    after(() => say("after another suite"));
    it("throws in a timer", async () => {
      setTimeout(() => { throw new Error("thrown in a timer"); }, 1);
      await wait(20);
    });
    it("rejects unnoticed", async () => {
      const asked = ask("/rejects");
      void asked.then(() => Promise.reject(new Error("rejected unnoticed")));
      await asked;
      await wait(20);
    });
    it("throws in a listener", async () => {
      const events = new EventEmitter();
      events.on("now", () => { throw new Error("thrown in a listener"); });
      setImmediate(() => events.emit("now"));
      await new Promise((resolve) => setImmediate(resolve));
    });
  });
});

const begun = wait(1);
let hasEnded = false;
test("a test that waits for what was begun outside it", async () => {
  await begun;
  after(() => { hasEnded = true; });
});
test("the next one", () => say("its hook is one of the " + (hasEnded ? "test" : "file")));

test("a test that declares others after a response", async (context) => {
  await ask("/later");
  const late = context.test("a late one", async () => { await ask("/late"); after(() => say("a late one has ended")); });
  await late;
  after(() => say("the last has ended"));
});
`;

/** The report and the end of a run, without durations and places. */
async function runTests(folder: string, ...options: string[]): Promise<string> {
  const file = join(folder, "some.mjs");
  await writeFile(file, TESTS);
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  return new Promise((resolve) => {
    const args = [...options, "--test-reporter=tap", file];
    execFile(process.execPath, args, { env }, (error, stdout, stderr) => {
      const report = stdout.replaceAll(/^.*(?:duration_ms|\bat |node:internal|stack:).*\n/gm, "");
      resolve(`${report}${stderr}\nEnded with ${error?.code ?? 0}.`);
    });
  });
}

test("tests, hooks and errors belong to the same tests as with Node's own tracking, apart from what waits for something outside", async () => {
  const folder = await temporaryFolder();
  const lighter = new URL("light-tracking.js", import.meta.url).href;
  const usual = await runTests(folder);
  const light = await runTests(folder, `--import=${lighter}`);
  assert.equal(light, usual.replace("its hook is one of the file", "its hook is one of the test"));
  assert.notEqual(light, usual);
  assert.match(usual, /thrown in a timer.*rejected unnoticed.*thrown in a listener/s);
  assert.match(usual, /SAID a late one has ended, .* one within has ended/);
  assert.match(usual, /Ended with 1\.$/);
});
