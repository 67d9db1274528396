import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../src/core/base/package-root.ts";

/*
 * Run by the build before anything is bundled: mends the PostgreSQL client where it is installed, so that the server, the
 * bundle and the tests run the same code. Nobody has released these changes yet (porsager/postgres issues 1193, 1208;
 * pull requests 1209, 1214). This file can go once a version passes test/core/database/driver.test.ts without it.
 * docs/decisions/postgres-client.md
 */

const VERSION = "3.4.9";

interface Repair {
  readonly before: string;
  readonly after: string;
}

/** Each text is in `connection.js` exactly once. */
const REPAIRS: readonly Repair[] = [
  {
    // What waits to be sent belongs to the connection that ends: if the timer stays set, the next one never sends its first message.
    before: `    clearImmediate(nextWriteTimer)
    if (socket) {`,
    after: `    clearImmediate(nextWriteTimer)
    nextWriteTimer = chunk = null
    if (socket) {`,
  },
  {
    // An error that the server sent before it closed would otherwise fail the first statement of the next connection.
    before: `    clearImmediate(nextWriteTimer)
    socket.removeListener('data', data)`,
    after: `    clearImmediate(nextWriteTimer)
    nextWriteTimer = chunk = errorResponse = results = stream = final = null
    result = new Result()
    socket.removeListener('data', data)`,
  },
  {
    // What was sent after the socket failed and before it was closed would otherwise never be settled, and get the next connection's responses.
    before: `    socket.removeAllListeners()
    socket = null
`,
    after: `    socket.removeAllListeners()
    socket = null
    if (hadError || initial) {
      const lost = Errors.connection('CONNECTION_CLOSED', options)
      query && queryError(query, lost)
      while (sent.length)
        queryError(sent.shift(), lost)
    }
`,
  },
  {
    // Without a socket there is nothing to write to: the statement fails, not the process.
    before: `    const x = socket.write(chunk, fn)
    nextWriteTimer !== null && clearImmediate(nextWriteTimer)`,
    after: `    nextWriteTimer !== null && clearImmediate(nextWriteTimer)
    if (!socket) {
      chunk = nextWriteTimer = null
      const lost = Errors.connection('CONNECTION_CLOSED', options)
      query && queryError(query, lost)
      query = null
      while (sent.length)
        queryError(sent.shift(), lost)
      return true
    }
    const x = socket.write(chunk, fn)`,
  },
  {
    // A server, or a proxy before it, that accepts a connection and closes it is tried again after a pause, not at once.
    before: `    if (initial)
      return reconnect()

    !hadError && (query || sent.length) && error(Errors.connection('CONNECTION_CLOSED', options, socket))
    closedTime = performance.now()
    hadError && options.shared.retries++
    delay = (typeof backoff === 'function' ? backoff(options.shared.retries) : backoff) * 1000
`,
    after: `    const isRefused = initial && !terminated
    if (initial && terminated)
      return reconnect()

    !initial && !hadError && (query || sent.length) && error(Errors.connection('CONNECTION_CLOSED', options, socket))
    query = null
    closedTime = performance.now()
    ;(hadError || isRefused) && options.shared.retries++
    delay = (typeof backoff === 'function' ? backoff(options.shared.retries) : backoff) * 1000
    if (isRefused)
      return reconnect()

`,
  },
  {
    // A parameter of bytes is sent as they are, in the binary form of its type (`{ bytes }`, core/database/parameters).
    before: `.i16(0).i16(parameters.length)

    parameters.forEach((x, i) => {
      if (x === null)
        return b.i32(0xFFFFFFFF)
`,
    after: `.i16(parameters.length)
    parameters.forEach(x => b.i16(x && x.bytes ? 1 : 0))
    b.i16(parameters.length)

    parameters.forEach((x, i) => {
      if (x === null)
        return b.i32(0xFFFFFFFF)

      if (x.bytes)
        return b.i32(x.bytes.length).raw(x.bytes)
`,
  },
];

const folder = join(packageRoot(), "node_modules", "postgres");
const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
if (version !== VERSION) {
  throw new Error(
    `postgres is ${version}, and build/patch-driver.ts mends ${VERSION}: see whether it is still needed.`,
  );
}

const file = join(folder, "src", "connection.js");
const installed = readFileSync(file, "utf8");
let mended = installed;
for (const { before, after } of REPAIRS) {
  if (mended.includes(after)) continue;
  if (mended.split(before).length !== 2) {
    throw new Error(`build/patch-driver.ts does not find its place in ${file}:\n${before}`);
  }
  mended = mended.replace(before, () => after);
}
if (mended !== installed) {
  // A new file in its place: a package manager may have linked the old one to other projects.
  writeFileSync(`${file}.mended`, mended);
  renameSync(`${file}.mended`, file);
}
