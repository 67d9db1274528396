import type { Channel } from "../access/workspace.ts";

/** Strings by their id. */
export type TranslationMap = Readonly<Record<string, string>>;

/** Texts with translation tags by the name of the part they are, such as `subject` and `body`. */
export type Content = Readonly<Record<string, string>>;

/** A language of a workspace. Ids are UUIDs in lower case. */
export interface Locale {
  readonly id: string;
  readonly name: string;
  readonly country: string;
  readonly language: string;
  /** Such as `es-MX`; different from all others of the workspace by `localeKeyForm`. */
  readonly localeKey: string;
}

/** The same for all ways of writing a key: tools change its case and its separator. */
export const localeKeyForm = (key: string): string => key.toLowerCase().replaceAll("_", "-");

export type EngagementKind = "campaign" | "canvas";

/** A campaign or a canvas: what messages belong to. */
export interface Engagement {
  readonly id: string;
  readonly name: string;
  /** The steps of a canvas, in their order. */
  readonly stepIds: readonly string[];
}

/** Where a message stands. */
export interface MessageAddress {
  readonly kind: EngagementKind;
  readonly engagementId: string;
  /** Null in a campaign. */
  readonly stepId: string | null;
  readonly messageId: string;
}

export interface Message extends MessageAddress {
  readonly channel: Channel;
  readonly multiLanguage: boolean;
  readonly content: Content | null;
  /** Its strings in the language they were written in. */
  readonly source: TranslationMap;
}

/** All strings of a message in one locale. */
export interface Translation {
  readonly messageId: string;
  readonly localeId: string;
  readonly map: TranslationMap;
}

/** Whether a manifest made it, so that a manifest without it removes it. */
export interface Declared {
  readonly declared: boolean;
}
