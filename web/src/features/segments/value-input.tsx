import {
  Autocomplete,
  type ComboboxItem,
  MultiSelect,
  NativeSelect,
  type OptionsFilter,
  Select,
  TagsInput,
} from "@mantine/core";
import { codesFor, findsCode } from "../../components/code-names.ts";
import { useMissing } from "../../components/permitted.tsx";
import { type FilterJson, useAttributeValues } from "./api.ts";
import { meantBy, type Takes, type ValueType } from "./subjects.ts";

interface ValueProps {
  readonly leaf: FilterJson;
  readonly type: ValueType | undefined;
  readonly label: string;
  readonly takes: Takes;
  readonly value: unknown;
  write(value: unknown): void;
}

/** What is compared with, chosen or typed as it fits the type. */
export function ValueInput({ leaf, type, label, takes, value, write }: ValueProps) {
  const suggestions = useSuggestions(leaf, type !== undefined);
  const codes = codesFor(String(leaf.attribute));
  if (takes === "truth" || (type === "boolean" && takes === "any")) {
    return (
      <NativeSelect
        label="Value"
        value={value === null ? "" : String(value)}
        data={[...(value === null ? [{ value: "", label: "Choose" }] : []), "true", "false"]}
        onChange={(event) => write(event.currentTarget.value === "true")}
      />
    );
  }
  if (takes === "list") {
    const values = Array.isArray(value) ? value.map(String) : [];
    const set = (next: string[]) =>
      write(
        next.length === 0
          ? null
          : next.map((each) => read(each, type === "string" ? "text" : "any")),
      );
    return codes ? (
      <MultiSelect
        label="Values"
        data={withUnknown(codes, values)}
        filter={byName}
        value={values}
        searchable
        onChange={set}
      />
    ) : (
      <TagsInput label="Values" data={suggestions} limit={20} value={values} onChange={set} />
    );
  }
  if (codes && takes === "any") {
    return <CodeInput label="Value" codes={codes} value={value} set={write} />;
  }
  return (
    <Autocomplete
      label={label}
      value={shown(value)}
      data={suggestions}
      limit={20}
      onChange={(text) => write(read(text, takes))}
    />
  );
}

interface CodeProps {
  readonly label: string;
  readonly codes: readonly ComboboxItem[];
  readonly value: unknown;
  set(value: string): void;
}

/** A code, found by its name. */
export const CodeInput = ({ label, codes, value, set }: CodeProps) => (
  <Select
    label={label}
    data={withUnknown(codes, [value])}
    filter={byName}
    value={value === null ? null : String(value)}
    searchable
    placeholder="Choose"
    nothingFoundMessage="There is no such name."
    onChange={(next) => next !== null && set(next)}
  />
);

/** A code that nobody knows is kept as it is. */
const withUnknown = (codes: readonly ComboboxItem[], values: readonly unknown[]) => [
  ...codes,
  ...values
    .map(String)
    .filter((value) => value !== "null" && !codes.some((each) => each.value === value))
    .map((value) => ({ value, label: value })),
];

const byName: OptionsFilter = ({ options, search }) =>
  options.filter((each) => "value" in each && findsCode(each, search));

/** Frequent values, for people who may see them. */
function useSuggestions(leaf: FilterJson, isWanted: boolean): string[] {
  const missing = useMissing(["view_pii", "edit_segments"]);
  const kind = "attribute" in leaf ? "attribute" : "custom_attribute";
  const name = String(leaf[kind] ?? "");
  const { data } = useAttributeValues(kind, name, isWanted && missing === undefined);
  return [...new Set((data?.values ?? []).map((each) => String(each.value)))];
}

const shown = (value: unknown): string =>
  Array.isArray(value) ? value.join(", ") : String(value ?? "");

/** What a text says; null as long as there is none. */
function read(text: string, takes: Takes): unknown {
  if (text === "") return null;
  return takes === "text" ? text : meantBy(text);
}

export function converted(value: unknown, takes: Takes): unknown {
  if (takes === "truth") return true;
  if (takes !== "list") return read(shown(Array.isArray(value) ? value[0] : value), takes);
  return Array.isArray(value) ? value : value === null || value === true ? null : [value];
}
