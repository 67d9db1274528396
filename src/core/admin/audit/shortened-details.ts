import { sha256 } from "../../base/values/hashes.ts";
import { isObject } from "../../base/values/plain-json.ts";
import { canonical } from "./chain.ts";

/** Rows of the audit stay, and are read again with every check of the chain. */
const MOST_BYTES = 65_536;

/** Of details beyond that, members up to this size are kept. */
const MOST_BYTES_OF_MEMBER = 1_024;

type Details = Readonly<Record<string, unknown>>;

/** In place of a long value: its size as JSON, and the SHA-256 of its JSON with sorted members. */
interface Summary {
  readonly bytes: number;
  readonly sha256: string;
}

/**
 * The details of an entry as they are stored and read, without members that JSON omits. If they have more than 64 KB as
 * JSON, a summary takes the place of each long member, also in `before` and `after`. docs/audit.md
 */
export function shortenedDetails(details: Details): Details {
  const json = JSON.stringify(details);
  const whole: Details = JSON.parse(json);
  if (Buffer.byteLength(json) <= MOST_BYTES) return whole;
  const short = mapMembers(whole, (value, name) =>
    (name === "before" || name === "after") && isObject(value)
      ? mapMembers(value, shortened)
      : shortened(value),
  );
  return bytesOf(short) <= MOST_BYTES ? short : { ...summaryOf(whole) };
}

const shortened = (value: unknown): unknown =>
  bytesOf(value) > MOST_BYTES_OF_MEMBER ? summaryOf(value) : value;

const summaryOf = (value: unknown): Summary => ({
  bytes: bytesOf(value),
  sha256: sha256(canonical(value)),
});

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

const mapMembers = (members: Details, change: (value: unknown, name: string) => unknown): Details =>
  Object.fromEntries(Object.entries(members).map(([name, value]) => [name, change(value, name)]));
