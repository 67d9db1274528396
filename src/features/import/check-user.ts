import type { Static } from "typebox";
import { Compile } from "typebox/compile";
import { accepted, type Checked, type Fault, refused } from "../../core/base/problem.ts";
import type { JsonObject } from "../../core/base/values/plain-json.ts";
import { parseTime } from "../../core/base/values/times.ts";
import { sentenceOf } from "../../core/http/validation-sentence.ts";
import type {
  AppUsage,
  Device,
  Interaction,
  SentMessage,
} from "../../core/people/activity/activity.ts";
import { LAST_TIME } from "../../core/people/identity/combine/fields.ts";
import {
  checkPushTokens,
  type PushToken,
} from "../../core/people/profiles/attribute-rules/push-tokens.ts";
import type { PersonIdentifier } from "../../core/people/profiles/identifiers.ts";
import {
  checkOneIdentifier,
  type RawItem,
  withWireNames,
} from "../../core/track/check-identity.ts";
import { ImportedObject } from "./import-schema.ts";

export interface ImportedUser {
  readonly identifier: PersonIdentifier;
  readonly apps: readonly AppUsage[];
  readonly devices: readonly Device[];
  readonly interactions: readonly Interaction[];
  readonly messages: readonly SentMessage[];
  readonly pushTokens: readonly PushToken[];
  /** The Last_X_at fields, times in ISO 8601. */
  readonly times: readonly (readonly [name: string, time: string])[];
}

/** The same without identifiers, and without what track requests set. */
export type ImportedHistory = Omit<ImportedUser, "identifier" | "pushTokens">;

const validator = Compile(ImportedObject);

const IDENTIFIERS = ["external_id", "user_alias", "platform_id", "email", "phone"];

/** Whether a member of any object above is a time. */
const isTimeName = (name: string): boolean =>
  name.startsWith("last_") || name === "first_used" || name.endsWith("_at");

/**
 * Checks one object of an import: exactly one identifier, as in an event, and the user's data.
 * Times become ISO 8601 in UTC.
 */
export function checkImportedUser(
  element: unknown,
  appIds: ReadonlySet<string>,
): Checked<ImportedUser> {
  if (element === null || typeof element !== "object" || Array.isArray(element)) {
    return refused("NOT_AN_OBJECT", "must be an object");
  }
  const raw = withWireNames(element as RawItem);
  const identifier = checkOneIdentifier(raw);
  if ("fault" in identifier) return identifier;
  const rest = Object.fromEntries(
    Object.entries(raw).filter(([name]) => !IDENTIFIERS.includes(name)),
  );
  const history = checkHistory(rest, appIds);
  if ("fault" in history) return history;
  const tokens = checkTokens(rest.push_tokens, appIds);
  if ("fault" in tokens) return tokens;
  return accepted({
    identifier: identifier.value,
    pushTokens: tokens.value,
    ...history.value,
  });
}

/** Checks everything in an object but its identifiers. */
export function checkHistory(
  object: RawItem,
  appIds: ReadonlySet<string>,
): Checked<ImportedHistory> {
  if (!validator.Check(object)) {
    return refused("INVALID_USER", sentenceOf(validator.Errors(object), "object"));
  }
  const fault = faultOfTimes(object, "") ?? faultOfNames(object) ?? faultOfApps(object, appIds);
  return fault ? { fault } : accepted(partsOf(canonical(object)));
}

type UserObject = Static<typeof ImportedObject>;

/** The place of an unreadable time, at any depth. */
function faultOfTimes(value: unknown, path: string): Fault | undefined {
  if (value === null || typeof value !== "object") return undefined;
  const isList = Array.isArray(value);
  for (const [name, member] of Object.entries(value)) {
    const place = isList ? `${path}[${name}]` : path ? `${path}.${name}` : name;
    if (isTimeName(name) && typeof member === "string" && !parseTime(member)) {
      return { code: "INVALID_TIME", message: `'${place}' is not valid: it must be ISO 8601` };
    }
    const fault = faultOfTimes(member, place);
    if (fault) return fault;
  }
  return undefined;
}

function faultOfNames({ engagement_times }: UserObject): Fault | undefined {
  const wrong = Object.keys(engagement_times ?? {}).find((name) => !LAST_TIME.test(name));
  if (wrong === undefined) return undefined;
  const rule = "names are of the form last_…_at";
  return { code: "INVALID_USER", message: `'engagement_times.${wrong}' is not valid: ${rule}` };
}

function faultOfApps({ apps }: UserObject, appIds: ReadonlySet<string>): Fault | undefined {
  const foreign = apps?.find((app) => !appIds.has(app.app_id));
  if (!foreign) return undefined;
  const message = `'apps' names the app '${foreign.app_id}', which this workspace does not have`;
  return { code: "UNKNOWN_APP", message };
}

function checkTokens(value: unknown, appIds: ReadonlySet<string>): Checked<PushToken[]> {
  if (value === undefined || value === null) return accepted([]);
  const checked = checkPushTokens(value);
  if ("fault" in checked) return checked;
  const tokens = checked.value as unknown as PushToken[];
  const foreign = tokens.find((token) => !appIds.has(token.app_id));
  if (!foreign) return accepted(tokens);
  return refused(
    "BAD_PUSH_TOKEN_APP_ID",
    `'push_tokens' names the app '${foreign.app_id}', which this workspace does not have`,
  );
}

/** The same with every time in ISO 8601, so that times can be compared and exported. */
function canonical<Value>(value: Value): Value {
  if (Array.isArray(value)) return value.map(canonical) as Value;
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      isTimeName(name) && typeof member === "string" ? isoTime(member) : canonical(member),
    ]),
  ) as Value;
}

const isoTime = (text: string): string => (parseTime(text) as Date).toISOString();

function partsOf(user: UserObject): ImportedHistory {
  return {
    apps: (user.apps ?? []).map((app) => ({
      appId: app.app_id,
      version: app.version ?? null,
      sessions: app.sessions,
      firstUsedAt: new Date(app.first_used),
      lastUsedAt: new Date(app.last_used),
    })),
    devices: (user.devices ?? []).map(({ device_id, ...details }) => ({
      deviceId: device_id,
      details: details as JsonObject,
    })),
    interactions: [
      ...(user.campaigns_received ?? []).map(({ api_campaign_id, ...details }) =>
        interaction("campaign", api_campaign_id, details),
      ),
      ...(user.canvases_received ?? []).map(({ api_canvas_id, ...details }) =>
        interaction("canvas", api_canvas_id, details),
      ),
      ...(user.cards_clicked ?? []).map(({ name, ...details }) =>
        interaction("card", name, details),
      ),
    ],
    messages: (user.messages ?? []).map(({ message_id, channel, sent_at, ...details }) => ({
      messageId: message_id,
      channel,
      sentAt: new Date(sent_at),
      details: details as JsonObject,
    })),
    times: Object.entries(user.engagement_times ?? {}),
  };
}

const interaction = (kind: Interaction["kind"], id: string, details: object): Interaction => ({
  kind,
  id,
  details: details as JsonObject,
});
