import { isJsonObject, type Json, type JsonObject } from "../../../core/base/values/plain-json.ts";
import type { ImportKind } from "../import-kind.ts";

/*
 * Braze's exports: profiles as `/users/export/segment` and `/users/export/ids` write them, one JSON object a line
 * (https://www.braze.com/docs/api/endpoints/export/user_data/post_users_segment/), and the events of Currents
 * as JSON, such as users.behaviors.CustomEvent and users.behaviors.Purchase
 * (https://www.braze.com/docs/user_guide/data/braze_currents/event_glossary/).
 */

/** An app of the workspace: exports name apps, and Rapport knows them by id. */
export interface KnownApp {
  readonly id: string;
  readonly name: string;
}

/** @param warn gets a message about fields that are left out of rows. */
export function rowsOfBraze(
  kind: ImportKind,
  record: unknown,
  apps: readonly KnownApp[],
  warn: (what: string) => void,
): JsonObject[] {
  if (!isJsonObject(record)) return [];
  if (kind === "users") return [userOf(record, apps, warn)];
  const time = typeof record.time === "number" ? isoTime(record.time) : (record.time ?? null);
  const shared = { ...identityOf(record), time, properties: propertiesOf(record.properties) };
  if (kind === "events" && typeof record.name === "string" && record.product_id === undefined) {
    return [{ ...shared, name: record.name }];
  }
  if (kind !== "purchases" || record.product_id === undefined) return [];
  const { product_id, currency = "USD", price = null } = record;
  return [{ ...shared, product_id, currency, price, quantity: 1 }];
}

/** Fields that an import takes as they are; anything else that Braze may add is left out. */
const PROFILE_FIELDS = [
  "external_id",
  "user_aliases",
  "first_name",
  "last_name",
  "email",
  "phone",
  "dob",
  "gender",
  "home_city",
  "country",
  "language",
  "time_zone",
  "last_coordinates",
  "email_subscribe",
  "push_subscribe",
  "campaigns_received",
  "canvases_received",
];

function userOf(
  record: JsonObject,
  apps: readonly KnownApp[],
  warn: (what: string) => void,
): JsonObject {
  const kept = Object.entries(record).filter(([name]) => PROFILE_FIELDS.includes(name));
  const idOf = (name: Json | undefined): string | undefined => {
    const found = apps.find((app) => app.name === name)?.id;
    if (found === undefined) warn(`the app '${String(name)}', which the workspace does not have`);
    return found;
  };
  return {
    ...Object.fromEntries(kept),
    custom_attributes: isJsonObject(record.custom_attributes) ? record.custom_attributes : {},
    apps: objectsIn(record.apps).flatMap(({ name, version, sessions, first_used, last_used }) => {
      const app_id = idOf(name);
      const usage = { version: version || null, sessions, first_used, last_used } as JsonObject;
      return app_id === undefined ? [] : [{ app_id, ...usage }];
    }),
    push_tokens: objectsIn(record.push_tokens).flatMap(({ app, token, device_id }) => {
      const app_id = idOf(app);
      if (app_id === undefined || typeof token !== "string") return [];
      return [{ app_id, token, ...(typeof device_id === "string" && { device_id }) }];
    }),
    devices: objectsIn(record.devices).flatMap((device) => {
      if (typeof device.device_id === "string") return [device];
      warn("devices without device_id");
      return [];
    }),
  };
}

const objectsIn = (list: Json | undefined): JsonObject[] =>
  Array.isArray(list) ? list.filter(isJsonObject) : [];

/** Currents has the id of the application as external_user_id, and Braze's own as user_id. */
function identityOf({ external_user_id, user_id }: JsonObject): JsonObject {
  if (external_user_id) return { external_id: external_user_id };
  return { user_alias: { alias_name: user_id ?? null, alias_label: "braze_id" } };
}

/** Currents writes properties as a text. */
function propertiesOf(properties: Json | undefined): JsonObject {
  if (isJsonObject(properties)) return properties;
  if (typeof properties !== "string") return {};
  try {
    const value: unknown = JSON.parse(properties);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}

const isoTime = (seconds: number): string => new Date(seconds * 1_000).toISOString();
