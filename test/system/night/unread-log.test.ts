/* A log that nobody reads. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { startChild } from "../child-server.ts";

test("a log reader that does not read stops no request and loses no line", async () => {
  const server = await startChild({ DATA_DIR: "memory:", LOG_LEVEL: "info" });
  server.leaveLogUnread();
  // More than a pipe and its readers hold.
  const requests = 3_000;
  const live = () => fetch(`${server.url}/health/live`).then((response) => response.text());
  for (let sent = 0; sent < requests; sent += 100) {
    await Promise.all(Array.from({ length: 100 }, live));
  }
  const { code, stderr } = await server.end("SIGTERM");
  assert.equal(code, 0);
  const lines = stderr
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  assert.equal(lines.filter(({ route }) => route === "/health/live").length, requests);
});
