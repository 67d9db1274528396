import { isUuid } from "../../core/base/values/uuid.ts";
import type { MessageAddress } from "../campaigns/feature.ts";
import { refusal, type TranslationCode } from "./refusal.ts";

/** How a request names a message, or all messages, of a campaign or canvas. */
export interface NamedMessage {
  readonly campaign_id?: string;
  readonly workflow_id?: string;
  readonly canvas_id?: string;
  readonly step_id?: string;
  readonly message_variation_id?: string;
  readonly locale_id?: string;
}

/** @throws Problem INVALID_CAMPAIGN_ID or INVALID_MESSAGE_VARIATION_ID, which name the field. */
export const addressInCampaign = (given: NamedMessage): MessageAddress => ({
  ...wholeCampaign(given),
  stepId: null,
  messageId: messageId(given),
});

/** All messages of a campaign. @throws Problem INVALID_CAMPAIGN_ID. */
export const wholeCampaign = (given: NamedMessage) => ({
  kind: "campaign" as const,
  campaignId: readId(given.campaign_id, "campaign_id", "INVALID_CAMPAIGN_ID"),
});

/** All messages of a canvas. @throws Problem INVALID_CAMPAIGN_ID. */
export const wholeCanvas = (given: NamedMessage) => ({
  kind: "canvas" as const,
  campaignId: readId(given.workflow_id ?? given.canvas_id, "workflow_id", "INVALID_CAMPAIGN_ID"),
});

/**
 * A malformed step_id has the code of the message.
 *
 * @throws Problem INVALID_CAMPAIGN_ID or INVALID_MESSAGE_VARIATION_ID, which name the field.
 */
export const addressInCanvas = (given: NamedMessage): MessageAddress => ({
  ...wholeCanvas(given),
  stepId: readId(given.step_id, "step_id", "INVALID_MESSAGE_VARIATION_ID"),
  messageId: messageId(given),
});

/** @throws Problem INVALID_LOCALE_ID */
export const readLocaleId = (given: string | undefined): string =>
  readId(given, "locale_id", "INVALID_LOCALE_ID");

const messageId = (given: NamedMessage): string =>
  readId(given.message_variation_id, "message_variation_id", "INVALID_MESSAGE_VARIATION_ID");

function readId(given: string | undefined, name: string, code: TranslationCode): string {
  if (given === undefined) throw refusal(code, `'${name}' is required`);
  if (isUuid(given)) return given.toLowerCase();
  throw refusal(code, `'${name}' must be a UUID`);
}
