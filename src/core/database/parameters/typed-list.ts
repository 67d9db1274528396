/** A list with a declared element type, which drivers pass on in the binary form of the protocol: engines read it faster. */
export interface TypedList {
  readonly values: readonly unknown[];
  /** An array as the protocol has it in binary form; created once, however many statements use the list. */
  asBinary(): Uint8Array;
}

export const isTypedList = (value: unknown): value is TypedList =>
  typeof value === "object" && value !== null && "asBinary" in value;

/** Profile ids and the like, with hyphens. @throws RangeError for another text. */
export const uuids = (values: readonly string[]): TypedList =>
  typedList(values, () => {
    const array = startArray(UUID, values.length, values.length * UUID_BYTES);
    for (const value of values) array.uuid(value);
    return array.bytes();
  });

/** Numbers of two bytes. @throws RangeError for a larger one. */
export const smallints = (values: readonly number[]): TypedList =>
  typedList(values, () => {
    const array = startArray(SMALLINT, values.length, values.length * SMALLINT_BYTES);
    for (const value of values) array.smallint(value);
    return array.bytes();
  });

/** Texts, or null. */
export const texts = (values: readonly (string | null)[]): TypedList =>
  typedList(values, () => {
    let longest = 0;
    for (const value of values) longest += (value?.length ?? 0) * MOST_BYTES_OF_A_UNIT;
    const array = startArray(TEXT, values.length, longest);
    for (const value of values) array.text(value);
    return array.bytes();
  });

/**
 * Points in time, in microseconds since the epoch: exact to the microsecond for present times, and
 * to the millisecond from the year 1 to 4000, where a number cannot hold more.
 *
 * @throws RangeError for none between the years 1 and 9999.
 */
export const timestamps = (values: readonly number[]): TypedList =>
  typedList(values, () => {
    const array = startArray(TIMESTAMPTZ, values.length, values.length * TIMESTAMP_BYTES);
    for (const value of values) array.timestamp(value);
    return array.bytes();
  });

function typedList(values: readonly unknown[], encode: () => Uint8Array): TypedList {
  let bytes: Uint8Array | undefined;
  return { values, asBinary: () => (bytes ??= encode()) };
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

const FIRST_MICROS = Date.parse("0001-01-01T00:00:00Z") * 1_000;
const END_MICROS = Date.parse("+010000-01-01T00:00:00Z") * 1_000;

/**
 * Bytes are set one by one: the methods of a buffer check what they are given, which takes longer than the rest.
 *
 * @param contentBytes how many bytes the elements take at most.
 */
function startArray(type: number, count: number, contentBytes: number) {
  const buffer = Buffer.allocUnsafeSlow(HEAD_BYTES + count * LENGTH_BYTES + contentBytes);
  let end = 0;
  const int32 = (value: number) => {
    buffer[end] = value >>> 24;
    buffer[end + 1] = value >>> 16;
    buffer[end + 2] = value >>> 8;
    buffer[end + 3] = value;
    end += LENGTH_BYTES;
  };
  int32(1); // dimensions
  int32(1); // may hold nulls
  int32(type);
  int32(count);
  int32(1); // counted from

  return {
    smallint(value: number): void {
      if ((value << 16) >> 16 !== value) throw new RangeError(`${value} has more than two bytes.`);
      int32(SMALLINT_BYTES);
      buffer[end] = value >>> 8;
      buffer[end + 1] = value;
      end += SMALLINT_BYTES;
    },
    uuid(value: string): void {
      int32(UUID_BYTES);
      let seen = 0;
      for (let index = 0; index < UUID_BYTES; index++) {
        const place = DIGIT_PLACES[index] as number;
        const upper = DIGITS[value.charCodeAt(place)] as number;
        const lower = DIGITS[value.charCodeAt(place + 1)] as number;
        seen |= upper | lower;
        buffer[end++] = (upper << 4) | lower;
      }
      if (seen >= NO_DIGIT || value.length !== UUID_LENGTH) {
        // Without the text, which may name a person: errors are logged.
        throw new RangeError("A text in a list of ids is no UUID.");
      }
    },
    text(value: string | null): void {
      if (value === null) {
        int32(NULL);
        return;
      }
      const start = end + LENGTH_BYTES;
      let length = asciiInto(buffer, start, value);
      if (length < value.length) length = buffer.write(value, start);
      int32(length);
      end += length;
    },
    timestamp(micros: number): void {
      if (!(micros >= FIRST_MICROS && micros < END_MICROS)) {
        throw new RangeError(`${micros} µs is in no year from 1 to 9999.`);
      }
      const value = micros - EPOCH_MICROS;
      int32(TIMESTAMP_BYTES);
      const upper = Math.floor(value / 2 ** 32);
      int32(upper);
      int32(value - upper * 2 ** 32);
    },
    bytes: (): Uint8Array => buffer.subarray(0, end),
  };
}

/** A longer text is faster in one call. */
const SHORT_TEXT = 32;

/** Writes a short text of ASCII characters. @returns how many characters it has written: all, or the first ones. */
function asciiInto(buffer: Uint8Array, start: number, value: string): number {
  if (value.length > SHORT_TEXT) return 0;
  for (let index = 0; index < value.length; index++) {
    const code = value.charCodeAt(index);
    if (code > LAST_ASCII) return index;
    buffer[start + index] = code;
  }
  return value.length;
}

const LAST_ASCII = 127;

const UUID_LENGTH = 36;

/** Where the pairs of digits of an id are. */
const DIGIT_PLACES = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];

/** Has a bit that no digit has. */
const NO_DIGIT = 16;

/** The values of hexadecimal digits, by the codes of their characters. */
const DIGITS = Uint8Array.from({ length: 65_536 }, (_, code) => {
  const digit = "0123456789abcdef".indexOf(String.fromCharCode(code).toLowerCase());
  return digit < 0 ? NO_DIGIT : digit;
});
