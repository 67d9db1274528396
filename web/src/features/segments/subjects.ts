import { IDENTIFYING } from "../../../../src/features/segments/identifying.ts";
import type { FilterJson } from "./api.ts";

/* The subjects of conditions and their fields: the builder draws itself from this. docs/segments.md */

type Kind =
  | {
      readonly kind: "choice";
      readonly options: readonly (readonly [value: string, label: string])[];
    }
  /** A choice that is true or false in the filter. */
  | {
      readonly kind: "truth";
      readonly options: readonly (readonly [value: string, label: string])[];
    }
  | { readonly kind: "number"; readonly isOptional?: boolean }
  | { readonly kind: "text"; readonly from?: "event" | "product" | "attribute" }
  | { readonly kind: "group" | "segment" | "app" }
  /** A comparator and its value. */
  | { readonly kind: "comparison"; readonly of: "count" | "amount" | "value" };

export type Field = Kind & { readonly name: string; readonly label: string };

export interface Subject {
  readonly name: string;
  readonly label: string;
  readonly fields: readonly Field[];
  readonly initial: FilterJson;
}

const DAYS: Field = {
  name: "in_last_days",
  label: "in the last days",
  kind: "number",
  isOptional: true,
};
const STATES = ["opted_in", "subscribed", "unsubscribed"].map(
  (each) => [each, each.replace("_", " ")] as const,
);

/** The standard attributes that can be filtered by. */
const ATTRIBUTES = [
  "external_id",
  "alias_label",
  "email",
  "phone",
  "first_name",
  "last_name",
  "gender",
  "dob",
  "country",
  "home_city",
  "language",
  "time_zone",
  "created_at",
  "updated_at",
  "date_of_first_session",
  "date_of_last_session",
  "random_bucket",
] as const;

/** Whether a person may choose an option of a field only with view_pii. */
export const needsPii = ({ name }: Pick<Field, "name">, option: string): boolean =>
  name === "attribute" && IDENTIFYING.includes(option);

const counts: Field = { name: "count", label: "How often", kind: "comparison", of: "count" };

export const SUBJECTS: readonly Subject[] = [
  {
    name: "custom_attribute",
    label: "Custom attribute",
    fields: [
      { name: "custom_attribute", label: "Attribute", kind: "text", from: "attribute" },
      { name: "value", label: "Comparison", kind: "comparison", of: "value" },
    ],
    initial: { custom_attribute: "", equals: "" },
  },
  {
    name: "attribute",
    label: "Standard attribute",
    fields: [
      {
        name: "attribute",
        label: "Attribute",
        kind: "choice",
        options: ATTRIBUTES.map((each) => [each, each]),
      },
      { name: "value", label: "Comparison", kind: "comparison", of: "value" },
    ],
    initial: { attribute: "country", equals: "" },
  },
  {
    name: "event",
    label: "Did an event",
    fields: [{ name: "event", label: "Event", kind: "text", from: "event" }, counts, DAYS],
    initial: { event: "", at_least: 1 },
  },
  {
    name: "purchases",
    label: "Bought",
    fields: [{ name: "purchases", label: "Product", kind: "text", from: "product" }, counts, DAYS],
    initial: { purchases: "any", at_least: 1 },
  },
  {
    name: "money_spent",
    label: "Spent money",
    fields: [
      { name: "money_spent", label: "Currency", kind: "text" },
      { name: "amount", label: "Amount", kind: "comparison", of: "amount" },
      DAYS,
    ],
    initial: { money_spent: "any", at_least: 1 },
  },
  {
    name: "sessions",
    label: "Opened an app",
    fields: [{ name: "sessions", label: "App", kind: "app" }, counts],
    initial: { sessions: "any", at_least: 1 },
  },
  {
    name: "email_available",
    label: "Can receive email",
    fields: [
      {
        name: "email_available",
        label: "Email",
        kind: "truth",
        options: [
          ["true", "can receive it"],
          ["false", "cannot receive it"],
        ],
      },
    ],
    initial: { email_available: true },
  },
  {
    name: "subscription_group",
    label: "Subscription group",
    fields: [
      { name: "subscription_group", label: "Group", kind: "group" },
      {
        name: "is",
        label: "State",
        kind: "choice",
        options: ["subscribed", "unsubscribed", "unknown"].map((each) => [each, each]),
      },
    ],
    initial: { subscription_group: "", is: "subscribed" },
  },
  {
    name: "email_subscription",
    label: "Email subscription",
    fields: [{ name: "email_subscription", label: "State", kind: "choice", options: STATES }],
    initial: { email_subscription: "opted_in" },
  },
  {
    name: "push_subscription",
    label: "Push subscription",
    fields: [{ name: "push_subscription", label: "State", kind: "choice", options: STATES }],
    initial: { push_subscription: "opted_in" },
  },
  {
    name: "device",
    label: "Uses a device",
    fields: [{ name: "device", label: "Platform", kind: "text" }],
    initial: { device: "ios" },
  },
  {
    name: "in_segment",
    label: "Is in a segment",
    fields: [{ name: "in_segment", label: "Segment", kind: "segment" }],
    initial: { in_segment: "" },
  },
];

interface Comparator {
  readonly name: string;
  readonly label: string;
  readonly takes: "text" | "number" | "list" | "truth" | "any";
}

const NUMBERS: readonly Comparator[] = [
  { name: "at_least", label: "at least", takes: "number" },
  { name: "at_most", label: "at most", takes: "number" },
];

export const COMPARATORS: Readonly<Record<"count" | "amount" | "value", readonly Comparator[]>> = {
  count: [...NUMBERS, { name: "exactly", label: "exactly", takes: "number" }],
  amount: [
    ...NUMBERS,
    { name: "more_than", label: "more than", takes: "number" },
    { name: "less_than", label: "less than", takes: "number" },
  ],
  value: [
    { name: "equals", label: "is", takes: "any" },
    { name: "not_equals", label: "is not", takes: "any" },
    { name: "one_of", label: "is one of", takes: "list" },
    { name: "none_of", label: "is none of", takes: "list" },
    { name: "contains", label: "contains", takes: "text" },
    { name: "starts_with", label: "starts with", takes: "text" },
    ...NUMBERS,
    { name: "more_than", label: "is more than", takes: "number" },
    { name: "less_than", label: "is less than", takes: "number" },
    { name: "before", label: "is before", takes: "text" },
    { name: "after", label: "is after", takes: "text" },
    { name: "in_last_days", label: "is in the last days", takes: "number" },
    { name: "more_than_days_ago", label: "is more days ago than", takes: "number" },
    { name: "in_next_days", label: "is in the next days", takes: "number" },
    { name: "day_of_year", label: "is on the day (12-31)", takes: "text" },
    { name: "includes", label: "includes", takes: "any" },
    { name: "includes_any", label: "includes any of", takes: "list" },
    { name: "includes_all", label: "includes all of", takes: "list" },
    { name: "exists", label: "exists", takes: "truth" },
  ],
};

/** The subject of a condition; undefined if the builder cannot show it. */
export const subjectOf = (leaf: FilterJson): Subject | undefined =>
  SUBJECTS.find(({ name }) => Object.hasOwn(leaf, name));

/** Whether every member of a condition has a field. */
export function canShow(leaf: FilterJson): boolean {
  const subject = subjectOf(leaf);
  if (!subject) return false;
  const comparison = subject.fields.find((each) => each.kind === "comparison");
  const names = new Set(subject.fields.map(({ name }) => name));
  const others = Object.keys(leaf).filter((name) => !names.has(name));
  const known =
    comparison?.kind === "comparison" ? COMPARATORS[comparison.of].map(({ name }) => name) : [];
  return others.length <= 1 && others.every((name) => known.includes(name));
}

/** A text as the value that it most likely means. */
export function meantBy(text: string): string | number | boolean {
  if (text === "true" || text === "false") return text === "true";
  return text.trim() !== "" && String(Number(text)) === text.trim() ? Number(text) : text;
}
