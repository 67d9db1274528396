/**
 * Every setting of a server: name, kind, default, one sentence. This file is the only reader of
 * `process.env`; `rapport serve --help` follows from the table, and the README has it too.
 */

import { availableParallelism } from "node:os";
import { isAllowlistEntry } from "../admin/access/ip-allowlist.ts";
import { SHORTEST_SECRET } from "../admin/secrets/secrets.ts";
import type { LogFormat } from "../base/observe/log.ts";
import type { TelemetrySettings } from "../base/observe/open-telemetry.ts";
import type { OidcSettings } from "../dashboard/sign-in/identity-provider.ts";
import { BUCKET_COUNT } from "../database/buckets.ts";
import type { ReceivedRequest } from "../http/observe.ts";
import { SETTINGS } from "./settings.ts";
import { readTelemetry } from "./telemetry-settings.ts";

export { SETTINGS } from "./settings.ts";

export interface Config {
  /** Set by programs alone: learns of every request. See `ServerSettings`. */
  readonly onReceived?: ((received: ReceivedRequest) => void) | undefined;
  /** Set by programs alone: where the built dashboard is; by default where the build puts it. */
  readonly webFolder?: string | undefined;
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** A folder, or `memory:`. */
  readonly dataDir: string;
  readonly databaseUrl: string | undefined;
  /** Null leaves it to the cluster. */
  readonly citusShards: number | null;
  readonly citusDirect: boolean;
  /** A path. */
  readonly manifest: string | undefined;
  readonly adminToken: string | undefined;
  readonly secretKey: string | undefined;
  /** A path; there only where `secretKey` is not. */
  readonly secretKeyFile: string | undefined;
  readonly previousSecretKey: string | undefined;
  readonly previousSecretKeyFile: string | undefined;
  /** How many characters keys and tokens need; any number with `DATA_DIR=memory:`. */
  readonly shortestSecret: number;
  readonly logLevel: string;
  readonly logFormat: LogFormat;
  /** The share of successful requests that is logged. */
  readonly logSample: number;
  readonly shutdownTimeoutSeconds: number;
  /** Whether `npm start` started it. */
  readonly isChildOfNpm: boolean;
  readonly workers: number;
  readonly trustedProxies: readonly string[];
  /** Addresses, CIDR blocks and host names. */
  readonly outboundAllow: readonly string[];
  /** Without a slash at the end. */
  readonly publicUrl: string | undefined;
  readonly pageLinkDays: number;
  readonly pageLimit: number;
  readonly requestTimeoutSeconds: number;
  readonly maxRequests: number;
  readonly maxEventLoopDelayMs: number;
  readonly maxFailedAuth: number;
  readonly databaseTimeoutSeconds: number;
  /** 0 keeps none. */
  readonly liveRequests: number;
  /** Undefined: no identity provider. */
  readonly oidc: OidcSettings | undefined;
  readonly sessionIdleMinutes: number;
  readonly sessionHours: number;
  readonly metricsPort: number | undefined;
  readonly metricsHost: string;
  /** Undefined: nothing goes to an OpenTelemetry collector. */
  readonly telemetry: TelemetrySettings | undefined;
  /** Whether an empty server without a manifest gets the demo workspace. */
  readonly demo: boolean;
  readonly smtpUrl: string | undefined;
  readonly smtpFrom: string;
  readonly jobLeaseSeconds: number;
}

/** A setting has an invalid value. */
export class InvalidSetting extends Error {
  constructor(name: string, value: string, rule: string) {
    super(`${name}=${value}: ${rule}`);
    this.name = "InvalidSetting";
  }
}

const MINUTES_OF_A_MONTH = 31 * 24 * 60;

const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;

const LOG_FORMATS: readonly LogFormat[] = ["auto", "json", "pretty"];

type Setting = keyof typeof SETTINGS;

/** The text of a setting, or its default. */
type Reader = (name: Setting) => string;

/**
 * Reads the settings. An empty value counts as absent.
 *
 * @throws InvalidSetting
 */
export function readConfig(environment: NodeJS.ProcessEnv = process.env): Config {
  const text: Reader = (name) => environment[name]?.trim() || SETTINGS[name].default;
  const count = (name: Setting, most: number) => readCount(name, text(name), most);
  const demo = readDemo(text("DEMO"), isLoopback(text("HOST")) && !text("DATABASE_URL"));
  return {
    host: text("HOST"),
    port: readPort("PORT", text("PORT")),
    dataDir: text("DATA_DIR"),
    databaseUrl: readDatabaseUrl(text("DATABASE_URL")),
    citusShards: text("CITUS_SHARDS") ? count("CITUS_SHARDS", BUCKET_COUNT) : null,
    citusDirect: oneOf("CITUS_DIRECT", text("CITUS_DIRECT"), ["true", "false"]) === "true",
    manifest: text("MANIFEST") || undefined,
    adminToken: text("ADMIN_TOKEN") || undefined,
    ...readSecretKeySettings(text),
    shortestSecret: text("DATA_DIR") === "memory:" ? 1 : SHORTEST_SECRET,
    logLevel: oneOf("LOG_LEVEL", text("LOG_LEVEL"), LOG_LEVELS),
    logFormat: oneOf("LOG_FORMAT", text("LOG_FORMAT"), LOG_FORMATS),
    logSample: readShare("LOG_SAMPLE", text("LOG_SAMPLE")),
    isChildOfNpm: environment.npm_lifecycle_event === "start",
    shutdownTimeoutSeconds: count("SHUTDOWN_TIMEOUT", 3_600),
    workers: readWorkers(text("WEB_CONCURRENCY"), text("DATABASE_URL")),
    trustedProxies: readProxies(text("TRUSTED_PROXIES")),
    outboundAllow: readOutboundAllow(text("OUTBOUND_ALLOW")),
    publicUrl: readPublicUrl(text("PUBLIC_URL")),
    pageLinkDays: count("PAGE_LINK_DAYS", 3_650),
    pageLimit: count("PAGE_LIMIT", 1_000_000),
    requestTimeoutSeconds: count("REQUEST_TIMEOUT", 3_600),
    maxRequests: count("MAX_REQUESTS", 1_000_000),
    maxEventLoopDelayMs: count("MAX_EVENT_LOOP_DELAY", 3_600) * 1_000,
    maxFailedAuth: count("MAX_FAILED_AUTH", 1_000_000),
    databaseTimeoutSeconds: count("DATABASE_TIMEOUT", 3_600),
    liveRequests: readLiveRequests(text("LIVE_REQUESTS"), demo && !text("MANIFEST")),
    oidc: readOidc(text),
    sessionIdleMinutes: count("SESSION_IDLE_MINUTES", MINUTES_OF_A_MONTH),
    sessionHours: count("SESSION_HOURS", MINUTES_OF_A_MONTH / 60),
    metricsPort: text("METRICS_PORT") ? readPort("METRICS_PORT", text("METRICS_PORT")) : undefined,
    metricsHost: text("METRICS_HOST"),
    telemetry: readTelemetry(environment, (...what) => new InvalidSetting(...what)),
    demo,
    smtpUrl: readSmtpUrl(text("SMTP_URL")),
    smtpFrom: text("SMTP_FROM"),
    jobLeaseSeconds: count("JOB_LEASE_SECONDS", 3_600),
  };
}

/** @throws InvalidSetting if a secret is given as a value and as a file. */
function refuseBoth(
  text: Reader,
  name: "SECRET_KEY" | "PREVIOUS_SECRET_KEY" | "OIDC_CLIENT_SECRET",
) {
  if (!text(name) || !text(`${name}_FILE`)) return;
  throw new InvalidSetting(`${name}_FILE`, text(`${name}_FILE`), `${name} is set too; set one.`);
}

function readSecretKeySettings(text: Reader) {
  refuseBoth(text, "SECRET_KEY");
  refuseBoth(text, "PREVIOUS_SECRET_KEY");
  return {
    secretKey: text("SECRET_KEY") || undefined,
    secretKeyFile: text("SECRET_KEY_FILE") || undefined,
    previousSecretKey: text("PREVIOUS_SECRET_KEY") || undefined,
    previousSecretKeyFile: text("PREVIOUS_SECRET_KEY_FILE") || undefined,
  };
}

function readOidc(text: Reader): OidcSettings | undefined {
  const issuer = text("OIDC_ISSUER");
  if (!issuer) return undefined;
  const url = URL.canParse(issuer) ? new URL(issuer) : undefined;
  const isSafe =
    url?.protocol === "https:" || (url?.protocol === "http:" && isLoopback(url.hostname));
  if (!isSafe) {
    throw new InvalidSetting("OIDC_ISSUER", issuer, "it is an address that begins with https://.");
  }
  if (!text("OIDC_CLIENT_ID")) {
    throw new InvalidSetting("OIDC_CLIENT_ID", "", "OIDC_ISSUER is set; set the client's id too.");
  }
  refuseBoth(text, "OIDC_CLIENT_SECRET");
  return {
    issuer,
    clientId: text("OIDC_CLIENT_ID"),
    clientSecret: text("OIDC_CLIENT_SECRET") || undefined,
    clientSecretFile: text("OIDC_CLIENT_SECRET_FILE") || undefined,
    name: text("OIDC_NAME"),
    userClaim: text("OIDC_USER_CLAIM"),
  };
}

function readPort(name: "PORT" | "METRICS_PORT", text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) {
    throw new InvalidSetting(name, text, "a port is a whole number from 0 to 65535.");
  }
  return port;
}

/** Copying bodies and responses takes a fifth to a third of the rate of full batches: lab/NOTEBOOK.md */
function readLiveRequests(value: string, isTried: boolean): number {
  if (value === "") return isTried ? 1_000 : 0;
  return value === "0" ? 0 : readCount("LIVE_REQUESTS", value, 100_000);
}

/** The demo key opens everything, so it is not created where strangers can reach the server. */
function readDemo(text: string, byDefault: boolean): boolean {
  if (text !== "" && text !== "true" && text !== "false") {
    throw new InvalidSetting("DEMO", text, "it is true or false.");
  }
  return text === "" ? byDefault : text === "true";
}

const isLoopback = (host: string): boolean => /^(localhost|127\.[\d.]+|::1|\[::1\])$/.test(host);

function readCount(name: Setting, text: string, most: number): number {
  const count = Number(text);
  if (!/^\d+$/.test(text) || count < 1 || count > most) {
    throw new InvalidSetting(name, text, `it is a whole number from 1 to ${most}.`);
  }
  return count;
}

function readDatabaseUrl(text: string): string | undefined {
  if (!text) return undefined;
  if (!/^postgres(ql)?:\/\//.test(text)) {
    // The value is left out of the message: it may hold a password.
    throw new InvalidSetting("DATABASE_URL", "…", "it begins with postgres:// or postgresql://.");
  }
  return text;
}

function readPublicUrl(text: string): string | undefined {
  if (!text) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = url && !url.search && !url.hash && !url.username && !url.password;
  if (isPlain && ["https:", "http:"].includes(url.protocol)) return url.href.replace(/\/+$/, "");
  const shown = text.includes("@") ? "…" : text;
  throw new InvalidSetting(
    "PUBLIC_URL",
    shown,
    "it is an address such as https://rapport.example.",
  );
}

function readSmtpUrl(text: string): string | undefined {
  if (!text) return undefined;
  if (!/^smtps?:\/\/./.test(text) || !URL.canParse(text)) {
    // The value is left out of the message: it may hold a password.
    throw new InvalidSetting("SMTP_URL", "…", "it begins with smtp:// or smtps://.");
  }
  return text;
}

function readWorkers(text: string, databaseUrl: string): number {
  if (!text) return databaseUrl ? processesFor(availableParallelism()) : 1;
  const workers = readCount("WEB_CONCURRENCY", text, 256);
  if (workers > 1 && !databaseUrl) {
    throw new InvalidSetting(
      "WEB_CONCURRENCY",
      text,
      "the embedded engine serves one process. Leave it out, or set DATABASE_URL.",
    );
  }
  return workers;
}

/**
 * On four cores that PostgreSQL shares, a second process makes a third more of the work and takes as much
 * memory as the first (lab/NOTEBOOK.md).
 */
export const processesFor = (cores: number): number => Math.max(1, Math.min(4, cores >> 2));

const listIn = (text: string): string[] =>
  text
    .split(",")
    .map((entry) => entry.trim())
    .filter(Boolean);

const HOST_NAME =
  /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*\.?$/i;

function readOutboundAllow(text: string): string[] {
  const entries = listIn(text);
  const wrong = entries.find((entry) => !isAllowlistEntry(entry) && !isHostName(entry));
  if (wrong === undefined) return entries;
  throw new InvalidSetting(
    "OUTBOUND_ALLOW",
    wrong,
    "it holds addresses, CIDR blocks and host names.",
  );
}

/** A name without a letter is a mistyped address, such as 10.0.0.256. */
const isHostName = (entry: string): boolean => HOST_NAME.test(entry) && /[a-z]/i.test(entry);

function readProxies(text: string): string[] {
  const proxies = listIn(text);
  const wrong = proxies.find((entry) => !isAllowlistEntry(entry));
  if (wrong === undefined) return proxies;
  throw new InvalidSetting("TRUSTED_PROXIES", wrong, "it holds addresses and CIDR blocks.");
}

function oneOf<Choice extends string>(name: Setting, text: string, all: readonly Choice[]): Choice {
  const found = all.find((each) => each === text);
  if (found !== undefined) return found;
  throw new InvalidSetting(name, text, `it is one of ${all.join(", ")}.`);
}

function readShare(name: Setting, text: string): number {
  const share = Number(text);
  if (/^\d*\.?\d+$/.test(text) && share <= 1) return share;
  throw new InvalidSetting(name, text, "it is a number from 0 to 1, such as 0.01.");
}
