import { Textarea } from "@mantine/core";
import { useState } from "react";

type Translations = Readonly<Record<string, Readonly<Record<string, string>>>>;

interface TextsProps {
  readonly translations: Translations;
  onChange(translations: Record<string, Record<string, string>>): void;
}

/** The texts of other languages, as JSON: `{"es": {"hello": "Hola"}}`. */
export function Texts({ translations, onChange }: TextsProps) {
  const [text, setText] = useState(() => JSON.stringify(translations, null, 2));
  const [error, setError] = useState<string>();
  const change = (next: string) => {
    setText(next);
    try {
      const read: unknown = JSON.parse(next);
      if (!isTranslations(read)) throw new Error("Each language needs texts by their names.");
      setError(undefined);
      onChange(read);
    } catch (problem) {
      setError(problem instanceof Error ? problem.message : String(problem));
    }
  };
  return (
    <Textarea
      label="Texts in other languages"
      description={
        'By language and name: {"es": {"hello": "Hola"}} for {% translation hello %}Hello{% endtranslation %}'
      }
      autosize
      minRows={16}
      maxRows={32}
      value={text}
      error={error}
      classNames={{ input: "mono" }}
      onChange={(event) => change(event.currentTarget.value)}
    />
  );
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isTranslations = (value: unknown): value is Record<string, Record<string, string>> =>
  isObject(value) &&
  Object.values(value).every(
    (texts) => isObject(texts) && Object.values(texts).every((text) => typeof text === "string"),
  );
