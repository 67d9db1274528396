/* Every setting of a server: name, default, one sentence. config.ts reads them. */

interface Setting {
  readonly default: string;
  readonly about: string;
}

export const SETTINGS = {
  HOST: { default: "127.0.0.1", about: "The address to listen on." },
  PORT: { default: "8080", about: "The port to listen on; 0 takes any that is free." },
  DATA_DIR: {
    default: "./data",
    about: "The folder of the embedded engine and of generated secrets; memory: keeps nothing.",
  },
  DATABASE_URL: {
    default: "",
    about: "A PostgreSQL 15 or newer, or a Citus coordinator, instead of the embedded engine.",
  },
  CITUS_SHARDS: {
    default: "",
    about:
      "How many shards the tables of user data are cut into when they are distributed on Citus: 1 to 256. " +
      "By default four for each node, rounded up to a power of two.",
  },
  CITUS_DIRECT: {
    default: "true",
    about:
      "Whether track writes through the Citus worker that has the rows, if the server reaches it; false: " +
      "everything goes through the coordinator.",
  },
  MANIFEST: { default: "", about: "A manifest (YAML or JSON) that is applied before serving." },
  ADMIN_TOKEN: {
    default: "",
    about:
      "The token of /admin/v1, at least 24 characters; else the first server on the database generates one " +
      "and keeps it in its data folder (mode 0600).",
  },
  SECRET_KEY: {
    default: "",
    about:
      "The key that seals stored secrets, at least 24 characters, the same for all servers on a database; " +
      "else the first server generates one and keeps it in its data folder (mode 0600). SECRET_KEY_FILE names " +
      "a file with it.",
  },
  SECRET_KEY_FILE: { default: "", about: "A file that holds SECRET_KEY." },
  PREVIOUS_SECRET_KEY: {
    default: "",
    about:
      "The earlier SECRET_KEY while keys change, until rapport secrets rotate has run; or " +
      "PREVIOUS_SECRET_KEY_FILE.",
  },
  PREVIOUS_SECRET_KEY_FILE: { default: "", about: "A file that holds PREVIOUS_SECRET_KEY." },
  WEB_CONCURRENCY: {
    default: "",
    about:
      "How many server processes share the port; without it, with DATABASE_URL one for every four " +
      "cores, at most 4, and one on the embedded engine, which serves no more.",
  },
  TRUSTED_PROXIES: {
    default: "",
    about: "Addresses and CIDR blocks, separated by commas, whose X-Forwarded-For is believed.",
  },
  OUTBOUND_ALLOW: {
    default: "",
    about:
      "Addresses, CIDR blocks and host names, separated by commas, that webhooks, callbacks and the company's " +
      "connections may reach although they are private, loopback or link-local.",
  },
  PUBLIC_URL: {
    default: "",
    about: "Where people reach the server, for links to pages; else where each request reaches it.",
  },
  PAGE_LINK_DAYS: {
    default: "400",
    about: "How many days the link to a user's preference page works.",
  },
  PAGE_LIMIT: {
    default: "300",
    about:
      "How many requests a minute one client address may send to preference pages; a workspace gets " +
      "50 times as many, one-click unsubscribes ten times. Counted by each server process.",
  },
  REQUEST_TIMEOUT: {
    default: "60",
    about: "How many seconds a request may take to arrive; its headers a quarter of that.",
  },
  MAX_REQUESTS: {
    default: "2000",
    about: "How many requests a server process works on at once; more get 503 and Retry-After.",
  },
  MAX_EVENT_LOOP_DELAY: {
    default: "1",
    about: "How many seconds late the event loop may run for a while; then requests get 503.",
  },
  MAX_FAILED_AUTH: {
    default: "20",
    about:
      "How many wrong keys and tokens one address may send in a minute before it gets 429; a valid API key always works.",
  },
  DATABASE_TIMEOUT: {
    default: "15",
    about:
      "How many seconds PostgreSQL may take for a statement; a request gets 503 after three times that.",
  },
  SESSION_IDLE_MINUTES: {
    default: "60",
    about: "After how many minutes without a request a session of the dashboard ends.",
  },
  SESSION_HOURS: {
    default: "12",
    about: "After how many hours a session of the dashboard ends, however it is used.",
  },
  LIVE_REQUESTS: {
    default: "",
    about:
      "How many of its latest requests each server process keeps in memory for the dashboard; by default 1000 " +
      "if the demo workspace is served, else none.",
  },
  OIDC_ISSUER: {
    default: "",
    about:
      "The address of an OpenID Connect provider whose users sign in to the dashboard: docs/dashboard.md.",
  },
  OIDC_CLIENT_ID: { default: "", about: "The id under which the provider knows Rapport." },
  OIDC_CLIENT_SECRET: {
    default: "",
    about: "The secret that belongs to OIDC_CLIENT_ID, if the provider gave one.",
  },
  OIDC_CLIENT_SECRET_FILE: { default: "", about: "A file that holds OIDC_CLIENT_SECRET." },
  OIDC_USER_CLAIM: {
    default: "email",
    about:
      "The claim that holds the userName; `email` must be verified. Entra ID: preferred_username.",
  },
  OIDC_NAME: { default: "Single sign-on", about: "What the dashboard calls the provider." },
  METRICS_PORT: {
    default: "",
    about: "The port of GET /metrics (Prometheus), on METRICS_HOST. Off by default.",
  },
  METRICS_HOST: {
    default: "127.0.0.1",
    about: "The address that METRICS_PORT listens on: metrics need no key, so keep it private.",
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    default: "",
    about:
      "The OpenTelemetry collector that gets traces and metrics, such as http://127.0.0.1:4318; the other OTEL_ " +
      "variables: docs/operations/telemetry.md.",
  },
  DEMO: {
    default: "",
    about:
      "true creates the demo workspace, with a key that may do everything; by default only the embedded " +
      "engine on a loopback address has it.",
  },
  SMTP_URL: {
    default: "",
    about: "The mail server that reports go through: smtp://user:password@host:port or smtps://….",
  },
  SMTP_FROM: { default: "Rapport <rapport@localhost>", about: "The sender of reports." },
  JOB_LEASE_SECONDS: {
    default: "15",
    about: "How long a job of a process that was killed waits until another one takes it over.",
  },
  SHUTDOWN_TIMEOUT: {
    default: "30",
    about: "How many seconds requests in flight get to finish after SIGTERM or SIGINT.",
  },
  LOG_FORMAT: {
    default: "auto",
    about: "json, pretty, or auto: pretty on a terminal, JSON elsewhere.",
  },
  LOG_SAMPLE: {
    default: "1",
    about: "The share of successful requests to log, from 0 to 1. Others are always logged.",
  },
  LOG_LEVEL: {
    default: "info",
    about: "trace, debug, info, warn, error, fatal or silent.",
  },
} as const satisfies Record<string, Setting>;
