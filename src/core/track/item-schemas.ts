import Type, { type TSchema } from "typebox";
import { Text } from "../base/values/schemas.ts";
import {
  CustomAttribute,
  IdentifierMembers,
  StandardAttributeMembers,
} from "../people/profiles/profile-schemas.ts";

/*
 * The objects of a track request as the documentation describes them. Each object is checked by hand
 * (check-attributes.ts, check-event.ts, check-purchase.ts), which is faster than a validator and gives every object
 * its own verdict; test/long/core/http/described-bodies.test.ts holds description and checks together.
 */

const UpdateOnly = (description: string) =>
  Type.Optional(Type.Boolean({ description, examples: [false] }));

const SubscriptionGroupState = Type.Object(
  {
    subscription_group_id: Type.Union([Type.String({ minLength: 1 }), Type.Number()], {
      description: "A subscription group of the workspace.",
      examples: ["ed06e19a-51bb-4c4e-8a3d-9b4a7d3a1c20"],
    }),
    subscription_state: Type.Enum(["subscribed", "unsubscribed"], {
      description: "The state to set.",
    }),
    use_double_opt_in_logic: Type.Optional(
      Type.Boolean({
        description: "Not supported: true with `subscribed` is refused, because nothing is sent.",
        examples: [false],
      }),
    ),
  },
  { title: "SubscriptionGroupState", description: "A state of the user in a subscription group." },
);

// Listed after the identifiers: email and phone beside another identifier are attributes.
const members: Record<string, TSchema> = {
  ...IdentifierMembers,
  ...StandardAttributeMembers,
  _update_existing_only: UpdateOnly(
    "true never creates a user. A `user_alias` creates one only with false.",
  ),
  _merge_objects: Type.Optional(
    Type.Union([Type.Boolean(), Type.Enum(["true", "false"])], {
      description:
        "Whether objects are merged into stored ones, key by key, instead of replacing them.",
      examples: [true],
    }),
  ),
  subscription_groups: Type.Optional(
    Type.Array(SubscriptionGroupState, {
      description:
        "States in subscription groups, of this user and of all who share the email address.",
    }),
  ),
};

/** spec: Attributes object. */
export const AttributesObject = Type.Object(members, {
  title: "AttributesObject",
  // Not CustomAttribute alone: in TypeScript every other member would have to be one, too.
  additionalProperties: Type.Union([CustomAttribute, Type.Unknown()]),
  description:
    "Attributes of one user. Exactly one of `external_id`, `user_alias` and `platform_id`, or else `email` or `phone`, identifies the user. Every other key is a standard or a custom attribute.",
  examples: [
    {
      external_id: "ada",
      first_name: "Ada",
      email: "ada@example.com",
      plan: "gold",
      logins: { inc: 1 },
      hobbies: { add: ["chess"] },
    },
  ],
});

const Properties = Type.Optional(
  Type.Union(
    [Type.Record(Type.String({ minLength: 1, maxLength: 255 }), Type.Unknown()), Type.Null()],
    {
      description:
        "Properties by name. Names have 1 to 255 characters and no leading `$`; with arrays or objects inside, all of them together take at most 50 KB.",
      examples: [{ source: "newsletter" }],
    },
  ),
);

const Time = Text(
  "When it happened: ISO 8601, or `yyyy-MM-dd'T'HH:mm:ss:SSSZ`. A future time becomes now.",
  "2026-01-01T12:00:00Z",
  { minLength: 1 },
);

const Occurrence = {
  ...IdentifierMembers,
  app_id: Type.Optional(
    Text("The app where it happened.", "7f1c0a52-6a0e-4a3e-9d55-0c9b1f3c2d11", { maxLength: 255 }),
  ),
  time: Time,
  properties: Properties,
  _update_existing_only: UpdateOnly(
    "true never creates a user. With a `user_alias` this is always the case.",
  ),
};

/** spec: Event object. */
export const EventObject = Type.Object(
  {
    name: Text("The name of the event.", "signed_up", { minLength: 1, maxLength: 255 }),
    ...Occurrence,
  },
  {
    title: "EventObject",
    description: "One occurrence of a custom event. Exactly one identifier names the user.",
    examples: [
      {
        external_id: "ada",
        name: "signed_up",
        time: "2026-01-01T12:00:00Z",
        properties: { source: "newsletter" },
      },
    ],
  },
);

/** spec: Purchase object; the required members are a decision (docs/decisions/values.md). */
export const PurchaseObject = Type.Object(
  {
    product_id: Type.Union([Type.String({ minLength: 1, maxLength: 255 }), Type.Number()], {
      description: "The product. Numbers are read as strings.",
      examples: ["tea-kettle"],
    }),
    currency: Text(
      "An ISO 4217 code, in any case; a withdrawn one for purchases of its time.",
      "EUR",
      { minLength: 3, maxLength: 3 },
    ),
    price: Type.Number({
      description: "The price per unit; a negative price is a refund.",
      examples: [39.9],
    }),
    quantity: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 100,
        description: "How many units, 1 by default. Each counts as a purchase.",
        examples: [1],
      }),
    ),
    ...Occurrence,
  },
  {
    title: "PurchaseObject",
    description: "One purchase. Exactly one identifier names the user.",
    examples: [
      {
        external_id: "ada",
        product_id: "tea-kettle",
        currency: "EUR",
        price: 39.9,
        quantity: 1,
        time: "2026-01-01T12:05:00Z",
      },
    ],
  },
);
