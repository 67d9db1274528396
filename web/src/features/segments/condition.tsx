import { ActionIcon, Autocomplete, NativeSelect, Textarea, TextInput } from "@mantine/core";
import { Trash2 } from "lucide-react";
import { useState } from "react";
import { useApps } from "../../api/administration.ts";
import { useCatalogue } from "../../api/catalogue.ts";
import { useGroups } from "../../api/groups.ts";
import { codesFor } from "../../components/code-names.ts";
import { useMissing } from "../../components/permitted.tsx";
import { type FilterJson, useSegments } from "./api.ts";
import { type Condition, filterIn } from "./filter-model.ts";
import {
  COMPARATORS,
  type Field,
  fitted,
  meantBy,
  needsPii,
  SUBJECTS,
  type Subject,
  subjectOf,
  typeOf,
  usualFor,
  type ValueType,
} from "./subjects.ts";
import { CodeInput, converted, ValueInput } from "./value-input.tsx";

interface ConditionProps {
  readonly condition: Condition;
  /** Its number, for the names of its fields. */
  readonly number: string;
  change(condition: Condition): void;
  remove(): void;
}

/** The option of a condition that is written as JSON. */
const AS_JSON = "json";

/** The options after "Users who": a number of the subject, with a minus where it is denied. */
const optionOf = (subject: Subject, isNot: boolean) =>
  `${isNot ? "-" : "+"}${SUBJECTS.indexOf(subject)}`;

/** What users did or are; a denial is offered where it is usual, and where the condition is one. */
function phrases(chosen: Subject | undefined, isNot: boolean) {
  const groups = ["Did", "Are", "Can be reached"].map((under) => ({
    group: under,
    items: SUBJECTS.filter((each) => each.under === under).flatMap((each) => [
      { value: optionOf(each, false), label: each.says },
      ...(each.denies || (isNot && each === chosen)
        ? [{ value: optionOf(each, true), label: each.denies ?? `not: ${each.says}` }]
        : []),
    ]),
  }));
  const json = { value: AS_JSON, label: isNot ? "do not meet this JSON" : "meet this JSON" };
  return [
    ...(chosen ? [] : [{ value: "", label: "Choose" }]),
    ...groups,
    { group: "For developers", items: [json] },
  ];
}

/** One condition: what it is about, and the fields that it has; or all of it as JSON. */
export function ConditionFields({ condition, number, change, remove }: ConditionProps) {
  const { leaf, isNot, isJson } = condition;
  const known = useCatalogue("attribute", "").data?.entries;
  const subject = subjectOf(leaf);
  const set = (next: FilterJson) =>
    change({ ...condition, leaf: fitted(next, typeOf(next, known)) });
  const choose = (option: string) => {
    const chosen = SUBJECTS[Number(option.slice(1))];
    if (option === AS_JSON || !chosen) return change({ ...condition, isJson: true });
    const kept = chosen === subject ? leaf : chosen.initial;
    change({ ...condition, isJson: false, isNot: option.startsWith("-"), leaf: kept });
  };
  // Who never did something did it not once: there is no number to choose.
  const isNever = isNot && subject?.denies !== undefined && leaf.at_least === 1;
  const fields = subject?.fields.filter(({ name }) => !(isNever && name === "count")) ?? [];
  const shown = subject ? optionOf(subject, isNot) : "";
  return (
    <fieldset className="condition" aria-label={`Condition ${number}`}>
      <NativeSelect
        label="Users who"
        value={isJson ? AS_JSON : shown}
        data={phrases(subject, isNot)}
        onChange={(event) => choose(event.currentTarget.value)}
      />
      {isJson ? (
        <JsonInput leaf={leaf} set={set} />
      ) : (
        fields.map((field) => (
          <FieldInput
            key={field.name}
            field={field}
            leaf={leaf}
            type={typeOf(leaf, known)}
            set={set}
          />
        ))
      )}
      <ActionIcon variant="subtle" aria-label={`Remove condition ${number}`} onClick={remove}>
        <Trash2 size={16} />
      </ActionIcon>
    </fieldset>
  );
}

/** A condition in the form of the API: for `where`, `first`, `last`, and several comparators at once. */
function JsonInput({ leaf, set }: { readonly leaf: FilterJson; set(leaf: FilterJson): void }) {
  const [text, setText] = useState(() => JSON.stringify(leaf));
  const write = (next: string) => {
    setText(next);
    const read = filterIn(next);
    if (read) set(read);
  };
  return (
    <Textarea
      label="JSON"
      autosize
      maxRows={12}
      value={text}
      maxLength={100_000}
      error={filterIn(text) ? undefined : "This is not a JSON object. The one before it counts."}
      onChange={(event) => write(event.currentTarget.value)}
    />
  );
}

interface FieldProps {
  readonly field: Field;
  readonly leaf: FilterJson;
  /** The type of the values that it compares. */
  readonly type: ValueType | undefined;
  set(leaf: FilterJson): void;
}

function FieldInput(props: FieldProps) {
  const { field, leaf, set } = props;
  const { name, label } = field;
  const value = leaf[name];
  const hidesPeople = useMissing("view_pii") !== undefined;
  switch (field.kind) {
    case "comparison":
      return <Comparison {...props} of={field.of} />;
    case "choice":
      return (
        <NativeSelect
          label={label}
          value={String(value)}
          data={field.options.map(([each, shown]) =>
            hidesPeople && needsPii(field, each)
              ? { value: each, label: `${shown} (needs view_pii)`, disabled: true }
              : { value: each, label: shown },
          )}
          onChange={({ currentTarget: { value: next } }) =>
            // Another attribute has other values.
            set(
              name === "attribute" ? { attribute: next, equals: null } : { ...leaf, [name]: next },
            )
          }
        />
      );
    case "code":
      return (
        <CodeInput
          label={label}
          codes={[{ value: "any", label: "any" }, ...(codesFor(name) ?? [])]}
          value={value}
          set={(next) => set({ ...leaf, [name]: next })}
        />
      );
    case "number":
      return (
        <TextInput
          label={label}
          inputMode="numeric"
          placeholder="all time"
          value={value === undefined ? "" : String(value)}
          onChange={(event) => set(withNumber(leaf, name, event.currentTarget.value))}
        />
      );
    case "text":
      return <NameInput {...props} from={field.from} />;
    default:
      return <Reference {...props} of={field.kind} />;
  }
}

function withNumber(leaf: FilterJson, name: string, text: string): FilterJson {
  const { [name]: _before, ...rest } = leaf;
  return text.trim() === "" ? rest : { ...rest, [name]: meantBy(text) };
}

/** A name, with suggestions from the catalogue. */
function NameInput({
  field: { name, label },
  leaf,
  set,
  from,
}: FieldProps & { readonly from: "event" | "product" | "attribute" | undefined }) {
  const text = String(leaf[name] ?? "");
  const { data } = useCatalogue(from ?? "event", "");
  const known = from === undefined ? [] : (data?.entries ?? []).map((each) => each.name);
  const any = from === "product" ? ["any"] : [];
  return (
    <Autocomplete
      label={label}
      value={text}
      data={[...new Set([...any, ...known])]}
      limit={20}
      maxLength={255}
      onChange={(next) => set({ ...leaf, [name]: next })}
    />
  );
}

/** A group, a segment or an app of the workspace. */
function Reference({
  field: { name, label },
  leaf,
  set,
  of,
}: FieldProps & { readonly of: "group" | "segment" | "app" }) {
  const groups = useGroups().data?.subscription_groups ?? [];
  const segments = useSegments().data?.segments ?? [];
  const apps = useApps().data?.apps ?? [];
  const known = { group: groups, segment: segments, app: apps }[of];
  const none = of === "app" ? { value: "any", label: "any" } : { value: "", label: "Choose" };
  return (
    <NativeSelect
      label={label}
      value={String(leaf[name] ?? "")}
      data={[none, ...known.map((each) => ({ value: each.id, label: each.name }))]}
      onChange={(event) => set({ ...leaf, [name]: event.currentTarget.value })}
    />
  );
}

/** The option that shows all comparators. */
const MORE = "more";

/** A comparator and its operand. */
function Comparison({
  field,
  leaf,
  type,
  set,
  of,
}: FieldProps & { readonly of: keyof typeof COMPARATORS }) {
  const [isAll, showAll] = useState(false);
  const all = COMPARATORS[of];
  const usual = usualFor(of, type);
  const chosen = all.find(({ name }) => Object.hasOwn(leaf, name)) ?? usual[0];
  if (!chosen) return null;
  const { [chosen.name]: value, ...rest } = leaf;
  // A standard attribute has no others.
  const others = "attribute" in leaf ? [] : all.filter((each) => !usual.includes(each));
  const listed = isAll ? [...usual, ...others] : [...new Set([...usual, chosen])];
  const takes = type === "string" && chosen.takes === "any" ? "text" : chosen.takes;
  const choose = (name: string) => {
    if (name === MORE) return showAll(true);
    const next = all.find((each) => each.name === name) ?? chosen;
    set({ ...rest, [next.name]: converted(value, next.takes) });
  };
  const write = (next: unknown) => set({ ...rest, [chosen.name]: next });
  return (
    <>
      <NativeSelect
        label={field.label}
        value={chosen.name}
        data={[
          ...listed.map(({ name, label }) => ({ value: name, label })),
          ...(isAll || others.length === 0 ? [] : [{ value: MORE, label: "More…" }]),
        ]}
        onChange={(event) => choose(event.currentTarget.value)}
      />
      <ValueInput
        leaf={leaf}
        type={type}
        label={of === "count" ? "Times" : "Value"}
        takes={takes}
        value={value}
        write={write}
      />
    </>
  );
}
