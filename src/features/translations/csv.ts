import { type CsvError, parse } from "csv-parse/sync";
import { csvLineEnds } from "../../core/base/lines.ts";
import { printable } from "../../core/base/values/describe-value.ts";
import { csvText, rearm } from "../../core/base/values/spreadsheets.ts";
import { type FileString, type TranslationFile, unreadable } from "./translation-file.ts";

/*
 * Translations as CSV (RFC 4180): `id,source,es-MX,fr-FR`, a line for each string. An empty cell is not
 * translated.
 */

/** With a byte order mark, by which spreadsheets recognize UTF-8. */
export function writeCsv({ source, columns }: TranslationFile): string {
  const header = ["id", "source", ...columns.map(({ locale }) => locale.localeKey)];
  const rows = Object.entries(source).map(([id, text]) => [
    id,
    text,
    ...columns.map(({ map }) => (Object.hasOwn(map, id) && map[id]) || ""),
  ]);
  return csvText([header, ...rows], { bom: true, record_delimiter: "\r\n", quoted: true });
}

/**
 * Reads a file: the first column is `id`, one may be `source`, every other one is a locale. They are
 * separated by commas, semicolons or tabs, because spreadsheets write any of these.
 *
 * @throws Problem INVALID_REQUEST with the line.
 */
export function readCsv(text: string): FileString[] {
  const [header, ...rows] = recordsOf(text);
  if (header?.[0]?.trim() !== "id") throw unreadable("CSV", "its first column must be 'id'.");
  const names = header.map((name) => name.trim());
  const seen = new Set<string>();
  for (const name of names) {
    if (name && seen.has(name))
      throw unreadable("CSV", `it has the column '${printable(name)}' twice.`);
    seen.add(name);
  }
  const sourceColumn = names.indexOf("source");
  return rows.flatMap((row, index) =>
    row.flatMap((cell, column) => {
      const localeKey = names[column] ?? "";
      if (column === 0 || column === sourceColumn || cell === "") return [];
      return {
        inputArray: "rows",
        index,
        id: rearm(row[0] ?? ""),
        localeKey,
        source: sourceColumn < 0 ? undefined : rearm(row[sourceColumn] ?? ""),
        text: rearm(cell),
        isDraft: false,
      };
    }),
  );
}

function recordsOf(text: string): string[][] {
  const delimiter = /^\uFEFF?"?id"?([,;\t])/.exec(text)?.[1] ?? ",";
  try {
    return parse(text, {
      bom: true,
      delimiter,
      record_delimiter: csvLineEnds(text.slice(0, 65_536)),
      skip_empty_lines: true,
    });
  } catch (error) {
    throw unreadable("CSV", `${(error as CsvError).message}.`);
  }
}
