/* The parts of a preference center. */

export const STATES = ["active", "draft"] as const;

/** Only an active one is served. */
export type CenterState = (typeof STATES)[number];

/** An icon of the page. The names are the publicly known ones. */
export interface LinkTag {
  readonly rel: string;
  readonly href: string;
  readonly type?: string;
  readonly sizes?: string;
  readonly color?: string;
}

/** spec: Preference center. The content of the viewport's meta tag, and icons. */
export interface CenterOptions {
  readonly "meta-viewport-content": string;
  readonly "links-tags"?: readonly LinkTag[];
}

/** Texts by locale (`es-MX`) and by the id of their translation tag. */
export type CenterTranslations = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** The content that a team writes, and can change. */
export interface CenterContent {
  readonly name: string;
  readonly title: string;
  readonly state: CenterState;
  readonly pageHtml: string;
  readonly confirmationHtml: string;
  /** The page a browser goes to instead of the confirmation page. */
  readonly redirectUrl: string | null;
  readonly options: CenterOptions;
  /** The language that the pages are written in, as a BCP 47 tag. */
  readonly locale: string;
  readonly translations: CenterTranslations;
}

export interface DeclaredCenter extends CenterContent {
  readonly id: string;
}

export interface PreferenceCenter extends DeclaredCenter {
  /** Whether a manifest declared it. */
  readonly declared: boolean;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export const DEFAULT_TITLE = "Preference Center";

export const DEFAULT_OPTIONS: CenterOptions = {
  "meta-viewport-content": "width=device-width, initial-scale=1",
};

export const TITLE_ID = "preference_center_title";
