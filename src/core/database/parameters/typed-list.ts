import { arrayLiteral } from "./array-literal.ts";

/**
 * A list with a declared element type: it need not be serialized as text if the driver can send
 * binary values. Each form is created once, however many statements use the list.
 */
export interface TypedList {
  /** An array literal. */
  asText(): string;
  /** An array as the protocol has it in binary form. */
  asBinary(): Uint8Array;
}

export const isTypedList = (value: unknown): value is TypedList =>
  typeof value === "object" && value !== null && "asBinary" in value;

/** Profile ids and the like, each in its one spelling: lower case, with hyphens. */
export const uuids = (values: readonly string[]): TypedList =>
  typedList(
    () => (values.length === 0 ? "{}" : `{${values.join()}}`),
    () => {
      const array = startArray(UUID, values.length, values.length * UUID_BYTES);
      for (const value of values) array.uuid(value);
      return array.bytes();
    },
  );

/** Numbers of two bytes. */
export const smallints = (values: readonly number[]): TypedList =>
  typedList(
    () => `{${values.join()}}`,
    () => {
      const array = startArray(SMALLINT, values.length, values.length * SMALLINT_BYTES);
      for (const value of values) array.smallint(value);
      return array.bytes();
    },
  );

/** Texts, or null. */
export const texts = (values: readonly (string | null)[]): TypedList =>
  typedList(
    () => arrayLiteral(values),
    () => {
      let longest = 0;
      for (const value of values) longest += (value?.length ?? 0) * MOST_BYTES_OF_A_UNIT;
      const array = startArray(TEXT, values.length, longest);
      for (const value of values) array.text(value);
      return array.bytes();
    },
  );

/**
 * Points in time, in microseconds since the epoch: exact to the microsecond for present times, and
 * to the millisecond from the year 1 to 4000, where a number cannot hold more.
 */
export const timestamps = (values: readonly number[]): TypedList =>
  typedList(
    () => (values.length === 0 ? "{}" : timestampLiteral(values)),
    () => {
      const array = startArray(TIMESTAMPTZ, values.length, values.length * TIMESTAMP_BYTES);
      for (const value of values) array.timestamp(value);
      return array.bytes();
    },
  );

function typedList(toText: () => string, toBinary: () => Uint8Array): TypedList {
  let text: string | undefined;
  let binary: Uint8Array | undefined;
  return { asText: () => (text ??= toText()), asBinary: () => (binary ??= toBinary()) };
}

/*
 * Arrays in the binary form of the protocol: https://www.postgresql.org/docs/current/protocol-overview.html,
 * `array_recv`, `uuid_recv` and `timestamptz_recv` in the sources.
 */

/** The numbers of the types, the same in every PostgreSQL. */
const SMALLINT = 21;
const UUID = 2_950;
const TEXT = 25;
const TIMESTAMPTZ = 1_184;

const SMALLINT_BYTES = 2;
const UUID_BYTES = 16;
const TIMESTAMP_BYTES = 8;
const LENGTH_BYTES = 4;
/** Replaces a length. */
const NULL = -1;
const HEAD_BYTES = 20;

/** UTF-8 takes three bytes at most for a unit of UTF-16. */
const MOST_BYTES_OF_A_UNIT = 3;

/** PostgreSQL counts from the year 2000. */
const EPOCH_MICROS = 946_684_800_000_000;

/** @param contentBytes how many bytes the elements take at most. */
function startArray(type: number, count: number, contentBytes: number) {
  const buffer = Buffer.allocUnsafeSlow(HEAD_BYTES + count * LENGTH_BYTES + contentBytes);
  let end = 0;
  const int32 = (value: number) => {
    end = buffer.writeInt32BE(value, end);
  };
  int32(1); // dimensions
  int32(1); // may hold nulls
  int32(type);
  int32(count);
  int32(1); // counted from

  return {
    smallint(value: number): void {
      int32(SMALLINT_BYTES);
      end = buffer.writeInt16BE(value, end);
    },
    uuid(value: string): void {
      int32(UUID_BYTES);
      for (let index = 0; index < value.length; index += 2) {
        if (value.charCodeAt(index) === HYPHEN) index++;
        buffer[end++] =
          (digitOf(value.charCodeAt(index)) << 4) | digitOf(value.charCodeAt(index + 1));
      }
    },
    text(value: string | null): void {
      const start = end;
      end += LENGTH_BYTES;
      if (value !== null) end += buffer.write(value, end);
      buffer.writeInt32BE(value === null ? NULL : end - start - LENGTH_BYTES, start);
    },
    timestamp(micros: number): void {
      const value = micros - EPOCH_MICROS;
      int32(TIMESTAMP_BYTES);
      end = buffer.writeInt32BE(Math.floor(value / 2 ** 32), end);
      end = buffer.writeUInt32BE(value - Math.floor(value / 2 ** 32) * 2 ** 32, end);
    },
    bytes: (): Uint8Array => buffer.subarray(0, end),
  };
}

const HYPHEN = "-".charCodeAt(0);
const NINE = "9".charCodeAt(0);
const ZERO = "0".charCodeAt(0);
const TEN = "a".charCodeAt(0) - 10;

/** The value of a hexadecimal digit in lower case. */
const digitOf = (code: number): number => (code <= NINE ? code - ZERO : code - TEN);

const DAY_MICROS = 86_400_000_000;

/** More than twice as fast as `Date.toISOString` for each: all times of a batch are in few days. */
function timestampLiteral(values: readonly number[]): string {
  let literal = "{";
  let lastDay = Number.NaN;
  let date = "";
  for (const micros of values) {
    const day = Math.floor(micros / DAY_MICROS);
    if (day !== lastDay) {
      lastDay = day;
      date = new Date((day * DAY_MICROS) / 1_000).toISOString().split("T")[0] as string;
    }
    // Integers of 32 bits from here on: whole numbers to the engine, not floating point.
    const ofDay = micros - day * DAY_MICROS;
    const second = Math.trunc(ofDay / 1_000_000) | 0;
    const microsecond = (ofDay - second * 1_000_000) | 0;
    const minute = (second / 60) | 0;
    const hour = (minute / 60) | 0;
    const millisecond = (microsecond / 1_000) | 0;
    literal += `"${date}T${TWO[hour]}:${TWO[minute - hour * 60]}:${TWO[second - minute * 60]}`;
    literal += `.${THREE[millisecond]}${THREE[microsecond - millisecond * 1_000]}Z",`;
  }
  return `${literal.slice(0, -1)}}`;
}

/** Numbers as text of two and of three digits. */
const TWO = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, "0"));
const THREE = Array.from({ length: 1_000 }, (_, number) => String(number).padStart(3, "0"));
