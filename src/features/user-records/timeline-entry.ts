import Type, { type Static } from "typebox";
import { EmailStateName } from "../../core/base/values/email-states.ts";
import { NullableText, named, nullable } from "../../core/base/values/schemas.ts";
import type { SentMessage } from "../../core/people/activity/activity.ts";
import { AuditEntryView, auditEntryView } from "../../core/people/identity/audit-view.ts";
import type { AuditEntry } from "../../core/people/identity/store.ts";
import type {
  EmailStateChange,
  GroupStateChange,
} from "../../core/people/subscriptions/history-store.ts";
import type { AttributeChange } from "./person-changes.ts";
import type { TimedEvent, TimedPurchase } from "./timeline-store.ts";

/* The entries of a timeline: their declaration, and how they are built from stored rows. */

const PLACE = { at: Type.String({ description: "ISO 8601." }), id: Type.String() };

const CALL = {
  call: Type.String({ description: "The call that made the change." }),
  key_name: NullableText,
  request_id: Type.String(),
};

const Properties = nullable(Type.Record(Type.String(), Type.Unknown()));

export const TimelineEntry = Type.Union([
  named("TimelineEvent", {
    kind: Type.Literal("event"),
    ...PLACE,
    name: Type.String(),
    app_id: NullableText,
    properties: Properties,
  }),
  named("TimelinePurchase", {
    kind: Type.Literal("purchase"),
    ...PLACE,
    product_id: Type.String(),
    currency: Type.String(),
    price: Type.Number(),
    quantity: Type.Integer(),
    app_id: NullableText,
    properties: Properties,
  }),
  named("TimelineMessage", {
    kind: Type.Literal("message"),
    ...PLACE,
    channel: Type.String(),
    details: Type.Record(Type.String(), Type.Unknown()),
  }),
  named("TimelineSubscription", {
    kind: Type.Literal("subscription"),
    ...PLACE,
    subscription_group_id: NullableText,
    email: NullableText,
    subscription_state: EmailStateName,
    ...CALL,
  }),
  named("TimelineIdentity", { kind: Type.Literal("identity"), ...AuditEntryView.properties }),
  named("TimelineAttributes", {
    kind: Type.Literal("attributes"),
    ...PLACE,
    change: Type.Enum(["user.created", "user.updated"], {
      description: "Whether the change created the user.",
    }),
    changed: Type.Array(Type.String(), { description: "The names of the fields." }),
    values: Type.Record(Type.String(), Type.Unknown(), {
      description: "Their values after the change; null where removed.",
    }),
  }),
]);

export type TimelineEntry = Static<typeof TimelineEntry>;

export const TIMELINE_KINDS = [
  "event",
  "purchase",
  "message",
  "subscription",
  "identity",
  "attributes",
] as const satisfies readonly TimelineEntry["kind"][];

type Details = Record<string, unknown>;

export const eventEntry = ({ id, time, name, appId, properties }: TimedEvent): TimelineEntry => ({
  kind: "event",
  at: time.toISOString(),
  id,
  name,
  app_id: appId,
  properties: properties as Details | null,
});

export const purchaseEntry = (purchase: TimedPurchase): TimelineEntry => ({
  kind: "purchase",
  at: purchase.time.toISOString(),
  id: purchase.id,
  product_id: purchase.productId,
  currency: purchase.currency,
  price: Number(purchase.price),
  quantity: purchase.quantity,
  app_id: purchase.appId,
  properties: purchase.properties as Details | null,
});

export const messageEntry = (message: SentMessage): TimelineEntry => ({
  kind: "message",
  at: message.sentAt.toISOString(),
  id: message.messageId,
  channel: message.channel,
  details: message.details as Details,
});

export const groupEntry = (change: GroupStateChange): TimelineEntry => ({
  kind: "subscription",
  at: change.changedAt.toISOString(),
  id: change.id,
  subscription_group_id: change.groupId,
  email: null,
  subscription_state: change.state,
  ...callOf(change),
});

export const emailEntry = (change: EmailStateChange): TimelineEntry => ({
  kind: "subscription",
  at: change.changedAt.toISOString(),
  id: change.id,
  subscription_group_id: null,
  email: change.spelling ?? change.email,
  subscription_state: change.state,
  ...callOf(change),
});

const callOf = ({ context }: GroupStateChange | EmailStateChange) => ({
  call: context.call,
  key_name: context.actorName,
  request_id: context.requestId,
});

export const identityEntry = (entry: AuditEntry): TimelineEntry => ({
  kind: "identity",
  ...auditEntryView(entry),
});

export const attributesEntry = ({
  id,
  at,
  type,
  changed,
  values,
}: AttributeChange): TimelineEntry => ({
  kind: "attributes",
  at: at.toISOString(),
  id,
  change: type,
  changed: [...changed],
  values: { ...values },
});
