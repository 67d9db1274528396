import { Problem, type ProblemCode } from "../../base/problem.ts";
import type { TranslationMap } from "../campaigns/campaign.ts";
import { readCsv, writeCsv } from "./csv.ts";
import type { Locale } from "./locale.ts";
import { type MatchedFile, matchFile } from "./match-file.ts";
import type { TranslationFile } from "./translation-file.ts";
import { readXliff, writeXliff } from "./xliff.ts";

/* Reads and writes translation files, on threads (`src/threads/`). */

/** A refusal as a value, because an error from a thread loses its class. */
export type FileOrProblem<Result> =
  | { readonly result: Result }
  | {
      readonly problem: {
        readonly code: ProblemCode;
        readonly message: string;
        readonly body: Readonly<Record<string, unknown>> | undefined;
      };
    };

function orProblem<Result>(run: () => Result): FileOrProblem<Result> {
  try {
    return { result: run() };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const { code, message, details } = error;
    return { problem: { code, message, body: details.body } };
  }
}

/** Reads a file and compares it with the strings of its message. */
export const readFile = ({
  format,
  text,
  source,
  locales,
}: {
  readonly format: "CSV" | "XLIFF";
  readonly text: string;
  readonly source: TranslationMap;
  readonly locales: readonly Locale[];
}): FileOrProblem<MatchedFile> =>
  orProblem(() => matchFile(format === "CSV" ? readCsv(text) : readXliff(text), source, locales));

/** Writes a translation file on a worker thread. */
export const writeFile = ({
  format,
  file,
  sourceLanguage = "und",
}: {
  readonly format: "CSV" | "XLIFF";
  readonly file: TranslationFile;
  readonly sourceLanguage?: string | undefined;
}): FileOrProblem<string> =>
  orProblem(() => (format === "CSV" ? writeCsv(file) : writeXliff(file, sourceLanguage)));
