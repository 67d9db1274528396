#!/usr/bin/env node

/*
 * The executable. Errors become plain sentences and exit code 1.
 *
 * An older Node cannot even read some of the files that the program consists of. This file
 * therefore imports none before it has checked the version, and uses only syntax that any Node with
 * modules understands.
 */

/** As in `engines` of package.json. */
const OLDEST = "20.19";

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
const [oldestMajor = 0, oldestMinor = 0] = OLDEST.split(".").map(Number);
if (major < oldestMajor || (major === oldestMajor && minor < oldestMinor)) {
  process.stderr.write(
    `rapport: Rapport needs Node ${OLDEST} or newer, and this is Node ${process.versions.node}: ` +
      "install a current one from https://nodejs.org.\n",
  );
  process.exit(1);
}

// A reader that has read enough, such as head, closes the pipe. That is no failure of a command, or of a server.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
});

import("./cli/program.ts")
  .then(({ run }) => run(process.argv.slice(2)))
  .catch(async (error: unknown) => {
    const { explainError } = await import("./cli/explain-error.ts");
    const { printNote } = await import("./cli/terminal.ts");
    printNote(`rapport: ${explainError(error)}`);
    process.exit(1);
  });
