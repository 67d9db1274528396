import Type, { type Static } from "typebox";
import { named } from "../base/values/schemas.ts";
import { ItemError, ItemNote } from "../base/verdicts.ts";
import { INPUT_ARRAYS } from "./item.ts";

/** The array of the request with the item: an enum here, unlike in other endpoints. */
const OfArray = { input_array: Type.Enum([...INPUT_ARRAYS]) };

const TrackError = named("TrackError", { ...ItemError.properties, ...OfArray });

const TrackNote = named("TrackNote", { ...ItemNote.properties, ...OfArray });

/** The members of every 201. */
const outcome = {
  message: Type.Literal("success"),
  errors: Type.Optional(Type.Array(TrackError)),
  skipped: Type.Optional(Type.Array(TrackNote)),
};

const Counter = Type.Optional(Type.Integer({ minimum: 0 }));

/** At least one item was accepted. */
export const Recorded = Type.Object({
  attributes_processed: Counter,
  events_processed: Counter,
  purchases_processed: Counter,
  ...outcome,
});

const Summary = {
  first: Type.String({ format: "date-time" }),
  last: Type.String({ format: "date-time" }),
  count: Type.Integer({ minimum: 0 }),
};

/** The user under the identifier of the request, with only what the object touched. */
const TouchedUser = named("TouchedUser", {
  external_id: Type.Optional(Type.String()),
  user_alias: Type.Optional(Type.Object({ alias_name: Type.String(), alias_label: Type.String() })),
  platform_id: Type.Optional(Type.String()),
  braze_id: Type.Optional(Type.String()),
  email: Type.Optional(Type.String()),
  phone: Type.Optional(Type.String()),
  custom_attributes: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), { description: "Null if it is removed." }),
  ),
  custom_events: Type.Optional(Type.Array(Type.Object({ name: Type.String(), ...Summary }))),
  purchase_events: Type.Optional(
    Type.Array(Type.Object({ product_id: Type.String(), ...Summary })),
  ),
});

export type TouchedUser = Static<typeof TouchedUser>;

export const RecordedInSync = Type.Object({
  users: Type.Array(TouchedUser, { description: "Empty if no user has the identifier." }),
  ...outcome,
});

export type Outcome = Pick<Static<typeof RecordedInSync>, keyof typeof outcome>;

/** No item was accepted. */
export const NothingRecorded = Type.Object({
  message: Type.String(),
  errors: Type.Array(TrackError),
});

export type Refused = { readonly status: 400; readonly body: Static<typeof NothingRecorded> };

export type TrackReply = { readonly status: 201; readonly body: Static<typeof Recorded> } | Refused;

export type SyncReply =
  | { readonly status: 201; readonly body: Static<typeof RecordedInSync> }
  | Refused;
