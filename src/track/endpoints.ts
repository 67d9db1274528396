import Type from "typebox";
import { endpoint, withPermission } from "../http/endpoint.ts";
import { type TrackServices, track } from "./track.ts";

const Message = Type.Object({ message: Type.String(), code: Type.String() });

const Place = Type.Object({
  input_array: Type.Enum(["attributes", "events", "purchases"]),
  index: Type.Integer({ minimum: 0 }),
});

const ErrorText = Type.Intersect([Type.Object({ type: Type.String() }), Message]);

const ItemError = Type.Intersect([ErrorText, Place]);

/** Of a request that is refused as a whole: without a place where it is not about one object. */
const RequestError = Type.Intersect([ErrorText, Type.Partial(Place)]);

/**
 * The objects are checked one by one (`check-request.ts`), so that one bad object does not refuse
 * the whole request; here they are only described.
 */
const Objects = (description: string) => Type.Optional(Type.Array(Type.Unknown(), { description }));

const Counter = Type.Optional(Type.Integer({ minimum: 0 }));

const trackEndpoint = endpoint({
  method: "POST",
  path: "/users/track",
  summary: "Records attributes, events and purchases of users.",
  access: withPermission("users.track"),
  body: Type.Object({
    attributes: Objects("Attributes objects."),
    events: Objects("Event objects."),
    purchases: Objects("Purchase objects."),
  }),
  replies: {
    201: Type.Object({
      attributes_processed: Counter,
      events_processed: Counter,
      purchases_processed: Counter,
      message: Type.Literal("success"),
      errors: Type.Optional(Type.Array(ItemError)),
      skipped: Type.Optional(Type.Array(Type.Intersect([Message, Place]))),
    }),
    400: Type.Object({ message: Type.String(), errors: Type.Array(RequestError) }),
  },
  dialect: "message-and-errors",
  idempotency: "handler",
}).handledBy(
  async (services: TrackServices, workspace, { body, ...origin }) =>
    (await track(services, workspace, body, origin)) as never,
);

export const trackEndpoints = [trackEndpoint];
