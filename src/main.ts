#!/usr/bin/env node
import { run } from "./cli/program.ts";

/* The executable. Errors become one sentence and exit code 1. */

run(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`rapport: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
