import { ActionIcon, Autocomplete, NativeSelect, Textarea, TextInput } from "@mantine/core";
import { Trash2 } from "lucide-react";
import { useState } from "react";
import { useApps } from "../../api/administration.ts";
import { useCatalogue } from "../../api/catalogue.ts";
import { useGroups } from "../../api/groups.ts";
import { useMissing } from "../../components/permitted.tsx";
import { type FilterJson, useAttributeValues, useSegments } from "./api.ts";
import type { Condition } from "./filter-model.ts";
import { COMPARATORS, type Field, meantBy, needsPii, SUBJECTS, subjectOf } from "./subjects.ts";

interface ConditionProps {
  readonly workspace: string;
  readonly condition: Condition;
  /** Its number, for the names of its fields. */
  readonly number: string;
  change(condition: Condition): void;
  remove(): void;
}

/** The subject of a condition that is written as JSON. */
const AS_JSON = "json";

/** One condition: its subject, and the fields that the subject has; or all of it as JSON. */
export function ConditionFields({ workspace, condition, number, change, remove }: ConditionProps) {
  const { leaf, isNot, isJson } = condition;
  const subject = subjectOf(leaf) ?? SUBJECTS[0];
  if (!subject) return null;
  const set = (next: FilterJson) => change({ ...condition, leaf: next });
  const choose = (name: string) => {
    const chosen = SUBJECTS.find((each) => each.name === name);
    change({ ...condition, isJson: !chosen, leaf: chosen?.initial ?? leaf });
  };
  return (
    <fieldset className="condition" aria-label={`Condition ${number}`}>
      <NativeSelect
        label="Users who"
        value={isNot ? "not" : "do"}
        data={[
          { value: "do", label: "meet" },
          { value: "not", label: "do not meet" },
        ]}
        onChange={(event) => change({ ...condition, isNot: event.currentTarget.value === "not" })}
      />
      <NativeSelect
        label="Subject"
        value={isJson ? AS_JSON : subject.name}
        data={[
          ...SUBJECTS.map(({ name, label }) => ({ value: name, label })),
          { value: AS_JSON, label: "Condition as JSON" },
        ]}
        onChange={(event) => choose(event.currentTarget.value)}
      />
      {isJson ? (
        <JsonInput leaf={leaf} set={set} />
      ) : (
        subject.fields.map((field) => (
          <FieldInput key={field.name} workspace={workspace} field={field} leaf={leaf} set={set} />
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
    const read = objectIn(next);
    if (read) set(read);
  };
  return (
    <Textarea
      label="JSON"
      autosize
      maxRows={12}
      value={text}
      maxLength={100_000}
      error={objectIn(text) ? undefined : "This is not a JSON object. The one before it counts."}
      onChange={(event) => write(event.currentTarget.value)}
    />
  );
}

function objectIn(text: string): FilterJson | undefined {
  try {
    const read: unknown = JSON.parse(text);
    return read !== null && typeof read === "object" && !Array.isArray(read)
      ? (read as FilterJson)
      : undefined;
  } catch {
    return undefined;
  }
}

interface FieldProps {
  readonly workspace: string;
  readonly field: Field;
  readonly leaf: FilterJson;
  set(leaf: FilterJson): void;
}

function FieldInput(props: FieldProps) {
  const { workspace, field, leaf, set } = props;
  const { name, label } = field;
  const value = leaf[name];
  const hidesPeople = useMissing({ workspace, needs: "view_pii" }) !== undefined;
  switch (field.kind) {
    case "comparison":
      return <Comparison {...props} of={field.of} />;
    case "choice":
    case "truth": {
      const read = (text: string) => (field.kind === "truth" ? text === "true" : text);
      return (
        <NativeSelect
          label={label}
          value={String(value)}
          data={field.options.map(([each, shown]) =>
            hidesPeople && needsPii(field, each)
              ? { value: each, label: `${shown} (needs view_pii)`, disabled: true }
              : { value: each, label: shown },
          )}
          onChange={(event) => set({ ...leaf, [name]: read(event.currentTarget.value) })}
        />
      );
    }
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
  workspace,
  field: { name, label },
  leaf,
  set,
  from,
}: FieldProps & { readonly from: "event" | "product" | "attribute" | undefined }) {
  const text = String(leaf[name] ?? "");
  const { data } = useCatalogue(workspace, from ?? "event", "");
  const known = from === undefined ? [] : (data?.entries ?? []).map((each) => each.name);
  const any = from === "product" || name === "money_spent" ? ["any"] : [];
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
  workspace,
  field: { name, label },
  leaf,
  set,
  of,
}: FieldProps & { readonly of: "group" | "segment" | "app" }) {
  const groups = useGroups(workspace).data?.subscription_groups ?? [];
  const segments = useSegments(workspace).data?.segments ?? [];
  const apps = useApps(workspace).data?.apps ?? [];
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

/** A comparator and its operand. */
function Comparison({
  workspace,
  field,
  leaf,
  set,
  of,
}: FieldProps & { readonly of: "count" | "amount" | "value" }) {
  const comparators = COMPARATORS[of];
  const chosen = comparators.find(({ name }) => Object.hasOwn(leaf, name)) ?? comparators[0];
  const suggestions = useSuggestions(workspace, leaf, of === "value");
  if (!chosen) return null;
  const { [chosen.name]: value, ...rest } = leaf;
  const choose = (name: string) => {
    const next = comparators.find((each) => each.name === name) ?? chosen;
    set({ ...rest, [next.name]: converted(value, next.takes) });
  };
  const write = (text: string) => set({ ...rest, [chosen.name]: read(text, chosen.takes) });
  return (
    <>
      <NativeSelect
        label={field.label}
        value={chosen.name}
        data={comparators.map(({ name, label }) => ({ value: name, label }))}
        onChange={(event) => choose(event.currentTarget.value)}
      />
      {chosen.takes === "truth" ? (
        <NativeSelect
          label="Value"
          value={String(value)}
          data={["true", "false"]}
          onChange={(event) => write(event.currentTarget.value)}
        />
      ) : (
        <Autocomplete
          label={chosen.takes === "list" ? "Values, separated by commas" : "Value"}
          value={shown(value)}
          data={suggestions}
          limit={20}
          onChange={write}
        />
      )}
    </>
  );
}

/** Frequent values, for people who may see them. */
function useSuggestions(workspace: string, leaf: FilterJson, isWanted: boolean): string[] {
  const missing = useMissing({ workspace, needs: ["view_pii", "edit_segments"] });
  const kind = "attribute" in leaf ? "attribute" : "custom_attribute";
  const name = String(leaf[kind] ?? "");
  const { data } = useAttributeValues(workspace, kind, name, isWanted && missing === undefined);
  return [...new Set((data?.values ?? []).map(String))];
}

const shown = (value: unknown): string =>
  Array.isArray(value) ? value.join(", ") : String(value ?? "");

function read(text: string, takes: "text" | "number" | "list" | "truth" | "any"): unknown {
  switch (takes) {
    case "truth":
      return text === "true";
    case "list":
      return text
        .split(",")
        .map((each) => meantBy(each.trim()))
        .filter((each) => each !== "");
    case "text":
      return text;
    default:
      return meantBy(text);
  }
}

const converted = (value: unknown, takes: "text" | "number" | "list" | "truth" | "any"): unknown =>
  takes === "truth" ? true : read(shown(value), takes);
