import {
  STANDARD_ATTRIBUTES,
  type StandardAttributeName,
} from "../../core/people/profiles/standard-attributes.ts";
import { ofAddresses } from "./address-tests.ts";
import { type FilterPath, refuse } from "./filter-path.ts";
import type { Leaf, Subject, ValueTest } from "./leaf.ts";
import { decided, everyOf, type Values } from "./sql.ts";
import { isTimeTest } from "./time-tests.ts";
import { readValueTests, type SubjectType } from "./value-tests.ts";

/* Conditions on a profile's data: standard and custom attributes, identifiers and times. */

interface ProfileValue {
  readonly type: SubjectType;
  /** An expression of the type jsonb. */
  readonly json: string;
  /** The column behind it, if it is a time. */
  readonly timeColumn?: string;
}

const text = (column: string): ProfileValue => ({ type: "text", json: `to_jsonb(${column})` });

const time = (column: string): ProfileValue => ({
  type: "time",
  json: `to_jsonb(${column})`,
  timeColumn: column,
});

/** Only ASCII: engines fold other letters differently. */
const lowerCase = (value: string): string =>
  value.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

/** Values with their own columns. */
const COLUMNS: Readonly<Record<string, ProfileValue>> = {
  external_id: text("p.external_id"),
  email: text('lower(p.email collate "C")'),
  phone: text("p.phone"),
  created_at: time("p.created_at"),
  updated_at: time("p.updated_at"),
  random_bucket: {
    type: "number",
    json: "to_jsonb(('x' || right(p.profile_id::text, 8))::bit(32)::bigint % 10000)",
  },
};

/** The types of standard attributes; attributes that are left out have their own subject. */
const STANDARD_TYPES: Readonly<
  Record<Exclude<StandardAttributeName, "email" | "phone" | "email_subscribe">, SubjectType>
> = {
  first_name: "text",
  last_name: "text",
  dob: "time",
  gender: "text",
  home_city: "text",
  country: "text",
  language: "text",
  time_zone: "text",
  current_location: "opaque",
  push_subscribe: "text",
  image_url: "text",
  facebook: "opaque",
  twitter: "opaque",
  date_of_first_session: "time",
  date_of_last_session: "time",
  marked_email_as_spam_at: "time",
  email_open_tracking_disabled: "boolean",
  email_click_tracking_disabled: "boolean",
  push_tokens: "opaque",
};

const standard = (name: string, type: SubjectType): ProfileValue => ({
  type,
  json: `(p.standard_attributes -> '${name}')`,
});

const VALUES: ReadonlyMap<string, ProfileValue> = new Map([
  ...Object.entries(COLUMNS),
  ...Object.entries(STANDARD_TYPES).map(
    ([name, type]) => [name, standard(name, type)] as [string, ProfileValue],
  ),
]);

export const attribute: Subject = {
  read(name, rest, path) {
    if (name === "alias_label") return aliasLabel(rest, path);
    const value = typeof name === "string" ? VALUES.get(name) : undefined;
    if (!value) throw refuse([...path, "attribute"], whyNot(name));
    const tests =
      name === "email" ? readAddressTests(rest, path) : readValueTests(rest, value.type, path);
    return valueLeaf(String(name), value, tests);
  },
};

function whyNot(name: unknown): string {
  if (name === "email_subscribe") return "has its own subject: email_subscription";
  const names = [...VALUES.keys(), "alias_label"].join(", ");
  return Object.hasOwn(STANDARD_ATTRIBUTES, String(name))
    ? "cannot be filtered by"
    : `must be one of ${names}; other names are custom_attribute`;
}

/** A whole address is compared in its form, parts of one as they are written. */
function readAddressTests(rest: Readonly<Record<string, unknown>>, path: FilterPath): ValueTest[] {
  const comparators = inLowerCase(rest);
  const tests = readValueTests(comparators, "text", path);
  return Object.entries(comparators).map(([name, operand], place) => {
    return ofAddresses(name, operand, tests[place] as ValueTest);
  });
}

/** Addresses are compared without regard to case. */
function inLowerCase(comparators: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const fold = (operand: unknown): unknown =>
    typeof operand === "string"
      ? lowerCase(operand)
      : Array.isArray(operand)
        ? operand.map(fold)
        : operand;
  return Object.fromEntries(
    Object.entries(comparators).map(([name, operand]) => [name, fold(operand)]),
  );
}

function valueLeaf(
  name: string,
  { json, timeColumn, type }: ProfileValue,
  tests: readonly ValueTest[],
): Leaf {
  return {
    words: wordsOf(name, tests),
    sql(values) {
      const value = values.once(json);
      return everyOf(
        tests.map((test) =>
          timeColumn && isTimeTest(test)
            ? decided(test.columnSql(timeColumn, values))
            : test.sql(value, values, type === "time"),
        ),
      );
    },
  };
}

export const wordsOf = (subject: string, tests: readonly ValueTest[]): string =>
  `${subject} ${tests.map(({ words }) => words).join(" and ")}`;

/** Holds if one alias has such a label; a negative comparator, if none has the other. */
function aliasLabel(rest: Readonly<Record<string, unknown>>, path: FilterPath): Leaf {
  const tests = readValueTests(rest, "text", path);
  const isNegative = tests.every((test) => test.isNegative);
  return {
    words: wordsOf("alias_label", tests),
    sql(values) {
      const label = "(alias.each -> 'alias_label')";
      const each = everyOf(tests.map((test) => test.sql(label, values, false))).must;
      const none = everyOf(tests.map((test) => test.sql("null::jsonb", values, false))).must;
      const rows = "jsonb_array_elements(p.aliases) as alias (each)";
      const some = isNegative
        ? `not exists (select 1 from ${rows} where not ${each})`
        : `exists (select 1 from ${rows} where ${each})`;
      return decided(`(case when jsonb_array_length(p.aliases) = 0 then ${none} else ${some} end)`);
    },
  };
}

const LONGEST_NAME = 1_024;

export const customAttribute: Subject = {
  read(name, rest, path) {
    if (typeof name !== "string" || name === "" || name.length > LONGEST_NAME) {
      throw refuse(
        [...path, "custom_attribute"],
        `must be the name of an attribute, or a path such as address.city`,
      );
    }
    const tests = readValueTests(rest, "any", path);
    const times = tests.filter(isTimeTest);
    return {
      words: wordsOf(name, tests),
      sql(values) {
        const value = customValue(name, values);
        return everyOf(tests.map((test) => test.sql(value, values, false)));
      },
      ...(times.length > 0 && {
        open: {
          // Only a text or the time in an object is left open.
          json(values) {
            const json = customValue(name, values);
            return `(case jsonb_typeof(${json}) when 'object' then jsonb_build_object('$time', ${json} -> '$time') else ${json} end)`;
          },
          holds: (value, _address, now) => times.every((test) => test.holds(value, now)),
        },
      }),
    };
  },
};

/** Appending nothing reads large attributes from their storage once, and not for each condition. */
const CUSTOM_ATTRIBUTES = "p.custom_attributes || '{}'::jsonb";

const customValue = (name: string, values: Values): string =>
  values.once(pathSql(values.once(CUSTOM_ATTRIBUTES), name, values));

/**
 * The value under a name, or along a path of names, as SQL with one parameter. A name may itself
 * contain dots, and then comes first. A step into a list finds nothing.
 */
export function pathSql(column: string, name: string, values: Values): string {
  if (!name.includes(".")) return `(${column} -> ${values.bind(name, "text")})`;
  const steps = name.split(".");
  const names = values.bind([name, ...steps], "text[]");
  const along = steps.map((_, index) => ` -> (${names})[${index + 2}]`).join("");
  return `coalesce(${column} -> (${names})[1], ${column}${along})`;
}
