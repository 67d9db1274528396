import type { Feature } from "../../core/feature.ts";
import type { Endpoint } from "../../core/http/endpoint.ts";
import { campaignEndpoints } from "./endpoints.ts";
import type { TextServices } from "./manage-campaigns.ts";
import { type MessageExtension, NO_EXTENSION } from "./message-extension.ts";
import { campaignResources } from "./resources.ts";

export type {
  Content,
  Declared,
  Message,
  MessageAddress,
  TranslationMap,
} from "./campaign.ts";
export { refuseFaulty, refuseTooLarge, Uuid } from "./declarations.ts";
export type { TextServices } from "./manage-campaigns.ts";
export { findMessage, lockMessage, type MessageRow, unknownMessage } from "./manage-messages.ts";
export { type ManifestPath, refusalAt, refuseTwice } from "./manifest-path.ts";
export { MESSAGE_PATH, MessageAddressFields, OfMessage } from "./message-endpoints.ts";
export type { MessageExtension, MessagePart } from "./message-extension.ts";
export { findMapFault, judgeTexts } from "./texts.ts";

export interface CampaignExtension {
  readonly ofMessages: MessageExtension;
  readonly endpoints: readonly Endpoint<TextServices>[];
}

export const feature = {
  name: "campaigns",
  reference: [
    {
      tag: "Campaign administration",
      paths: ["campaigns", "canvases", "messages"].map(
        (each) => `/admin/v1/workspaces/:name/${each}`,
      ),
    },
  ],
  extendedBy([extension]) {
    const { ofMessages = NO_EXTENSION, endpoints = [] } = (extension ??
      {}) as Partial<CampaignExtension>;
    return {
      endpoints: [...campaignEndpoints(ofMessages), ...endpoints],
      resources: campaignResources(ofMessages),
    };
  },
} satisfies Feature;
