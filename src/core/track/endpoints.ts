import Type, { type TSchema } from "typebox";
import { describedList, firstExample as exampleOf } from "../http/described.ts";
import { endpoint, withPermission } from "../http/endpoint.ts";
import { AttributesObject, EventObject, PurchaseObject } from "./item-schemas.ts";
import { NothingRecorded, Recorded, RecordedInSync } from "./reply.ts";
import { type TrackServices, track } from "./track.ts";
import { trackSync } from "./track-sync.ts";

/** Checked one by one (`check-request.ts`), so that one bad object does not refuse the whole request. */
const Objects = (schema: TSchema, description: string) =>
  Type.Optional(describedList(schema, description));

/** The common parts of the three endpoints. */
const contract = {
  method: "POST",
  body: Type.Object({
    attributes: Objects(AttributesObject, "Attributes of users."),
    events: Objects(EventObject, "Custom events of users."),
    purchases: Objects(PurchaseObject, "Purchases of users."),
  }),
  dialect: "message-and-errors",
  idempotency: "handler",
  // 50 events may have 50 KB of properties each, which can be 25,000 values. spec: Limits
  budgets: { entriesApart: true },
} as const;

const trackEndpoint = endpoint({
  name: "trackUsers",
  ...contract,
  path: "/users/track",
  summary: "Records attributes, events and purchases of users.",
  description:
    "At most 50 objects in all (the workspace setting `track_max_updates`), applied in the order attributes, events, purchases, each in the order of its array. A rejected object never affects its neighbours: the response lists it in `errors`.",
  examples: {
    "Attributes, an event and a purchase": {
      attributes: [exampleOf(AttributesObject)],
      events: [exampleOf(EventObject)],
      purchases: [exampleOf(PurchaseObject)],
    },
    "An event of an anonymous visitor": {
      events: [
        {
          email: "grace@example.com",
          name: "viewed_page",
          time: "2026-01-01T12:00:00Z",
          properties: { path: "/pricing" },
        },
      ],
    },
    "A subscription": {
      attributes: [
        {
          external_id: "ada",
          email_subscribe: "opted_in",
          subscription_groups: [
            {
              subscription_group_id: "ed06e19a-51bb-4c4e-8a3d-9b4a7d3a1c20",
              subscription_state: "subscribed",
            },
          ],
        },
      ],
    },
  },
  access: withPermission("users.track"),
  replies: { 201: Recorded, 400: NothingRecorded },
}).handledBy((services: TrackServices, context, { body, idempotency }) =>
  track(services, context, body, idempotency),
);

/** docs/decisions/bulk-and-sync.md */
const BULK_CAPACITY = { objects: 1_000, perUser: 100 };

const bulkEndpoint = endpoint({
  name: "trackUsersInBulk",
  ...contract,
  path: "/users/track/bulk",
  summary: "Records up to 1,000 attributes, events and purchases, at most 100 of one user.",
  examples: { Events: { events: [exampleOf(EventObject)] } },
  access: withPermission("users.track.bulk"),
  budgets: { ...contract.budgets, bytesIn: 2 * 1_048_576 },
  replies: { 201: Recorded, 400: NothingRecorded },
}).handledBy((services: TrackServices, context, { body, idempotency }) =>
  track(services, context, body, idempotency, BULK_CAPACITY),
);

const syncEndpoint = endpoint({
  name: "trackUserInSync",
  ...contract,
  path: "/users/track/sync",
  summary: "Records one attributes, event or purchase object and responds with what it changed.",
  examples: {
    Attributes: { attributes: [exampleOf(AttributesObject)] },
    "A purchase": { purchases: [exampleOf(PurchaseObject)] },
  },
  access: withPermission("users.track.sync"),
  replies: { 201: RecordedInSync, 400: NothingRecorded },
}).handledBy((services: TrackServices, context, { body, idempotency }) =>
  trackSync(services, context, body, idempotency),
);

export const trackEndpoints = [trackEndpoint, bulkEndpoint, syncEndpoint];
