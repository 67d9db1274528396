import { isAllowlistEntry } from "../core/admin/access/ip-allowlist.ts";

/* How the values of settings are read. An absent or empty value arrives as the default of its setting. */

/** A setting has an invalid value. */
export class InvalidSetting extends Error {
  constructor(name: string, value: string, rule: string) {
    super(`${name}=${value}: ${rule}`);
    this.name = "InvalidSetting";
  }
}

/** Several settings have invalid values. */
export class InvalidSettings extends Error {
  constructor(faults: readonly InvalidSetting[]) {
    super(faults.map(({ message }) => message).join("\n"));
    this.name = "InvalidSettings";
  }
}

/**
 * Runs all of these, even if some find an invalid setting.
 *
 * @returns their results.
 * @throws InvalidSetting, or InvalidSettings if there is more than one.
 */
export function readAll<Value>(reads: readonly (() => Value)[]): Value[] {
  const faults: InvalidSetting[] = [];
  const values = reads.flatMap((read) => {
    try {
      return [read()];
    } catch (error) {
      if (!(error instanceof InvalidSetting)) throw error;
      faults.push(error);
      return [];
    }
  });
  const [first, ...others] = faults;
  if (first) throw others.length > 0 ? new InvalidSettings(faults) : first;
  return values;
}

/** @throws InvalidSetting */
export type Reader<Value> = (value: string, name: string) => Value;

/** Accepts any text. */
export const text: Reader<string> = (value) => value;

/** An empty value reads as this; any other as the other reader says. */
export function optional<Value>(read: Reader<Value>): Reader<Value | undefined>;
export function optional<Value>(read: Reader<Value>, empty: null): Reader<Value | null>;
export function optional<Value>(
  read: Reader<Value>,
  empty?: null,
): Reader<Value | null | undefined> {
  return (value, name) => (value === "" ? empty : read(value, name));
}

/** Accepts a whole number from `least` to `most`. */
export const count =
  (most: number, least = 1): Reader<number> =>
  (value, name) => {
    const number = Number(value);
    if (/^\d+$/.test(value) && number >= least && number <= most) return number;
    throw new InvalidSetting(name, value, `it is a whole number from ${least} to ${most}.`);
  };

export const port: Reader<number> = (value, name) => {
  const number = Number(value);
  if (/^\d+$/.test(value) && number <= 65_535) return number;
  throw new InvalidSetting(name, value, "a port is a whole number from 0 to 65535.");
};

export const flag: Reader<boolean> = (value, name) => {
  if (value === "true" || value === "false") return value === "true";
  throw new InvalidSetting(name, value, "it is true or false.");
};

/** Accepts a number from 0 to 1. */
export const share: Reader<number> = (value, name) => {
  const number = Number(value);
  if (/^\d*\.?\d+$/.test(value) && number <= 1) return number;
  throw new InvalidSetting(name, value, "it is a number from 0 to 1, such as 0.01.");
};

export const oneOf =
  <const Choice extends string>(...all: readonly Choice[]): Reader<Choice> =>
  (value, name) => {
    const found = all.find((each) => each === value);
    if (found !== undefined) return found;
    throw new InvalidSetting(name, value, `it is one of ${all.join(", ")}.`);
  };

/** Entries separated by commas. */
export const listOf =
  (isEntry: (entry: string) => boolean, rule: string): Reader<readonly string[]> =>
  (value, name) => {
    const entries = value
      .split(",")
      .map((entry) => entry.trim())
      .filter(Boolean);
    const wrong = entries.find((entry) => !isEntry(entry));
    if (wrong === undefined) return entries;
    throw new InvalidSetting(name, wrong, rule);
  };

const HOST_NAME =
  /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*\.?$/i;

/** A name without a letter is a mistyped address, such as 10.0.0.256. */
export const isAllowedHost = (entry: string): boolean =>
  isAllowlistEntry(entry) || (HOST_NAME.test(entry) && /[a-z]/i.test(entry));

/** The value is left out of the message: it may contain a password. */
export const databaseUrl = optional<string>((value, name) => {
  if (/^postgres(ql)?:\/\//.test(value)) return value;
  throw new InvalidSetting(name, "…", "it begins with postgres:// or postgresql://.");
});

export const smtpUrl = optional<string>((value, name) => {
  if (/^smtps?:\/\/./.test(value) && URL.canParse(value)) return value;
  throw new InvalidSetting(name, "…", "it begins with smtp:// or smtps://.");
});

/** Without a trailing slash. */
export const publicUrl = optional<string>((value, name) => {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const isPlain = url && !url.search && !url.hash && !url.username && !url.password;
  if (isPlain && ["https:", "http:"].includes(url.protocol)) return url.href.replace(/\/+$/, "");
  const shown = value.includes("@") ? "…" : value;
  throw new InvalidSetting(name, shown, "it is an address such as https://rapport.example.");
});

/** Whether a host name or address is of this machine, by its spelling. */
export const isLoopback = (host: string): boolean =>
  /^(localhost|127\.[\d.]+|::1|\[::1\])$/.test(host);

export const issuer = optional<string>((value, name) => {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const isSafe =
    url?.protocol === "https:" || (url?.protocol === "http:" && isLoopback(url.hostname));
  if (isSafe) return value;
  throw new InvalidSetting(name, value, "it is an address that begins with https://.");
});
