/** The settings of a server. This file is the only reader of `process.env`; `settings.ts` has the table. */

import { availableParallelism } from "node:os";
import { SHORTEST_SECRET } from "../core/admin/secrets/secrets.ts";
import type { SettableClock } from "../core/base/clock.ts";
import type { OtlpProtocol, TelemetrySettings } from "../core/base/observe/open-telemetry.ts";
import type { OidcSettings } from "../core/base/oidc-settings.ts";
import { nearestTo } from "../core/base/values/nearest.ts";
import type { ReceivedRequest } from "../core/http/observe.ts";
import { InvalidSetting, isLoopback, readAll } from "./setting-readers.ts";
import { readSettings, SETTINGS, type SettingValues } from "./settings.ts";

export { InvalidSetting } from "./setting-readers.ts";
export { SETTINGS } from "./settings.ts";

/** The settings, and values derived from several of them. */
export interface Config extends Omit<SettingValues, "demo"> {
  /** Only set by programs: learns of every request. See `ServerSettings`. */
  readonly onReceived?: ((received: ReceivedRequest) => void) | undefined;
  /** Only set by programs: the time of this server, instead of its database's or its machine's. */
  readonly clock?: SettableClock | undefined;
  /**
   * Only set by programs: the folder of the built dashboard; by default where the build puts it.
   */
  readonly webFolder?: string | undefined;
  /** Only set by tests, whose passwords protect nobody: the cost of their hashes. See `features/sign-in/password-hashes.ts`. */
  readonly passwordCost?:
    | { readonly log2N: number; readonly r: number; readonly p: number }
    | undefined;
  /** How many characters keys and tokens need; any number with `DATA_DIR=memory:`. */
  readonly shortestSecret: number;
  /** Whether `npm start` started it. */
  readonly isChildOfNpm: boolean;
  readonly workers: number;
  readonly maxEventLoopDelayMs: number;
  /** Whether an empty server without a manifest gets the demo workspace. */
  readonly demo: boolean;
  /** Undefined: no identity provider. */
  readonly oidc: OidcSettings | undefined;
  /** Undefined: nothing goes to an OpenTelemetry collector. */
  readonly telemetry: TelemetrySettings | undefined;
}

/**
 * Reads the settings. An empty value counts as absent.
 *
 * @throws InvalidSetting, InvalidSettings
 */
export function readConfig(environment: NodeJS.ProcessEnv = process.env): Config {
  const values = readSettings(environment, nearMissesIn(environment));
  const { secretKey, secretKeyFile, previousSecretKey, previousSecretKeyFile } = values;
  const telemetryOf = () => readTelemetry(environment, (...what) => new InvalidSetting(...what));
  readAll<unknown>([
    () => refuseBoth(secretKey, secretKeyFile, "SECRET_KEY"),
    () => refuseBoth(previousSecretKey, previousSecretKeyFile, "PREVIOUS_SECRET_KEY"),
    () => workersOf(values),
    () => oidcOf(values),
    telemetryOf,
  ]);
  // The demo key opens everything, so it is not created where strangers can reach the server.
  const demo = values.demo ?? (isLoopback(values.host) && !values.databaseUrl);
  return {
    ...values,
    shortestSecret: values.dataDir === "memory:" ? 1 : SHORTEST_SECRET,
    isChildOfNpm: environment.npm_lifecycle_event === "start",
    workers: workersOf(values),
    maxEventLoopDelayMs: values.maxEventLoopDelaySeconds * 1_000,
    demo,
    oidc: oidcOf(values),
    telemetry: telemetryOf(),
  };
}

/** Variables that commands read from the environment in addition to the settings. */
const OTHER_NAMES = ["RAPPORT_URL"];

/** Names so short that other programs have variables like them. */
const SHORTEST_CHECKED = 5;

/** Refuses variables that look like a misspelled setting. @returns checks that throw InvalidSetting. */
function nearMissesIn(environment: NodeJS.ProcessEnv): (() => void)[] {
  const names = Object.keys(SETTINGS);
  return Object.entries(environment).map(([name, value]) => () => {
    if (!value?.trim() || names.includes(name) || OTHER_NAMES.includes(name)) return;
    const meant = settingMeantBy(name, names);
    if (meant === undefined) return;
    // The value is left out of the message: it may be a secret.
    throw new InvalidSetting(
      name,
      "…",
      `there is no such setting; did you mean ${meant}? Rename the variable, or unset it.`,
    );
  });
}

function settingMeantBy(name: string, names: readonly string[]): string | undefined {
  const plain = name.toUpperCase().replace(/[-.]/g, "_");
  const unprefixed = plain.replace(/^RAPPORT_/, "");
  if (unprefixed !== name && names.includes(unprefixed)) return unprefixed;
  // A second of its kind, which a manifest may use: ADMIN_TOKEN_2.
  if (names.includes(plain.replace(/_?\d+$/, ""))) return undefined;
  return nearestTo(
    unprefixed,
    names.filter((each) => each.length >= SHORTEST_CHECKED),
  );
}

/** @throws InvalidSetting if a secret is given as a value and as a file. */
function refuseBoth(value: string | undefined, file: string | undefined, name: string) {
  if (value === undefined || file === undefined) return;
  throw new InvalidSetting(`${name}_FILE`, file, `${name} is set too; set one.`);
}

function oidcOf(values: SettingValues): OidcSettings | undefined {
  const { oidcIssuer, oidcClientId, oidcClientSecret, oidcClientSecretFile } = values;
  if (oidcIssuer === undefined) return undefined;
  if (oidcClientId === undefined) {
    throw new InvalidSetting("OIDC_CLIENT_ID", "", "OIDC_ISSUER is set; set the client's id too.");
  }
  refuseBoth(oidcClientSecret, oidcClientSecretFile, "OIDC_CLIENT_SECRET");
  return {
    issuer: oidcIssuer,
    clientId: oidcClientId,
    clientSecret: oidcClientSecret,
    clientSecretFile: oidcClientSecretFile,
    name: values.oidcName,
    userClaim: values.oidcUserClaim,
  };
}

function workersOf({ webConcurrency, databaseUrl }: SettingValues): number {
  if (webConcurrency === undefined) {
    return databaseUrl ? processesFor(availableParallelism()) : 1;
  }
  if (webConcurrency === 1 || databaseUrl) return webConcurrency;
  throw new InvalidSetting(
    "WEB_CONCURRENCY",
    String(webConcurrency),
    "the embedded engine serves one process. Leave it out, or set DATABASE_URL.",
  );
}

/**
 * On four cores shared with PostgreSQL, a second process adds a third more throughput and takes as
 * much memory as the first (lab/NOTEBOOK.md).
 */
export const processesFor = (cores: number): number => Math.max(1, Math.min(4, cores >> 2));

/* The standard variables of OpenTelemetry that say whether and how something is sent. Its libraries read the others. */

const METRICS_EVERY_MS = 60_000;

/** @throws the error that `refuse` makes for an invalid value. */
function readTelemetry(
  environment: NodeJS.ProcessEnv,
  refuse: (name: string, value: string, rule: string) => Error,
): TelemetrySettings | undefined {
  const text = (name: string): string => environment[name]?.trim() ?? "";

  function protocolOf(signal: "TRACES" | "METRICS"): OtlpProtocol | undefined {
    const own = `OTEL_EXPORTER_OTLP_${signal}`;
    const name = text(`${own}_ENDPOINT`) ? `${own}_ENDPOINT` : "OTEL_EXPORTER_OTLP_ENDPOINT";
    const endpoint = text(name);
    const exporter = `OTEL_${signal}_EXPORTER`;
    if (!endpoint || text(exporter) === "none") return undefined;
    if (text(exporter) && text(exporter) !== "otlp") {
      throw refuse(exporter, text(exporter), "it is otlp or none.");
    }
    if (!/^https?:\/\/./.test(endpoint) || !URL.canParse(endpoint)) {
      // The value is left out of the message: it may contain a password.
      throw refuse(name, "…", "it is an address such as http://127.0.0.1:4318.");
    }
    const of = text(`${own}_PROTOCOL`) ? `${own}_PROTOCOL` : "OTEL_EXPORTER_OTLP_PROTOCOL";
    const protocol = text(of) || "http/protobuf";
    if (protocol === "http/protobuf" || protocol === "http/json") return protocol;
    throw refuse(
      of,
      protocol,
      "it is http/protobuf or http/json, which collectors take on port 4318.",
    );
  }

  function readInterval(): number {
    const name = "OTEL_METRIC_EXPORT_INTERVAL";
    if (!text(name)) return METRICS_EVERY_MS;
    const ms = Number(text(name));
    if (/^\d+$/.test(text(name)) && ms >= 100 && ms <= 86_400_000) return ms;
    throw refuse(name, text(name), "it is a whole number of milliseconds from 100 to 86400000.");
  }

  if (text("OTEL_SDK_DISABLED").toLowerCase() === "true") return undefined;
  const [traces, metrics] = [protocolOf("TRACES"), protocolOf("METRICS")];
  return traces || metrics ? { traces, metrics, metricsEveryMs: readInterval() } : undefined;
}
