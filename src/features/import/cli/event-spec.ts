import { isJsonObject, type JsonObject } from "../../../core/base/values/plain-json.ts";
import type { ImportKind } from "../import-kind.ts";

/*
 * The calls of Segment and RudderStack, as both write them to files: one JSON object a line. They share one
 * specification (https://segment.com/docs/connections/spec/, https://www.rudderstack.com/docs/event-spec/).
 */

/** A call becomes any number of rows of the kind that is imported; none if it is of another kind. */
export function rowsOfCall(kind: ImportKind, call: unknown): JsonObject[] {
  if (!isJsonObject(call)) return [];
  if (kind === "users" && call.type === "identify") return [userOf(call)];
  if (kind === "events" && call.type === "track") return [eventOf(call)];
  if (kind === "purchases" && call.type === "track" && call.event === "Order Completed") {
    return purchasesOf(call);
  }
  return [];
}

/** Traits that the specification names, and the attribute for each. */
const ATTRIBUTE_OF: Readonly<Record<string, string>> = {
  firstName: "first_name",
  first_name: "first_name",
  lastName: "last_name",
  last_name: "last_name",
  email: "email",
  phone: "phone",
  gender: "gender",
  avatar: "image_url",
};

function userOf(call: JsonObject): JsonObject {
  const context = objectOf(call.context);
  // RudderStack writes traits into the context.
  const { address, birthday, ...traits } = {
    ...objectOf(context.traits),
    ...objectOf(call.traits),
  };
  const { city, country } = objectOf(address);
  const attributes = Object.entries(traits)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => [ATTRIBUTE_OF[name] ?? name, value]);
  return {
    ...Object.fromEntries(attributes),
    ...(city && { home_city: city }),
    ...(country && { country }),
    ...(typeof birthday === "string" && { dob: birthday.slice(0, 10) }),
    ...identityOf(call),
  };
}

const eventOf = (call: JsonObject): JsonObject => ({
  ...identityOf(call),
  name: call.event ?? null,
  time: timeOf(call),
  ...(isJsonObject(call.properties) && { properties: call.properties }),
});

/** An order has a purchase for each product. */
function purchasesOf(call: JsonObject): JsonObject[] {
  const { products, currency, ...order } = objectOf(call.properties);
  const bought = Array.isArray(products) ? products : [];
  return bought.filter(isJsonObject).map((product) => {
    const { product_id, sku, name, price, quantity, ...more } = product;
    return {
      ...identityOf(call),
      product_id: product_id ?? sku ?? name ?? null,
      currency: product.currency ?? currency ?? "USD",
      price: numberOf(price),
      quantity: numberOf(quantity ?? 1),
      time: timeOf(call),
      properties: {
        ...more,
        ...(name !== undefined && { name }),
        ...(order.order_id !== undefined && { order_id: order.order_id }),
      },
    };
  });
}

/** A user without userId is known by an alias until identified. */
const identityOf = ({ userId, anonymousId }: JsonObject): JsonObject =>
  userId === undefined || userId === null || userId === ""
    ? { user_alias: { alias_name: anonymousId ?? null, alias_label: "anonymous_id" } }
    : { external_id: userId };

/**
 * `timestamp` is the time by the server's clock; RudderStack's files may have only the client's.
 */
const timeOf = (call: JsonObject) =>
  call.timestamp ?? call.originalTimestamp ?? call.receivedAt ?? null;

const numberOf = (value: JsonObject[string] | undefined) =>
  typeof value === "string" && value.trim() !== "" ? Number(value) : (value ?? null);

const objectOf = (value: unknown): JsonObject => (isJsonObject(value) ? value : {});
