/* Writes usual-times.json from the record of this clone (suite-times.ts): run it after a `.ci/run`. */
import { writeFileSync } from "node:fs";
import { recorded, USUAL_TIMES } from "./suite-times.ts";

const LONG_SECONDS = 5;

const long = Object.entries(recorded())
  .filter(([, { seconds }]) => seconds >= LONG_SECONDS)
  .sort(([one], [other]) => one.localeCompare(other))
  .map(([name, { seconds }]) => [name, Math.round(seconds)]);
writeFileSync(USUAL_TIMES, `${JSON.stringify(Object.fromEntries(long), null, 2)}\n`);
