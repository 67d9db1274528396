import Type from "typebox";
import { named, OfWorkspace, succeeding, Text } from "../../core/base/values/schemas.ts";
import { byAdministratorOfWorkspace, endpoint, success } from "../../core/http/endpoint.ts";
import {
  type CustomerServices,
  MOST_GROUPS,
  readCustomers,
  readEvent,
  type Series,
} from "./read-customers.ts";

const numbers = (description: string) =>
  Type.Array(Type.Integer(), { description, examples: [[0, 12]] });

const amounts = (description: string) =>
  Type.Array(Type.String(), { description, examples: [["0", "129.90"]] });

const series = (description: string) =>
  Type.Object(
    {
      days: numbers("On each day."),
      before: Type.Integer({ description: "In the whole period before.", examples: [120] }),
    },
    { description },
  );

const active = (description: string) =>
  Type.Object(
    {
      days: numbers("For each day."),
      before: numbers("For each day of the period before."),
    },
    { description },
  );

const tops = (description: string) =>
  Type.Array(
    named("FrequentName", {
      name: Type.String({ examples: ["signed_up"] }),
      count: Type.Integer({ description: "In the period.", examples: [420] }),
      before: Type.Integer({ description: "In the period before.", examples: [400] }),
    }),
    { description },
  );

const Changes = {
  opt_ins: series("Changes to subscribed or opted in."),
  opt_outs: series("Changes to unsubscribed."),
};

const TimeZone = Text("The zone of the days.", "Europe/Berlin");
const Complete = Type.Boolean({
  description: "Whether what was received before this server counted is counted too.",
});
const Days = Type.Array(Type.String(), { description: "The days.", examples: [["2026-01-31"]] });
const Period = Type.Optional(
  Type.Enum(["7", "30", "90"], { default: "30", description: "How many days up to today." }),
);

const customers = endpoint({
  name: "getCustomers",
  method: "GET",
  path: "/admin/v1/workspaces/:name/customers",
  summary:
    "Reads what the users of a workspace did in the last days: activity, events, revenue and subscriptions.",
  description:
    "Days are those of the workspace's time zone, oldest first; the last one is today. Active users are estimated within 2 %, or one if they are few; " +
    "everything else is counted. Everything is at most a minute old. Events count on the day of their own time. Merged and " +
    "erased users are taken out within a day.",
  access: byAdministratorOfWorkspace("view_usage_data"),
  params: OfWorkspace,
  query: Type.Object({
    days: Period,
  }),
  replies: succeeding({
    time_zone: TimeZone,
    complete: Complete,
    days: Days,
    users: Type.Object({
      total: Type.Integer({ description: "All users.", examples: [4_731] }),
      new: series("Users who were created."),
    }),
    active_users: Type.Object(
      {
        daily: active("On the day."),
        weekly: active("In the 7 days that end with the day."),
        monthly: active("In the 30 days that end with the day."),
      },
      { description: "Users with an event or a purchase." },
    ),
    events: series("Events."),
    revenue: Type.Array(
      named("Revenue", {
        currency: Type.String({ examples: ["EUR"] }),
        purchases: series("Purchases; one of quantity n counts n times."),
        days: amounts("The amount on each day, as an exact decimal."),
        before: Text("In the whole period before.", "990.00"),
      }),
      { description: "By currency; amounts are never converted." },
    ),
    top_events: tops("The ten most frequent events of the period."),
    growing_events: tops("The ten events whose number grew most since the period before."),
    top_products: tops("The ten products that were bought most often in the period."),
    email: Type.Object({
      users: Type.Integer({ description: "Users with an email address." }),
      opted_in: Type.Integer({ description: "Addresses that are opted in." }),
      unsubscribed: Type.Integer({ description: "Addresses that are unsubscribed." }),
      ...Changes,
    }),
    phone: Type.Object({
      users: Type.Integer({ description: "Users with a phone number." }),
    }),
    groups: Type.Array(
      named("SubscribersOfGroup", {
        id: Type.String(),
        name: Type.String({ examples: ["Newsletter"] }),
        channel: Type.String({ examples: ["email"] }),
        subscribed: Type.Integer({ description: "Users who are subscribed." }),
        unsubscribed: Type.Integer({ description: "Users who are unsubscribed." }),
        ...Changes,
      }),
      {
        description: `The subscription groups with the most subscribers, at most ${MOST_GROUPS}, by name.`,
      },
    ),
  }),
}).handledBy(async (services: CustomerServices, context, { query: { days = "30" } }) => {
  const found = await readCustomers(services, context, Number(days));
  const changes = ({ optIns, optOuts }: { optIns: Series; optOuts: Series }) => ({
    opt_ins: optIns,
    opt_outs: optOuts,
  });
  const top = (rows: typeof found.topEvents) =>
    rows.map(({ name, seen, before }) => ({ name, count: seen, before }));
  return success({
    time_zone: found.zone,
    complete: found.isWhole,
    days: found.days,
    users: found.users,
    active_users: found.active,
    events: found.events,
    revenue: found.revenue.map(({ currency, purchases, amounts: days, before }) => ({
      currency,
      purchases,
      days,
      before,
    })),
    top_events: top(found.topEvents),
    growing_events: top(found.growingEvents),
    top_products: top(found.topProducts),
    email: {
      users: found.email.users,
      opted_in: found.email.optedIn,
      unsubscribed: found.email.unsubscribed,
      ...changes(found.email),
    },
    phone: found.phone,
    groups: found.groups.map(({ id, name, channel, subscribed, unsubscribed, ...group }) => ({
      id,
      name,
      channel,
      subscribed,
      unsubscribed,
      ...changes(group),
    })),
  });
});

const customersOfEvent = endpoint({
  name: "getEventByDay",
  method: "GET",
  path: "/admin/v1/workspaces/:name/customers/event",
  summary:
    "Reads how often an event was sent on each of the last days, and in as many days before.",
  access: byAdministratorOfWorkspace("view_usage_data"),
  params: OfWorkspace,
  query: Type.Object({
    event: Type.String({ minLength: 1, maxLength: 255, description: "Its name." }),
    days: Period,
  }),
  replies: succeeding({
    time_zone: TimeZone,
    complete: Complete,
    days: Days,
    events: series("How often it was sent."),
  }),
}).handledBy(async (services: CustomerServices, context, { query: { event, days = "30" } }) => {
  const { zone, isWhole, ...found } = await readEvent(services, context, event, Number(days));
  return success({ time_zone: zone, complete: isWhole, ...found });
});

export const customerEndpoints = [customers, customersOfEvent];
