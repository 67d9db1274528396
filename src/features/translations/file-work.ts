import { Problem, type ProblemCode } from "../../core/base/problem.ts";
import type { TranslationMap } from "../campaigns/feature.ts";
import { readCsv, writeCsv } from "./csv.ts";
import type { Locale } from "./locale.ts";
import { type MatchedFile, matchFile } from "./match-file.ts";
import type { FileFormat, FileString, TranslationFile } from "./translation-file.ts";
import { readXliff, writeXliff } from "./xliff.ts";

/* Reads and writes translation files, on threads (`src/core/base/threads/`). */

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

/** A format without a reader or a writer does not compile. */
const READERS: Readonly<Record<FileFormat, (text: string) => readonly FileString[]>> = {
  CSV: readCsv,
  XLIFF: readXliff,
};

const WRITERS: Readonly<
  Record<FileFormat, (file: TranslationFile, sourceLanguage: string) => string>
> = { CSV: writeCsv, XLIFF: writeXliff };

/** Reads a file and compares it with the strings of its message. */
export const readFile = ({
  format,
  text,
  source,
  locales,
}: {
  readonly format: FileFormat;
  readonly text: string;
  readonly source: TranslationMap;
  readonly locales: readonly Locale[];
}): FileOrProblem<MatchedFile> =>
  orProblem(() => matchFile(READERS[format](text), source, locales));

export const writeFile = ({
  format,
  file,
  sourceLanguage = "und",
}: {
  readonly format: FileFormat;
  readonly file: TranslationFile;
  readonly sourceLanguage?: string | undefined;
}): FileOrProblem<string> => orProblem(() => WRITERS[format](file, sourceLanguage));
