import { isAllowlistEntry } from "../core/admin/access/ip-allowlist.ts";
import { RAPPORT } from "../core/base/command.ts";
import { BUCKET_COUNT } from "../core/database/buckets.ts";
import {
  count,
  databaseUrl,
  flag,
  isAllowedHost,
  issuer,
  listOf,
  oneOf,
  optional,
  port,
  publicUrl,
  type Reader,
  readAll,
  share,
  smtpUrl,
  text,
} from "./setting-readers.ts";

const MINUTES_OF_A_MONTH = 31 * 24 * 60;

/** A setting of a server. */
interface Setting<Field extends string, Value> {
  /** Its name in `Config`. */
  readonly field: Field;
  /** The value of an absent or empty variable. */
  readonly default: string;
  /** One sentence for `--help`. */
  readonly about: string;
  readonly read: Reader<Value>;
  /** Whether `--help` shows it: most servers set it. */
  readonly isUsual: boolean;
}

function setting<const Field extends string, Value>(
  field: Field,
  read: Reader<Value>,
  about: string,
  fallback = "",
): Setting<Field, Value> {
  return { field, default: fallback, read, about, isUsual: false };
}

/** A setting that most servers need. */
function usual<const Field extends string, Value>(
  ...of: Parameters<typeof setting<Field, Value>>
): Setting<Field, Value> {
  return { ...setting(...of), isUsual: true };
}

/** Every setting of a server: its default, how its value is read, and one sentence. */
export const SETTINGS = {
  HOST: usual("host", text, "The address to listen on.", "127.0.0.1"),
  PORT: usual("port", port, "The port to listen on; 0 takes any that is free.", "8080"),
  DATA_DIR: usual(
    "dataDir",
    text,
    "The folder of the embedded engine and of generated secrets; memory: keeps nothing.",
    "./data",
  ),
  DATABASE_URL: usual(
    "databaseUrl",
    databaseUrl,
    "A PostgreSQL 15 or newer, or a Citus coordinator, instead of the embedded engine.",
  ),
  CITUS_SHARDS: setting(
    "citusShards",
    optional(count(BUCKET_COUNT), null),
    "How many shards the tables of user data are cut into when they are distributed on Citus: 1 to 256. " +
      "By default four for each node, rounded up to a power of two.",
  ),
  CITUS_DIRECT: setting(
    "citusDirect",
    flag,
    "Whether track writes through the Citus worker that has the rows, if the server reaches it; false: " +
      "everything goes through the coordinator.",
    "true",
  ),
  MANIFEST: usual(
    "manifest",
    optional(text),
    "A manifest (YAML or JSON) that is applied before serving.",
  ),
  MANIFEST_FORCE: setting(
    "manifestForce",
    flag,
    "true applies MANIFEST even if a newer one was applied since; the same as serve --force.",
    "false",
  ),
  ADMIN_TOKEN: usual(
    "adminToken",
    optional(text),
    "The token of /admin/v1, at least 24 characters (any number with DATA_DIR=memory:); otherwise the first server on the database generates one " +
      "and keeps it in its data folder (mode 0600).",
  ),
  PREVIOUS_ADMIN_TOKEN: setting(
    "previousAdminToken",
    optional(text),
    "The earlier ADMIN_TOKEN, which works beside it while callers change to the new one. Sessions and links that were made with it end with it.",
  ),
  SECRET_KEY: usual(
    "secretKey",
    optional(text),
    "The key that seals stored secrets, at least 24 characters, the same for all servers on a database; " +
      "otherwise the first server generates one and keeps it in its data folder (mode 0600). SECRET_KEY_FILE names " +
      "a file with it.",
  ),
  SECRET_KEY_FILE: setting("secretKeyFile", optional(text), "A file that holds SECRET_KEY."),
  PREVIOUS_SECRET_KEY: setting(
    "previousSecretKey",
    optional(text),
    `The earlier SECRET_KEY while keys change, until ${RAPPORT} secrets rotate has run; or ` +
      "PREVIOUS_SECRET_KEY_FILE.",
  ),
  PREVIOUS_SECRET_KEY_FILE: setting(
    "previousSecretKeyFile",
    optional(text),
    "A file that holds PREVIOUS_SECRET_KEY.",
  ),
  WEB_CONCURRENCY: setting(
    "webConcurrency",
    optional(count(256)),
    "How many server processes share the port; without it, with DATABASE_URL one for every four " +
      "cores, at most 4, and one on the embedded engine, which serves no more.",
  ),
  TRUSTED_PROXIES: setting(
    "trustedProxies",
    listOf(isAllowlistEntry, "it is a list of addresses and CIDR blocks."),
    "Addresses and CIDR blocks, separated by commas, of proxies whose X-Forwarded-For is trusted.",
  ),
  OUTBOUND_ALLOW: setting(
    "outboundAllow",
    listOf(isAllowedHost, "it is a list of addresses, CIDR blocks and host names."),
    "Addresses, CIDR blocks and host names, separated by commas, that webhooks, callbacks and the company's " +
      "connections may reach although they are private, loopback or link-local.",
  ),
  PUBLIC_URL: usual(
    "publicUrl",
    publicUrl,
    "The address at which people reach the server, for links to pages; by default the address of each request.",
  ),
  PAGE_LINK_DAYS: setting(
    "pageLinkDays",
    count(3_650),
    "How many days the link to a user's preference page works.",
    "400",
  ),
  PAGE_LIMIT: setting(
    "pageLimit",
    count(1_000_000),
    "How many requests a minute one client address may send to preference pages; a workspace gets " +
      "50 times as many, one-click unsubscribes ten times. Counted by each server process.",
    "300",
  ),
  REQUEST_TIMEOUT: setting(
    "requestTimeoutSeconds",
    count(3_600),
    "How many seconds a request may take to arrive; its headers a quarter of that.",
    "60",
  ),
  MAX_REQUESTS: setting(
    "maxRequests",
    count(1_000_000),
    "How many requests a server process works on at once; more get 503 and Retry-After.",
    "2000",
  ),
  MAX_EVENT_LOOP_DELAY: setting(
    "maxEventLoopDelaySeconds",
    count(3_600),
    "How many seconds late the event loop may run for a while; then requests get 503.",
    "1",
  ),
  MAX_FAILED_AUTH: setting(
    "maxFailedAuth",
    count(1_000_000),
    "How many wrong keys and tokens one address may send in a minute before it gets 429; a valid API key always works.",
    "20",
  ),
  DATABASE_TIMEOUT: setting(
    "databaseTimeoutSeconds",
    count(3_600),
    "How many seconds PostgreSQL may take for a statement; a request gets 503 after three times that.",
    "15",
  ),
  DATABASE_WAIT: setting(
    "databaseWaitSeconds",
    count(86_400, 0),
    "How many seconds a start waits for a PostgreSQL that cannot be reached yet; 0 does not wait.",
    "60",
  ),
  SESSION_IDLE_MINUTES: setting(
    "sessionIdleMinutes",
    count(MINUTES_OF_A_MONTH),
    "After how many minutes without a request a session of the dashboard ends.",
    "60",
  ),
  SESSION_HOURS: setting(
    "sessionHours",
    count(MINUTES_OF_A_MONTH / 60),
    "After how many hours a session of the dashboard ends, however it is used.",
    "12",
  ),
  // Copying bodies and responses takes a fifth to a third of the rate of full batches: lab/NOTEBOOK.md
  LIVE_REQUESTS: setting(
    "liveRequests",
    count(100_000, 0),
    "How many of its latest requests each server process keeps in memory for the dashboard, 16 MB at most; 0 keeps none.",
    "1000",
  ),
  OIDC_ISSUER: setting(
    "oidcIssuer",
    issuer,
    "The address of an OpenID Connect provider whose users sign in to the dashboard: docs/dashboard.md.",
  ),
  OIDC_CLIENT_ID: setting(
    "oidcClientId",
    optional(text),
    "The id under which the provider knows Rapport.",
  ),
  OIDC_CLIENT_SECRET: setting(
    "oidcClientSecret",
    optional(text),
    "The secret that belongs to OIDC_CLIENT_ID, if the provider gave one.",
  ),
  OIDC_CLIENT_SECRET_FILE: setting(
    "oidcClientSecretFile",
    optional(text),
    "A file that holds OIDC_CLIENT_SECRET.",
  ),
  OIDC_USER_CLAIM: setting(
    "oidcUserClaim",
    text,
    "The claim with the userName; `email` must be verified. Entra ID: preferred_username.",
    "email",
  ),
  OIDC_NAME: setting("oidcName", text, "The provider's name in the dashboard.", "Single sign-on"),
  METRICS_PORT: usual(
    "metricsPort",
    optional(port),
    "The port of GET /metrics (Prometheus), on METRICS_HOST. Off by default.",
  ),
  METRICS_HOST: setting(
    "metricsHost",
    text,
    "The address that METRICS_PORT listens on: metrics need no key, so keep it private.",
    "127.0.0.1",
  ),
  OTEL_EXPORTER_OTLP_ENDPOINT: setting(
    "otlpEndpoint",
    optional(text),
    "The OpenTelemetry collector that gets traces and metrics, such as http://127.0.0.1:4318; the other OTEL_ " +
      "variables: docs/operations/telemetry.md.",
  ),
  DEMO: setting(
    "demo",
    optional(flag),
    "true creates the demo workspace, with a key that may do everything; by default only the embedded " +
      "engine on a loopback address has it.",
  ),
  SMTP_URL: setting(
    "smtpUrl",
    smtpUrl,
    "The mail server that reports go through: smtp://user:password@host:port or smtps://….",
  ),
  SMTP_FROM: setting("smtpFrom", text, "The sender of reports.", "Rapport <rapport@localhost>"),
  JOB_LEASE_SECONDS: setting(
    "jobLeaseSeconds",
    count(3_600),
    "How long a job of a process that was killed waits until another one takes it over.",
    "15",
  ),
  SHUTDOWN_TIMEOUT: setting(
    "shutdownTimeoutSeconds",
    count(3_600),
    "How many seconds requests in flight get to finish after SIGTERM or SIGINT.",
    "30",
  ),
  LOG_FORMAT: usual(
    "logFormat",
    oneOf("auto", "json", "pretty"),
    "json, pretty, or auto: pretty on a terminal, JSON elsewhere.",
    "auto",
  ),
  LOG_SAMPLE: setting(
    "logSample",
    share,
    "The share of successful requests to log, from 0 to 1. Others are always logged.",
    "1",
  ),
  LOG_LEVEL: usual(
    "logLevel",
    oneOf("trace", "debug", "info", "warn", "error", "fatal", "silent"),
    "trace, debug, info, warn, error, fatal or silent.",
    "info",
  ),
} as const;

type Table = typeof SETTINGS;

/** The values of all settings, each under its field. */
export type SettingValues = {
  readonly [Name in keyof Table as Table[Name]["field"]]: ReturnType<Table[Name]["read"]>;
};

/**
 * Reads every setting.
 *
 * @param checks are made too.
 * @throws InvalidSetting, InvalidSettings
 */
export function readSettings(
  environment: NodeJS.ProcessEnv,
  checks: readonly (() => void)[] = [],
): SettingValues {
  const reads = Object.entries(SETTINGS).map(([name, { field, read, default: fallback }]) => () => [
    field,
    read(environment[name]?.trim() || fallback, name),
  ]);
  const values = readAll<unknown>([...checks, ...reads]).slice(checks.length);
  return Object.fromEntries(values as [string, unknown][]) as SettingValues;
}
