import Type, { type Static } from "typebox";
import { ClosedObject, distinctList, patterned } from "../values/schemas.ts";
import { ATTRIBUTE_NAMES, PROFILE_BYTES } from "./custom-attribute-bounds.ts";
import { PERMISSIONS, type Permission } from "./permissions.ts";

const RateLimit = Type.Union(
  [
    Type.Literal("off"),
    ClosedObject({
      requests: Type.Integer({ minimum: 1, maximum: 1_000_000_000 }),
      per_seconds: Type.Integer({ minimum: 1, maximum: 31_536_000 }),
    }),
  ],
  { title: "RateLimit", description: "off, or a number of requests per number of seconds." },
);

const Color = Type.String({
  ...patterned("^#[0-9a-fA-F]{6}$", "must be # and six hexadecimal digits, such as #3453d1"),
  examples: ["#3453d1"],
});

/** As a Content-Security-Policy takes it: nothing in it can end the list of hosts there. */
const ImageHost = Type.String({
  ...patterned(
    "^(\\*|(\\*\\.)?[a-z0-9-]+(\\.[a-z0-9-]+)*(:[0-9]{1,5})?)$",
    "must be a host in lower case, such as cdn.acme.example or *.acme.example",
  ),
  maxLength: 255,
  examples: ["cdn.acme.example"],
});

const Brand = ClosedObject(
  {
    company: Type.Optional(
      Type.String({ minLength: 1, maxLength: 255, description: "The name that readers know." }),
    ),
    logo_url: Type.Optional(
      Type.String({
        ...patterned(
          "^(https://[^\\s\"'<>]+|data:image/(png|jpeg|gif|webp|svg\\+xml);base64,[A-Za-z0-9+/=]+)$",
          "must be an https address, or an image as a data URL in base64",
        ),
        maxLength: 65_536,
        description: "A logo: an https address, or the image itself as a data URL.",
        examples: ["https://acme.example/logo.png"],
      }),
    ),
    color: Type.Optional({ ...Color, description: "The color of buttons and switches: #3453d1." }),
    color_dark: Type.Optional({
      ...Color,
      description: "The same for dark screens; by default the other one.",
    }),
  },
  {
    description: "How the default preference pages present the workspace.",
    examples: [{ company: "Acme", color: "#0b6e4f", color_dark: "#5cd6a9" }],
  },
);

/** Whether a text names a time zone of this machine's tables. */
export function isTimeZone(text: string): boolean {
  // Offsets such as +01:00 are no names: they know no summer.
  if (!/^[A-Za-z]/.test(text)) return false;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: text }) !== undefined;
  } catch {
    return false;
  }
}

export const zoneOf = (description: string) =>
  Type.Refine(
    Type.String({ maxLength: 64, description, examples: ["Europe/Berlin"] }),
    isTimeZone,
    () => "must be the name of a time zone, such as Europe/Berlin",
  );

const TimeZone = zoneOf(
  "The zone in which the dashboard shows times, and in which the days of charts begin, such as Europe/Berlin. UTC by " +
    "default. Segments and the API are not concerned.",
);

const ExportBucket = Type.Refine(
  ClosedObject(
    {
      connection: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 255,
          description: "A connection of the company of type s3 that lists this workspace.",
          examples: ["exports"],
        }),
      ),
      url: Type.Optional(
        Type.String({
          ...patterned(
            "^s3://[a-z0-9][a-z0-9.-]*/((?!\\.{1,2}/)[^/]+/)*$",
            "must be a folder such as s3://bucket/exports/, with a slash at its end",
          ),
          maxLength: 1_024,
          description: "The folder, such as s3://bucket/exports/; it ends with a slash.",
          examples: ["s3://bucket/exports/"],
        }),
      ),
    },
    {
      description: "The bucket for exports of segments. Without one they are links to download.",
      examples: [{ connection: "exports", url: "s3://bucket/exports/" }],
    },
  ),
  ({ connection, url }) => (connection === undefined) === (url === undefined),
  () => "needs both 'connection' and 'url'",
);

const whole = (minimum: number, maximum: number, description: string) =>
  Type.Optional(Type.Integer({ minimum, maximum, description }));

const flag = (description: string) => Type.Optional(Type.Boolean({ description }));

export const Settings = ClosedObject(
  {
    track_max_updates: whole(1, 1_000, "How many objects a track request may hold. 50 by default."),
    intake: Type.Optional(
      Type.Enum(["strict", "lenient"], {
        description:
          "Whether track refuses an object with one invalid attribute or an extra address, or " +
          "omits that and reports it. strict by default.",
      }),
    ),
    profile_max_bytes: whole(
      PROFILE_BYTES.minimum,
      PROFILE_BYTES.maximum,
      "How many bytes of JSON the custom attributes of a profile may take. 1048576 by default.",
    ),
    max_attribute_names: whole(
      ATTRIBUTE_NAMES.minimum,
      ATTRIBUTE_NAMES.maximum,
      "How many distinct custom attributes its users may have in total. 5000 by default.",
    ),
    max_event_names: whole(
      1,
      100_000,
      "How many distinct names its events may have. 5000 by default.",
    ),
    max_users: whole(
      0,
      10_000_000_000,
      "How many users it may have; 0, the default, means unlimited.",
    ),
    keep_events_days: whole(
      0,
      36_500,
      "Days for which events are kept after their time; 0, the default, keeps them. Their totals stay.",
    ),
    keep_purchases_days: whole(
      0,
      36_500,
      "Days for which purchases are kept after their time; 0, the default, keeps them. Their totals stay.",
    ),
    keep_row_log_days: whole(
      1,
      30,
      "Days for which rows that a sync did not apply are listed. 30 by default.",
    ),
    keep_captured_days: whole(1, 7, "Days for which captured calls are kept. 7 by default."),
    undo_days: whole(
      0,
      90,
      "Days for which a merge of users can be undone; 0 records nothing for it. 30 by default.",
    ),
    change_feed: flag(
      "Whether every change of its users is recorded in the change feed. false by default.",
    ),
    change_retention_days: whole(
      1,
      90,
      "Days for which changes are kept in the change feed. 7 by default.",
    ),
    change_max_mb: whole(
      1,
      1_048_576,
      "Megabytes of changes that are kept; beyond it the oldest are deleted. 1024 by default.",
    ),
    multi_language: flag("Whether messages can be translated. false by default."),
    blocked_external_ids: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 987 }), {
        maxItems: 1_000,
        description: "External ids for which nothing is recorded, such as dummy users.",
      }),
    ),
    rate_limits: Type.Optional(
      ClosedObject(
        Object.fromEntries(PERMISSIONS.map((name) => [name, Type.Optional(RateLimit)])),
        {
          description: "Rate limits of this workspace by permission: off, or requests per_seconds.",
        },
      ),
    ),
    redirect_merged_ids: flag(
      "Whether a merged external_id still identifies the kept profile. false by default.",
    ),
    brand: Type.Optional(Brand),
    export_bucket: Type.Optional(ExportBucket),
    time_zone: Type.Optional(TimeZone),
    page_image_hosts: Type.Optional(
      distinctList(ImageHost, {
        maxItems: 50,
        description:
          "Hosts from which preference pages load pictures and fonts, over https, beside the host of the brand's logo; " +
          "* for any. None by default: the address of a picture can tell its host what a page shows about its reader.",
        examples: [["cdn.acme.example", "*.images.example"]],
      }),
    ),
    capture_unsupported: flag(
      "Whether public calls that Rapport does not serve, such as messages/send, are stored and get a " +
        "success. For tests. false by default.",
    ),
  },
  {
    title: "WorkspaceSettings",
    description: "How the workspace behaves.",
    examples: [{ track_max_updates: 75, intake: "lenient", multi_language: true }],
  },
);

/** Settings as a manifest declares them: omitted ones have their defaults. */
export type DeclaredSettings = Static<typeof Settings>;

/** A rate limit of a workspace's own: `off`, or a number of requests in a number of seconds. */
type RateLimitSetting = "off" | { readonly requests: number; readonly per_seconds: number };

export type WorkspaceSettings = Readonly<Required<Omit<DeclaredSettings, "rate_limits">>> & {
  readonly rate_limits: Readonly<Partial<Record<Permission, RateLimitSetting>>>;
};

export type Intake = WorkspaceSettings["intake"];

/** The settings of a workspace whose manifest omits them. spec: Limits. */
export const DEFAULT_SETTINGS: WorkspaceSettings = {
  track_max_updates: 50,
  intake: "strict",
  profile_max_bytes: PROFILE_BYTES.default,
  max_attribute_names: ATTRIBUTE_NAMES.default,
  max_event_names: 5_000,
  max_users: 0,
  keep_events_days: 0,
  keep_purchases_days: 0,
  keep_row_log_days: 30,
  keep_captured_days: 7,
  undo_days: 30,
  change_feed: false,
  change_retention_days: 7,
  change_max_mb: 1_024,
  multi_language: false,
  blocked_external_ids: [],
  rate_limits: {},
  redirect_merged_ids: false,
  capture_unsupported: false,
  brand: {},
  export_bucket: {},
  time_zone: "UTC",
  page_image_hosts: [],
};
