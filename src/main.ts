#!/usr/bin/env node
import { explainError } from "./cli/explain-error.ts";
import { run } from "./cli/program.ts";

/* The executable. Errors become plain sentences and exit code 1. */

run(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`rapport: ${explainError(error)}\n`);
  process.exit(1);
});
