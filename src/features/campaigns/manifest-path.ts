import { type Fault, Problem } from "../../core/base/problem.ts";

/** A place in a declaration, as keys and indexes; the manifest finds the line by it. */
export type ManifestPath = readonly (string | number)[];

/** As one would write it: `campaigns[0].messages[1].source`. */
export const placeName = (place: ManifestPath): string =>
  place
    .map((step, index) => (typeof step === "number" ? `[${step}]` : index ? `.${step}` : step))
    .join("");

/** Refuses the value at a place. @param rule the fault, to follow the name. */
export const refusalAt = (place: ManifestPath, rule: string): Problem =>
  new Problem("INVALID_REQUEST", `'${placeName(place)}' ${rule}`, { body: { path: place } });

/** Refuses the value at a place, with a message that names the place. */
export const faultAt = (place: ManifestPath, { code, message }: Fault): Problem =>
  new Problem("INVALID_REQUEST", `${message}.`, { body: { path: place, code } });

/** @throws Problem INVALID_REQUEST for the first repeated value, called `what`. */
export function refuseTwice(place: ManifestPath, what: string, values: readonly string[]): void {
  const seen = new Set<string>();
  for (const value of values) {
    if (seen.has(value)) throw refusalAt(place, `has the ${what} '${value}' twice.`);
    seen.add(value);
  }
}
