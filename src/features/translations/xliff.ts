import { type SaxesAttributeNS, SaxesParser, type SaxesTagNS } from "saxes";
import { Problem } from "../../core/base/problem.ts";
import { printable } from "../../core/base/values/describe-value.ts";
import { type FileString, type TranslationFile, unreadable } from "./translation-file.ts";

/*
 * Reads XLIFF 1.2. Only the five predefined entities are supported: a document type, which could
 * declare more, is refused; nothing is fetched.
 */

const XLIFF = "urn:oasis:names:tc:xliff:document:1.2";

/** A unit is at the fifth level, or a little deeper in groups. */
const MOST_LEVELS = 32;

/** Elements whose content is not a translation. */
const PASSED_OVER = new Set([
  "header",
  "note",
  "seg-source",
  "alt-trans",
  "context-group",
  "bin-unit",
]);

/** The states of a target that is only a placeholder for a translation. */
const DRAFT_STATES = new Set(["new", "needs-translation"]);

interface Unit {
  readonly id: string;
  source: string | undefined;
  target: string | undefined;
  isDraft: boolean;
}

/**
 * Reads the targets of all units of all files.
 *
 * @throws Problem INVALID_REQUEST with the line and the column.
 */
export function readXliff(text: string): FileString[] {
  const parser = new SaxesParser({ xmlns: true });
  const refuse = (reason: string): never => {
    throw unreadable("XLIFF", `line ${parser.line}, column ${parser.column}: ${reason}`);
  };
  const { begin, end, take, depth, strings } = collectUnits(refuse);
  parser.on("error", (error) => refuse(error.message.replace(/^\d+:\d+: /, "")));
  parser.on("doctype", () => refuse("a document type is not allowed."));
  parser.on("opentagstart", () => {
    if (depth() >= MOST_LEVELS) refuse("it is nested too deeply.");
  });
  parser.on("opentag", begin);
  parser.on("closetag", end);
  parser.on("text", take);
  parser.on("cdata", take);
  parser.write(text).close();
  return strings;
}

/** Collects the strings of a document from its elements and texts, in their order. */
function collectUnits(refuse: (reason: string) => never) {
  const strings: FileString[] = [];
  const levels: string[] = [];
  let passedOver = 0;
  let language: string | undefined;
  let unit: Unit | undefined;
  let units = 0;
  let collected: string | undefined;

  function begin(tag: SaxesTagNS): void {
    const name = tag.uri === XLIFF ? tag.local : `{${tag.uri}}${tag.local}`;
    levels.push(name);
    if (levels.length === 1) checkRoot(tag, refuse);
    if (collected !== undefined && name !== "mrk") {
      refuse(`<${printable(tag.name)}> is inside a text, where only <mrk> is allowed.`);
    }
    if (passedOver > 0 || tag.uri !== XLIFF || PASSED_OVER.has(name)) {
      passedOver++;
      return;
    }
    if (name === "file") language = attribute(tag, "target-language");
    if (name === "trans-unit") {
      unit = { id: attribute(tag, "id") ?? refuse("a <trans-unit> has no id."), ...NOTHING };
    }
    if (unit && (name === "source" || name === "target")) {
      collected = "";
      if (name === "target") unit.isDraft = DRAFT_STATES.has(attribute(tag, "state") ?? "");
    }
  }

  function end(): void {
    const name = levels.pop();
    if (passedOver > 0) {
      passedOver--;
      return;
    }
    if (unit && name === "source") unit.source = collected;
    if (unit && name === "target") unit.target = collected;
    if (name === "source" || name === "target") collected = undefined;
    if (unit && name === "trans-unit") {
      add(unit);
      unit = undefined;
    }
  }

  function add({ id, source, target, isDraft }: Unit): void {
    const index = units++;
    if (target === undefined || target === "") return;
    const localeKey = language ?? refuse("a <file> with a <target> needs a target-language.");
    strings.push({
      inputArray: "trans-units",
      index,
      id,
      localeKey,
      source,
      text: target,
      isDraft,
    });
  }

  const take = (part: string): void => {
    if (collected !== undefined && passedOver === 0) collected += part;
  };

  return { begin, end, take, depth: () => levels.length, strings };
}

const NOTHING = { source: undefined, target: undefined, isDraft: false };

function checkRoot(tag: SaxesTagNS, refuse: (reason: string) => never): void {
  if (tag.local !== "xliff") refuse("it is not an XLIFF document.");
  const version = attribute(tag, "version");
  if (tag.uri !== XLIFF || version !== "1.2") refuse("it is not XLIFF 1.2.");
}

const attribute = (tag: SaxesTagNS, name: string): string | undefined =>
  (tag.attributes[name] as SaxesAttributeNS | undefined)?.value;

/** Characters that XML 1.0 cannot contain, even escaped. */
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
