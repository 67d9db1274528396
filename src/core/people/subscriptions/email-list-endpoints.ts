import Type from "typebox";
import { named, OnlySuccess, succeeding, Text } from "../../base/values/schemas.ts";
import { endpoint, success, withPermission } from "../../http/endpoint.ts";
import type { PeopleServices } from "../profiles/write-people.ts";
import { checkAddresses, MOST_NAMES } from "./check-names.ts";
import {
  blockEmails,
  ListQuery,
  OrderedListQuery,
  periodOf,
  readHardBounces,
  readUnsubscribes,
  removeHardBounces,
} from "./email-lists.ts";
import type { ReadServices } from "./read-status.ts";

const Email = Type.Union([
  Type.String(),
  Type.Array(Type.String(), { minItems: 1, maxItems: MOST_NAMES }),
]);

const Period = Type.Optional(
  Type.Object(
    {
      from: Text("Included, in ISO 8601.", "2026-01-01T00:00:00.000Z"),
      until: Text("Not included, in ISO 8601.", "2026-02-01T00:00:00.000Z"),
    },
    {
      description:
        "What the list contains; `until` is not included. Absent where addresses are looked up.",
    },
  ),
);

/** As in `2026-11-22 04:00:41 +0000`. */
const inUtc = (time: Date): string => `${time.toISOString().slice(0, 19).replace("T", " ")} +0000`;

function covered(query: Parameters<typeof periodOf>[0]) {
  const period = periodOf(query);
  return period && { period };
}

const unsubscribesEndpoint = endpoint({
  name: "listUnsubscribes",
  method: "GET",
  path: "/email/unsubscribes",
  summary: "Lists addresses that unsubscribed in a period.",
  access: withPermission("email.unsubscribe"),
  query: OrderedListQuery,
  replies: succeeding({
    emails: Type.Array(
      named("UnsubscribedAddress", { email: Type.String(), unsubscribed_at: Type.String() }),
    ),
    period: Period,
  }),
}).handledBy(async (services: ReadServices, { workspace }, { query }) => {
  const entries = await readUnsubscribes(services, workspace, query);
  const emails = entries.map(({ email, at }) => ({ email, unsubscribed_at: inUtc(at) }));
  return success({ emails, ...covered(query) });
});

const hardBouncesEndpoint = endpoint({
  name: "listHardBounces",
  method: "GET",
  path: "/email/hard_bounces",
  summary: "Lists addresses that hard bounced in a period, newest first.",
  access: withPermission("email.hard_bounces"),
  query: ListQuery,
  replies: succeeding({
    emails: Type.Array(
      named("BouncedAddress", { email: Type.String(), hard_bounced_at: Type.String() }),
    ),
    period: Period,
  }),
}).handledBy(async (services: ReadServices, { workspace }, { query }) => {
  const entries = await readHardBounces(services, workspace, query);
  const emails = entries.map(({ email, at }) => ({ email, hard_bounced_at: inUtc(at) }));
  return success({ emails, ...covered(query) });
});

const removeBouncesEndpoint = endpoint({
  name: "removeHardBounces",
  method: "POST",
  path: "/email/bounce/remove",
  summary: "Removes addresses from the list of hard bounces.",
  access: withPermission("email.bounce.remove"),
  body: Type.Object({ email: Email }),
  replies: { 201: OnlySuccess },
}).handledBy(async (services: PeopleServices, context, { body }) => {
  await removeHardBounces(services, context, checkAddresses(body));
  return { status: 201, body: { message: "success" } };
});

const blockEndpoint = endpoint({
  name: "blockEmails",
  method: "POST",
  // The second is its older name, which clients still use.
  path: ["/email/blocklist", "/email/blacklist"],
  summary: "Unsubscribes addresses and records that they hard bounced.",
  access: withPermission("email.blacklist"),
  body: Type.Object({ email: Email }),
  replies: { 201: OnlySuccess },
}).handledBy(async (services: PeopleServices, context, { body }) => {
  await blockEmails(services, context, checkAddresses(body));
  return { status: 201, body: { message: "success" } };
});

export const emailListEndpoints = [
  unsubscribesEndpoint,
  hardBouncesEndpoint,
  removeBouncesEndpoint,
  blockEndpoint,
];
