import { Problem } from "../../core/base/problem.ts";
import type { TranslationMap } from "../campaigns/feature.ts";
import type { Locale } from "./locale.ts";

/* The content of a translation file in any format. */

export type FileFormat = "CSV" | "XLIFF";

/** All strings of a message, to write to a file. */
export interface TranslationFile {
  readonly messageId: string;
  readonly source: TranslationMap;
  readonly columns: readonly { readonly locale: Locale; readonly map: TranslationMap }[];
}

export interface FileString {
  /** The list it is in, and its index there, from 0; as `skipped` names it. */
  readonly inputArray: string;
  readonly index: number;
  readonly id: string;
  /** As the file writes it. */
  readonly localeKey: string;
  /** The source that it was translated from, if the file contains it. */
  readonly source: string | undefined;
  readonly text: string;
  readonly isDraft: boolean;
}

/** A refusal of a file that is not of its format. */
export const unreadable = (format: string, reason: string): Problem =>
  new Problem("INVALID_REQUEST", `The ${format} cannot be read: ${reason}`);
