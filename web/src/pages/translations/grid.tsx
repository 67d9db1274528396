import { Textarea } from "@mantine/core";
import { Languages } from "lucide-react";
import { useState } from "react";
import { useTranslate } from "../../api/messages.ts";
import { tellDone, tellFailed } from "../../components/feedback.ts";
import { Empty, Notice } from "../../components/states.tsx";
import { Tag } from "../../components/tag.tsx";

interface Message {
  readonly id: string;
  readonly multi_language: boolean;
  readonly source: Readonly<Record<string, string>>;
  readonly translations: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

interface Locale {
  readonly id: string;
  readonly name: string;
  readonly locale_key: string;
}

interface GridProps {
  readonly workspace: string;
  readonly message: Message;
  readonly locales: readonly Locale[];
}

/** The strings of a message as rows and the locales as columns; a missing translation is marked. */
export function Grid({ workspace, message, locales }: GridProps) {
  const strings = Object.entries(message.source);
  if (strings.length === 0) {
    return (
      <div className="table-frame">
        <Empty icon={Languages} title="This message has no strings to translate">
          Mark them in its content: {"{% translation hello %}Hello{% endtranslation %}"}
        </Empty>
      </div>
    );
  }
  return (
    <div className="stack">
      {!message.multi_language && (
        <Notice tone="warn">
          Translations of this message are not used: it is not multi-language.
        </Notice>
      )}
      {locales.length === 0 && (
        <Notice>Add a locale on the tab Locales to translate these strings.</Notice>
      )}
      <section className="grid-frame" aria-label="Strings in all locales">
        <table className="table grid">
          <thead>
            <tr>
              <th scope="col" className="grid-source">
                String
              </th>
              {locales.map((locale) => (
                <th key={locale.id} scope="col">
                  {locale.name} <span className="mono">{locale.locale_key}</span>{" "}
                  <Missing count={missingIn(message, locale)} />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {strings.map(([key, source]) => (
              <tr key={key}>
                <th scope="row" className="grid-source">
                  <span className="mono">{key}</span>
                  <div className="grid-text">{source}</div>
                </th>
                {locales.map((locale) => (
                  <td key={locale.id}>
                    <Cell
                      key={message.translations[locale.locale_key]?.[key] ?? ""}
                      workspace={workspace}
                      message={message}
                      locale={locale}
                      name={key}
                    />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </div>
  );
}

const missingIn = ({ source, translations }: Message, { locale_key }: Locale): number =>
  Object.keys(source).filter((key) => !translations[locale_key]?.[key]).length;

const Missing = ({ count }: { readonly count: number }) =>
  count > 0 ? <Tag tone="warn">{count} missing</Tag> : <Tag tone="good">Complete</Tag>;

interface CellProps {
  readonly workspace: string;
  readonly message: Message;
  readonly locale: Locale;
  readonly name: string;
}

/** One string in one locale: saved when the field is left. */
function Cell({ workspace, message, locale, name }: CellProps) {
  const translate = useTranslate(workspace, message.id);
  const known = message.translations[locale.locale_key] ?? {};
  const [text, setText] = useState(known[name] ?? "");
  const save = async () => {
    if (text === (known[name] ?? "")) return;
    const { [name]: _, ...others } = known;
    try {
      await translate(locale.id, text === "" ? others : { ...others, [name]: text });
      tellDone(`Saved ${name} in ${locale.name}.`);
    } catch (error) {
      tellFailed(error);
    }
  };
  return (
    <Textarea
      aria-label={`${name} in ${locale.name}`}
      placeholder="Missing"
      autosize
      minRows={1}
      maxRows={12}
      dir="auto"
      value={text}
      className={text === "" ? "grid-missing" : undefined}
      onChange={(event) => setText(event.currentTarget.value)}
      onBlur={() => void save()}
    />
  );
}
