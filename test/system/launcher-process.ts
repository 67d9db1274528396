/*
 * Starts the children of a test process (launched.ts), and kills them when that one ends, however it ends. It sends the streams of a
 * child themselves, so that the test process reads and writes them without anything in between.
 */
import { type ChildProcess, spawn } from "node:child_process";
import type { Socket } from "node:net";
import type { Started, ToLaunch } from "./launched.ts";

const running = new Set<ChildProcess>();

const send = (message: Started, stream?: Socket) => process.send?.(message, stream);

process.on("message", ({ id, command, args, options }: ToLaunch) => {
  const child = spawn(command, args, options);
  child.on("error", ({ message }) => send({ id, error: message }));
  if (child.pid === undefined) return;
  running.add(child);
  for (const name of ["stdin", "stdout", "stderr"] as const) {
    const stream = child[name] as Socket | null;
    if (!stream) continue;
    if (name !== "stdin") stopReading(stream);
    send({ id, stream: name }, stream);
  }
  send({ id, pid: child.pid });
  child.on("exit", (code) => {
    running.delete(child);
    send({ id, code });
  });
});

process.on("disconnect", () => {
  for (const child of running) child.kill("SIGKILL");
  process.exit();
});

/** What this process read would be lost. A stream's own `pause()` takes effect only after the first piece. */
function stopReading(stream: Socket): void {
  (stream as Socket & { readonly _handle: { readStop(): void } })._handle.readStop();
}
