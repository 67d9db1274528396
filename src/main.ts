#!/usr/bin/env node
import { explainError } from "./cli/explain-error.ts";
import { run } from "./cli/program.ts";

/* The executable. Errors become plain sentences and exit code 1. */

// A reader that has read enough, such as head, closes the pipe. That is no failure of a command, or of a server.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
});

run(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`rapport: ${explainError(error)}\n`);
  process.exit(1);
});
