import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { gzipSync } from "node:zlib";
import scalar from "@scalar/fastify-api-reference";
import fastify from "fastify";
import { readViewer, VIEWER_FILE } from "../src/server/reference/viewer.ts";

/*
 * Run by the build: takes the viewer of the reference out of the development dependency that carries it, so that the
 * package needs nothing but the file. @scalar/api-reference itself has the same file and 243 MB of dependencies.
 */

if (readViewer() === undefined) {
  const server = fastify();
  await server.register(scalar, { routePrefix: "/", configuration: { content: {} } });
  const { statusMessage, rawPayload } = await server.inject("/js/scalar.js");
  if (statusMessage !== "OK") throw new Error(`The viewer has no script: ${statusMessage}.`);
  await mkdir(dirname(VIEWER_FILE), { recursive: true });
  await writeFile(VIEWER_FILE, gzipSync(rawPayload, { level: 9 }));
  await server.close();
}
