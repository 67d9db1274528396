/* How a process of the suite begins: what has to come before everything that loads `node:test`. */
import "./light-tracking.ts";

await import("./suite-process.ts");
