import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/** Below the ports that systems give to outgoing connections, which could take it. */
const FIRST = 10_000;
const LAST = 30_000;

/** A free port, for a server that needs a fixed one. */
export async function freePort(address = "127.0.0.1"): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST, LAST);
    const listener = createServer().listen(port, address);
    const isFree = await once(listener, "listening").then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    listener.close();
    await once(listener, "close");
    return port;
  }
}
