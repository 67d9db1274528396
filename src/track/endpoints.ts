import Type from "typebox";
import { endpoint, withPermission } from "../http/endpoint.ts";
import { NothingRecorded, Recorded, RecordedInSync } from "./reply.ts";
import { type TrackServices, track } from "./track.ts";
import { trackSync } from "./track-sync.ts";

/**
 * The objects are checked one by one (`check-request.ts`), so that one bad object does not refuse
 * the whole request; here they are only described.
 */
const Objects = (description: string) => Type.Optional(Type.Array(Type.Unknown(), { description }));

/** What the three endpoints have in common. */
const contract = {
  method: "POST",
  body: Type.Object({
    attributes: Objects("Attributes objects."),
    events: Objects("Event objects."),
    purchases: Objects("Purchase objects."),
  }),
  dialect: "message-and-errors",
  idempotency: "handler",
} as const;

const trackEndpoint = endpoint({
  ...contract,
  path: "/users/track",
  summary: "Records attributes, events and purchases of users.",
  access: withPermission("users.track"),
  replies: { 201: Recorded, 400: NothingRecorded },
}).handledBy((services: TrackServices, context, { body, idempotency }) =>
  track(services, context, body, idempotency),
);

/** docs/decisions/bulk-and-sync.md */
const BULK_CAPACITY = { objects: 1_000, perUser: 100 };

const bulkEndpoint = endpoint({
  ...contract,
  path: "/users/track/bulk",
  summary: "Records up to 1,000 attributes, events and purchases, at most 100 of one user.",
  access: withPermission("users.track.bulk"),
  mostBodyBytes: 2 * 1_048_576,
  replies: { 201: Recorded, 400: NothingRecorded },
}).handledBy((services: TrackServices, context, { body, idempotency }) =>
  track(services, context, body, idempotency, BULK_CAPACITY),
);

const syncEndpoint = endpoint({
  ...contract,
  path: "/users/track/sync",
  summary: "Records one attributes, event or purchase object and responds with what it changed.",
  access: withPermission("users.track.sync"),
  replies: { 201: RecordedInSync, 400: NothingRecorded },
}).handledBy((services: TrackServices, context, { body, idempotency }) =>
  trackSync(services, context, body, idempotency),
);

export const trackEndpoints = [trackEndpoint, bulkEndpoint, syncEndpoint];
