import { IDENTIFYING } from "../../../../src/features/segments/identifying.ts";
import type { CatalogueEntry } from "../../api/catalogue.ts";
import type { FilterJson } from "./api.ts";

/* What conditions are about, in words after "Users who": the builder draws itself from these tables. docs/segments.md */

type Kind =
  | {
      readonly kind: "choice";
      readonly options: readonly (readonly [value: string, label: string])[];
    }
  | { readonly kind: "number" }
  | { readonly kind: "text"; readonly from?: "event" | "product" | "attribute" }
  /** A code by its name, such as a currency; or any. */
  | { readonly kind: "code" }
  | { readonly kind: "group" | "segment" | "app" }
  /** A comparator and its value. */
  | { readonly kind: "comparison"; readonly of: "count" | "amount" | "value" };

export type Field = Kind & { readonly name: string; readonly label: string };

export interface Subject {
  /** The member of the filter that names it. */
  readonly name: string;
  /** Members that tell it from other subjects of this name. */
  readonly fixed?: FilterJson;
  readonly under: "Did" | "Are" | "Can be reached";
  /** After "Users who". */
  readonly says: string;
  /** The same denied, where a list offers it. */
  readonly denies?: string;
  readonly fields: readonly Field[];
  /** The condition before anything is typed: what is missing is null or an empty name. */
  readonly initial: FilterJson;
}

/** A standard attribute that can be filtered by, as people call it, and the type of its values. */
const ATTRIBUTES: Readonly<Record<string, readonly [label: string, type: ValueType]>> = {
  first_name: ["First name", "string"],
  last_name: ["Last name", "string"],
  email: ["Email address", "string"],
  phone: ["Phone number", "string"],
  country: ["Country", "code"],
  home_city: ["City", "string"],
  language: ["Language", "code"],
  time_zone: ["Time zone", "string"],
  gender: ["Gender", "code"],
  dob: ["Date of birth", "time"],
  created_at: ["Created", "time"],
  updated_at: ["Last change", "time"],
  date_of_first_session: ["First session", "time"],
  date_of_last_session: ["Last session", "time"],
  external_id: ["External id", "string"],
  alias_label: ["Label of an alias", "string"],
  random_bucket: ["Random number, 0 to 9999", "number"],
};

/** Whether a person may choose an option of a field only with view_pii. */
export const needsPii = ({ name }: Pick<Field, "name">, option: string): boolean =>
  name === "attribute" && IDENTIFYING.includes(option);

const STATES = ["opted_in", "subscribed", "unsubscribed"].map(
  (each) => [each, each.replace("_", " ")] as const,
);

const text = (name: string, label: string, from?: "event" | "product" | "attribute"): Field => ({
  name,
  label,
  kind: "text",
  ...(from && { from }),
});
const chosen = (name: string, label: string, kind: "group" | "segment" | "app" | "code"): Field => {
  return { name, label, kind };
};
const DAYS: Field = { name: "in_last_days", label: "in the last days", kind: "number" };
const COUNT: Field = { name: "count", label: "How often", kind: "comparison", of: "count" };
const AMOUNT: Field = { name: "amount", label: "Amount", kind: "comparison", of: "amount" };
const VALUE: Field = { name: "value", label: "Comparison", kind: "comparison", of: "value" };
const NAME: Field = {
  name: "attribute",
  label: "Attribute",
  kind: "choice",
  options: Object.entries(ATTRIBUTES).map(([name, [label]]) => [name, label]),
};
const state = (name: string): Field => ({ name, label: "State", kind: "choice", options: STATES });
const GROUP = chosen("subscription_group", "Group", "group");

// biome-ignore format: a table
export const SUBJECTS: readonly Subject[] = [
  { name: "purchases", under: "Did", says: "bought", denies: "never bought", fields: [text("purchases", "Product", "product"), COUNT, DAYS], initial: { purchases: "any", at_least: 1 } },
  { name: "event", under: "Did", says: "did", denies: "never did", fields: [text("event", "Event", "event"), COUNT, DAYS], initial: { event: "", at_least: 1 } },
  { name: "money_spent", under: "Did", says: "spent", fields: [chosen("money_spent", "Currency", "code"), AMOUNT, DAYS], initial: { money_spent: "any", at_least: 1 } },
  { name: "sessions", under: "Did", says: "opened the app", denies: "never opened the app", fields: [chosen("sessions", "App", "app"), COUNT], initial: { sessions: "any", at_least: 1 } },
  { name: "attribute", under: "Are", says: "live in", fixed: { attribute: "country" }, fields: [VALUE], initial: { attribute: "country", equals: null } },
  { name: "attribute", under: "Are", says: "have in their profile", fields: [NAME, VALUE], initial: { attribute: "language", equals: null } },
  { name: "custom_attribute", under: "Are", says: "have the custom attribute", fields: [text("custom_attribute", "Attribute", "attribute"), VALUE], initial: { custom_attribute: "", equals: null } },
  { name: "in_segment", under: "Are", says: "are in the segment", denies: "are not in the segment", fields: [chosen("in_segment", "Segment", "segment")], initial: { in_segment: "" } },
  { name: "device", under: "Are", says: "use a device of", fields: [text("device", "Platform")], initial: { device: "" } },
  { name: "email_available", under: "Can be reached", says: "can receive email", fixed: { email_available: true }, fields: [], initial: { email_available: true } },
  { name: "email_available", under: "Can be reached", says: "cannot receive email", fixed: { email_available: false }, fields: [], initial: { email_available: false } },
  { name: "subscription_group", under: "Can be reached", says: "are subscribed to", fixed: { is: "subscribed" }, fields: [GROUP], initial: { subscription_group: "", is: "subscribed" } },
  { name: "subscription_group", under: "Can be reached", says: "unsubscribed from", fixed: { is: "unsubscribed" }, fields: [GROUP], initial: { subscription_group: "", is: "unsubscribed" } },
  { name: "subscription_group", under: "Can be reached", says: "neither subscribed to nor left", fixed: { is: "unknown" }, fields: [GROUP], initial: { subscription_group: "", is: "unknown" } },
  { name: "email_subscription", under: "Can be reached", says: "have the email state", fields: [state("email_subscription")], initial: { email_subscription: "opted_in" } },
  { name: "push_subscription", under: "Can be reached", says: "have the push state", fields: [state("push_subscription")], initial: { push_subscription: "opted_in" } },
];

export type Takes = "text" | "number" | "list" | "truth" | "any";

interface Comparator {
  readonly name: string;
  readonly label: string;
  readonly takes: Takes;
}

/** What is known of the values of an attribute: a type of the catalogue; `code` if all possible values have names. */
export type ValueType = CatalogueEntry["types"][number]["type"] | "code";

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
    { name: "exists", label: "is there", takes: "truth" },
  ],
};

/** The comparators that make sense for a type of values, the most useful first. */
// biome-ignore format: a table
const USUAL: Readonly<Record<ValueType, string>> = {
  code: "equals not_equals one_of none_of exists",
  string: "equals not_equals one_of none_of contains starts_with exists",
  number: "equals at_least at_most more_than less_than one_of exists",
  boolean: "equals exists",
  time: "in_last_days more_than_days_ago in_next_days before after day_of_year exists",
  array: "includes includes_any includes_all exists",
  object_array: "includes includes_any includes_all exists",
  object: "exists",
};

/** The comparators that make sense for the values of a field, the most useful first. */
export const usualFor = (
  of: keyof typeof COMPARATORS,
  type: ValueType | undefined,
): readonly Comparator[] =>
  of === "value"
    ? USUAL[type ?? "string"]
        .split(" ")
        .flatMap((name) => COMPARATORS.value.filter((each) => each.name === name))
    : COMPARATORS[of];

/** The type of the values that a condition compares, as far as it is known. */
export function typeOf(
  leaf: FilterJson,
  known: readonly CatalogueEntry[] | undefined,
): ValueType | undefined {
  if (typeof leaf.attribute === "string") return ATTRIBUTES[leaf.attribute]?.[1];
  return known?.find(({ name }) => name === leaf.custom_attribute)?.types[0]?.type;
}

/** A condition that compares with nothing yet, with a comparator that makes sense for the type. */
export function fitted(leaf: FilterJson, type: ValueType | undefined): FilterJson {
  const empty = COMPARATORS.value.find(({ name }) => leaf[name] === null);
  const usual = usualFor("value", type);
  const [first] = usual;
  if (!empty || !first || usual.includes(empty)) return leaf;
  const { [empty.name]: _empty, ...rest } = leaf;
  return { ...rest, [first.name]: first.takes === "truth" ? true : null };
}

/** The subject of a condition; undefined if the builder cannot show it. */
export const subjectOf = (leaf: FilterJson): Subject | undefined =>
  SUBJECTS.find(
    ({ name, fixed = {} }) =>
      Object.hasOwn(leaf, name) &&
      Object.entries(fixed).every(([member, value]) => leaf[member] === value),
  );

/** Whether every member of a condition has a field. */
export function canShow(leaf: FilterJson): boolean {
  const subject = subjectOf(leaf);
  if (!subject) return false;
  const comparison = subject.fields.find((each) => each.kind === "comparison");
  const names = new Set([
    subject.name,
    ...Object.keys(subject.fixed ?? {}),
    ...subject.fields.map(({ name }) => name),
  ]);
  const others = Object.keys(leaf).filter((name) => !names.has(name));
  const known =
    comparison?.kind === "comparison" ? COMPARATORS[comparison.of].map(({ name }) => name) : [];
  return others.length <= 1 && others.every((name) => known.includes(name));
}

/** Whether nothing is missing that the person has still to choose or type. */
export function isFinished(leaf: FilterJson): boolean {
  const subject = subjectOf(leaf);
  return subject !== undefined && leaf[subject.name] !== "" && !Object.values(leaf).includes(null);
}

/** A text as the value that it most likely means. */
export function meantBy(text: string): string | number | boolean {
  if (text === "true" || text === "false") return text === "true";
  return text.trim() !== "" && String(Number(text)) === text.trim() ? Number(text) : text;
}
