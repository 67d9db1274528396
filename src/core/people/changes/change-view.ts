import Type, { type TProperties } from "typebox";
import { EMAIL_STATES } from "../../base/values/email-states.ts";
import { NullableText, nullable, Text } from "../../base/values/schemas.ts";
import type { ChangeType } from "./change.ts";

/*
 * The changes as readers of the feed get them, by type: docs/changes.md. The reference and the
 * types of the client follow from it, and the tests refuse a response that has another form.
 */

const TIME = "2026-01-31T12:00:00.000Z";

const Aliases = Type.Array(Type.Object({ alias_name: Type.String(), alias_label: Type.String() }), {
  description: "Aliases of the user.",
});

const User = Type.Object(
  {
    platform_id: Type.String(),
    external_id: Type.Optional(Type.String()),
    user_aliases: Type.Optional(Aliases),
  },
  { title: "ChangedUser", description: "How a change names a user." },
);

const change = <Types extends readonly ChangeType[], Fields extends TProperties>(
  types: [...Types],
  fields: Fields,
) =>
  Type.Object({
    id: Text("Unique, and the same at every reading.", "019bfd04-0c00-7d3e-8a55-0c9b1f3c2d11-5-2s"),
    type: Type.Enum(types, { description: "What has changed." }),
    at: Text("When it was written: ISO 8601.", TIME),
    ...fields,
  });

const ACTIVITY = {
  time: Text("When it happened: ISO 8601.", TIME),
  properties: Type.Record(Type.String(), Type.Unknown()),
  app_id: NullableText,
};

const count = (description: string) => Type.Integer({ minimum: 0, description });

/** The state before and after. */
const ofStates = <States extends readonly string[]>(states: [...States]) => ({
  before: nullable(Type.Enum(states), { description: "The state before; null if there was none." }),
  after: nullable(Type.Enum(states), {
    description:
      "The state since then; null if there is none any more, because a merge was undone.",
    examples: ["unsubscribed"],
  }),
  source: Text("The call that set the state.", "POST /email/status"),
});

const FORMS = [
  change(["user.created", "user.updated"], {
    user: User,
    changed: Type.Array(Type.String(), {
      description: "The names of the fields that have changed.",
      examples: [["first_name", "custom_attributes.plan"]],
    }),
    values: Type.Record(Type.String(), Type.Unknown(), {
      description: "Their values after the change; null where removed.",
      examples: [{ first_name: "Ada", "custom_attributes.plan": "gold" }],
    }),
  }),
  change(["user.identified"], {
    user: User,
    previous: Type.Object(
      { external_id: NullableText, user_aliases: Aliases },
      { description: "The identifiers before." },
    ),
  }),
  change(["user.merged"], {
    user: User,
    merged: User,
    keeps_activity: Type.Boolean({
      description: "Whether the events, purchases and states of `merged` moved to `user`.",
    }),
  }),
  change(["user.unmerged"], { user: User, merged: User }),
  change(["user.deleted"], { user: User }),
  change(["event.logged"], { user: User, name: Type.String(), ...ACTIVITY }),
  change(["purchase.logged"], {
    user: User,
    product_id: Type.String(),
    currency: Type.String(),
    price: Type.Number(),
    quantity: Type.Integer(),
    ...ACTIVITY,
  }),
  change(["subscription.changed"], {
    user: User,
    subscription_group_id: Type.String(),
    ...ofStates(["subscribed", "unsubscribed"]),
  }),
  change(["email_state.changed"], {
    user: Type.Optional(User),
    email: Type.String(),
    ...ofStates([...EMAIL_STATES]),
  }),
  change(["sync.finished"], {
    integration_id: Type.String(),
    run_id: Type.String(),
    status: Type.Enum(["success", "partial", "error", "config_error"], {
      description: "How the run ended.",
    }),
    rows_synced: count("Rows that were written."),
    rows_failed: count("Rows that were rejected."),
  }),
  change(["export.finished"], {
    export_id: Type.String({ description: "The export.", format: "uuid" }),
    segment_id: Type.String(),
    object_prefix: Text("The prefix of its objects' names.", "exports/2026-01-31"),
    status: Type.Enum(["success", "error"], { description: "How the export ended." }),
    files: count("Files that were written."),
    users: count("Users in them."),
  }),
];

export const ChangeView = Type.Unsafe<Record<string, unknown>>(
  Type.Union(FORMS, {
    title: "Change",
    description: "A change of the feed: docs/changes.md. Later versions may add types and fields.",
  }),
);
