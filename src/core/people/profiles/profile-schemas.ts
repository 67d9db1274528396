import Type, { type TSchema } from "typebox";
import { EMAIL_STATES } from "../../base/values/email-states.ts";
import { ClosedObject, nullable, Text } from "../../base/values/schemas.ts";
import type { StandardAttributeName } from "./standard-attributes.ts";

/*
 * Identifiers and attributes as the documentation describes them. The checks are written by hand
 * (identifiers.ts, standard-attributes.ts, custom-attributes.ts);
 * test/long/core/http/described-bodies.test.ts keeps the two consistent.
 */

/** Existing clients also send numbers, which are read as strings. docs/decisions/values.md */
export const ExternalId = Type.Union([Type.String({ minLength: 1 }), Type.Number()], {
  description:
    "Your own id of the user, fewer than 988 bytes. A profile that has one is identified. Numbers are read as strings.",
  examples: ["ada"],
});

export const PlatformId = Text(
  "The id that Rapport gave the profile.",
  "019a8b54-7c1e-7a5b-9f0e-3d2c1b0a9f8e",
  { minLength: 1 },
);

const Name = Type.Union([Type.String({ minLength: 1 }), Type.Number()], {
  description: "The user's name under the label. Numbers are read as strings.",
  examples: ["visitor-4711"],
});

const Label = Text("What kind of alias it is.", "web_visitor", { minLength: 1 });

export const AliasMembers = { alias_name: Name, alias_label: Label };

export const UserAlias = Type.Object(AliasMembers, {
  title: "UserAlias",
  description: "A second name of a user, unique within its label.",
});

export const EmailAddress = Text("An email address. Its case does not matter.", "ada@example.com", {
  maxLength: 254,
  format: "email",
});

export const PhoneNumber = Text(
  "A phone number with its country code, best in E.164.",
  "+14155552671",
  { pattern: "^\\+?[^+]+$" },
);

/** Events and purchases name exactly one of these; attributes objects at most one of the first three. */
export const IdentifierMembers = {
  external_id: Type.Optional(ExternalId),
  user_alias: Type.Optional(UserAlias),
  platform_id: Type.Optional(PlatformId),
  braze_id: Type.Optional(
    Text("Another spelling of `platform_id`.", "019a8b54-7c1e-7a5b-9f0e-3d2c1b0a9f8e", {
      minLength: 1,
    }),
  ),
  email: Type.Optional(EmailAddress),
  phone: Type.Optional(PhoneNumber),
};

const orNull = (schema: TSchema): TSchema =>
  Type.Optional(
    nullable(schema, {
      description: `${(schema as { description: string }).description} Null removes it.`,
      examples: (schema as { examples: unknown[] }).examples,
    }),
  );

const text = (description: string, example: string, maxLength = 255): TSchema =>
  Text(description, example, { maxLength });

const state = (description: string): TSchema =>
  Type.Enum([...EMAIL_STATES], { description, examples: ["opted_in"] });

const flag = (description: string): TSchema => Type.Boolean({ description, examples: [false] });

const PushToken = ClosedObject(
  {
    app_id: Text("An app of the workspace.", "7f1c0a52-6a0e-4a3e-9d55-0c9b1f3c2d11", {
      minLength: 1,
      maxLength: 255,
    }),
    token: Text("The push token, at most 4,096 bytes.", "fcm:eXampleT0ken", { minLength: 1 }),
    device_id: Type.Optional(
      Text("The device; without one Rapport assigns an id.", "device-0001", {
        minLength: 8,
        maxLength: 255,
      }),
    ),
  },
  { title: "PushToken", description: "A push token of a user." },
);

const Location = Type.Object(
  {
    longitude: Type.Number({
      minimum: -180,
      maximum: 180,
      description: "Degrees.",
      examples: [-73.99],
    }),
    latitude: Type.Number({
      minimum: -90,
      maximum: 90,
      description: "Degrees.",
      examples: [40.73],
    }),
  },
  {
    additionalProperties: Type.Number(),
    description: "Where the user is.",
    examples: [{ longitude: -73.99, latitude: 40.73 }],
  },
);

const SocialAccount = (network: string) =>
  Type.Record(Type.String(), Type.Unknown(), {
    description: `The user's ${network} account.`,
    examples: [{ id: "4711" }],
  });

const DESCRIBED: Readonly<Record<StandardAttributeName, TSchema>> = {
  first_name: text("The first name.", "Ada"),
  last_name: text("The last name.", "Lovelace"),
  email: EmailAddress,
  phone: PhoneNumber,
  dob: text("The date of birth, as YYYY-MM-DD.", "1815-12-10"),
  gender: text(
    "M, F, O (other), N (not applicable), P (prefer not to say), or a word for one of them.",
    "F",
  ),
  home_city: text("The city.", "London"),
  country: text("An ISO 3166-1 code, or the English name of a country.", "GB"),
  language: text("An ISO 639-1 code, or the English name of a language.", "en"),
  time_zone: text("An IANA or Rails name of a time zone.", "Europe/London"),
  current_location: Location,
  email_subscribe: state("The email state of the user's address."),
  push_subscribe: state("The push state of the user."),
  image_url: text("The URL of a picture.", "https://example.com/ada.png", 2048),
  facebook: SocialAccount("Facebook"),
  twitter: SocialAccount("Twitter"),
  date_of_first_session: text("When the user first used an app, ISO 8601.", "2026-01-01T12:00:00Z"),
  date_of_last_session: text("When the user last used an app, ISO 8601.", "2026-02-01T12:00:00Z"),
  marked_email_as_spam_at: text(
    "When the user reported an email as spam, ISO 8601.",
    "2026-02-01T12:00:00Z",
  ),
  email_open_tracking_disabled: flag("Whether opens of emails are not tracked."),
  email_click_tracking_disabled: flag("Whether clicks in emails are not tracked."),
  push_tokens: Type.Array(PushToken, {
    maxItems: 500,
    description: "Push tokens to add.",
    examples: [[{ app_id: "7f1c0a52-6a0e-4a3e-9d55-0c9b1f3c2d11", token: "fcm:eXampleT0ken" }]],
  }),
};

/** Every standard attribute; null removes one. */
export const StandardAttributeMembers: Readonly<Record<string, TSchema>> = Object.fromEntries(
  Object.entries(DESCRIBED).map(([name, schema]) => [name, orNull(schema)]),
);

const Increment = ClosedObject(
  { inc: Type.Integer({ description: "How much to add; may be negative.", examples: [1] }) },
  { title: "Increment", description: "Adds to a number." },
);

const Scalars = (description: string) =>
  Type.Optional(
    Type.Array(Type.Union([Type.String({ maxLength: 255 }), Type.Number(), Type.Boolean()]), {
      maxItems: 500,
      description,
      examples: [["chess"]],
    }),
  );

const ArrayChange = ClosedObject(
  { add: Scalars("Elements to add if they are missing."), remove: Scalars("Elements to remove.") },
  {
    title: "ArrayChange",
    description: "Adds to and removes from an array.",
  },
);

/** The values of a custom attribute. spec: Attributes object; docs/decisions/values.md */
export const CustomAttribute = Type.Union(
  [
    Type.String({ maxLength: 255 }),
    Type.Number(),
    Type.Boolean(),
    Type.Null(),
    Type.Array(Type.Unknown(), { description: "Scalars or objects, not both; at most 500." }),
    Increment,
    ArrayChange,
    Type.Record(Type.String(), Type.Unknown(), {
      description:
        "An object of at most 100 KB; or `$add`, `$update`, `$remove` for an array of objects.",
    }),
  ],
  {
    title: "CustomAttribute",
    description:
      'The value of a custom attribute. Null removes it; `{"inc": 1}` adds to a number; `{"add": […], "remove": […]}` changes an array.',
    examples: ["gold"],
  },
);
