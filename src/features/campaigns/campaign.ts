import type { Channel } from "../../core/base/context/workspace.ts";

export type TranslationMap = Readonly<Record<string, string>>;

/** Texts with translation tags by the name of their part, such as `subject` and `body`. */
export type Content = Readonly<Record<string, string>>;

export type CampaignKind = "campaign" | "canvas";

/** A campaign or a canvas: a canvas is a campaign with steps. */
export interface Campaign {
  readonly id: string;
  readonly name: string;
  /** The steps of a canvas, in order; empty for a campaign. */
  readonly stepIds: readonly string[];
}

export interface MessageAddress {
  readonly kind: CampaignKind;
  readonly campaignId: string;
  /** Null in a campaign. */
  readonly stepId: string | null;
  readonly messageId: string;
}

export interface MessageHead extends MessageAddress {
  readonly channel: Channel;
  readonly multiLanguage: boolean;
}

export interface Message extends MessageHead {
  readonly content: Content | null;
  /** Its strings in the original language. */
  readonly source: TranslationMap;
}

/** Whether a manifest declared it, so that a manifest without it removes it. */
export interface Declared {
  readonly declared: boolean;
}
