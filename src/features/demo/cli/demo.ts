import { readdir } from "node:fs/promises";
import type { Command } from "commander";
import { printNote } from "../../../cli/terminal.ts";
import { RAPPORT } from "../../../core/base/command.ts";
import type { Serve } from "../../../core/feature.ts";
import { fill } from "../fill.ts";

const HELP = `
Customers, products and addresses are invented, and the same each time. Without a folder nothing is kept.
A folder must be empty or new. Serve it again with DATA_DIR=FOLDER ${RAPPORT} serve.

Examples:
  ${RAPPORT} demo
  PORT=9000 ${RAPPORT} demo ./shop`;

/** `rapport demo`: a server with a shop in it, until a signal ends it. */
export function define(command: Command, _loadAll: unknown, serve: Serve): void {
  command
    .argument("[folder]", "a new folder that keeps the data (default: DATA_DIR, or memory)")
    .addHelpText("after", HELP)
    .action(async (folder?: string) => {
      await chooseEngine(folder);
      await serve(async (server) => {
        printNote("Filling the demo, which takes a few seconds …");
        const { users, events, purchases, merged, pageUrl } = await fill(server, new Date());
        return [
          `  demo         ${count(users)} users with ${count(events)} events and ${count(purchases)} purchases of the last 90 days,`,
          `               ${merged} of them merged with the visitors that they were before`,
          `  a page       ${pageUrl}`,
        ];
      });
    });
}

const count = (number: number): string => number.toLocaleString("en-US");

/**
 * The demo only writes where nothing is: in memory, or in an empty folder.
 *
 * @throws for a database, a manifest, and a folder with anything in it.
 */
async function chooseEngine(folder: string | undefined): Promise<void> {
  for (const name of ["DATABASE_URL", "MANIFEST"]) {
    if (!process.env[name]?.trim()) continue;
    throw new Error(
      `The demo starts on an embedded engine of its own, and ${name} is set. Unset ${name}, or run ${RAPPORT} serve.`,
    );
  }
  const place = folder ?? (process.env.DATA_DIR?.trim() || "memory:");
  if (place !== "memory:" && !(await isEmpty(place))) {
    throw new Error(
      `The folder ${place} is not empty. The demo needs a new one; to serve this one, run DATA_DIR=${place} ${RAPPORT} serve.`,
    );
  }
  process.env.DATA_DIR = place;
  process.env.DEMO = "true";
  // A line for each of its own requests would push the link off the screen.
  process.env.LOG_LEVEL ||= "warn";
}

/** @throws if it is a file, or cannot be read. */
async function isEmpty(folder: string): Promise<boolean> {
  try {
    return (await readdir(folder)).length === 0;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return true;
    throw error;
  }
}
