import { Problem } from "../../base/problem.ts";
import type { TranslationFile } from "./translation-file.ts";

/** What XML 1.0 cannot contain, even escaped. */
const NOT_IN_XML = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u;

/**
 * Writes translations as XLIFF 1.2: a `file` for each locale, a `trans-unit` for each string. A
 * string without a `target` is not translated.
 *
 * @param sourceLanguage a BCP 47 tag; `und` if unknown.
 * @throws Problem CONFLICT if a string contains a character that XML cannot.
 */
export function writeXliff(file: TranslationFile, sourceLanguage: string): string {
  const { messageId, source, columns } = file;
  const files = columns.map(({ locale, map }) => {
    const language = locale.localeKey.replaceAll("_", "-");
    const units = Object.entries(source).map(([id, text]) => {
      const target = Object.hasOwn(map, id) ? `<target>${escaped(map[id] ?? "", id)}</target>` : "";
      return `      <trans-unit id="${escaped(id, id)}" xml:space="preserve">
        <source>${escaped(text, id)}</source>${target}
      </trans-unit>\n`;
    });
    return `  <file original="${messageId}" source-language="${sourceLanguage}" target-language="${language}" datatype="plaintext">
    <body>
${units.join("")}    </body>
  </file>\n`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>
<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">
${files.join("")}</xliff>\n`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  // Readers turn an unescaped one into a line feed.
  "\r": "&#13;",
};

function escaped(text: string, id: string): string {
  const [character] = NOT_IN_XML.exec(text) ?? [];
  if (character === undefined) return text.replace(/[&<>"\r]/g, (each) => ENTITIES[each] ?? each);
  const code = character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0");
  const rule = `holds the character U+${code}, which XML cannot contain. Export CSV instead.`;
  throw new Problem("CONFLICT", `The string '${id}' ${rule}`);
}
