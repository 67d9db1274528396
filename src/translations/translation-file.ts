import type { TranslationMap } from "../campaigns/campaign.ts";
import { Problem } from "../problem.ts";
import type { Locale } from "./locale.ts";

/* What a file of translations holds, whichever its format. */

/** All strings of a message, to be written to a file. */
export interface TranslationFile {
  readonly messageId: string;
  readonly source: TranslationMap;
  readonly columns: readonly { readonly locale: Locale; readonly map: TranslationMap }[];
}

/** One translated string of a file. */
export interface FileString {
  /** The list it is in, and its index there, from 0; as `skipped` names it. */
  readonly inputArray: string;
  readonly index: number;
  readonly id: string;
  /** As the file writes it. */
  readonly localeKey: string;
  /** What it was translated from, where the file says so. */
  readonly source: string | undefined;
  readonly text: string;
  /** Whether the file itself says that this is no translation yet. */
  readonly isDraft: boolean;
}

export const unreadable = (format: string, reason: string): Problem =>
  new Problem("INVALID_REQUEST", `The ${format} cannot be read: ${reason}`);
