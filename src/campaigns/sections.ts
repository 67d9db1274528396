import type { Resource } from "../workspaces/resource.ts";
import { applyCampaigns } from "./apply-campaigns.ts";
import {
  campaignOf,
  campaignSchema,
  canvasOf,
  canvasSchema,
  type DeclaredCampaign,
  type DeclaredCanvas,
  refuseUnstorableNames,
} from "./declarations.ts";
import type { MessageExtension } from "./message-extension.ts";

/** @param extension what else is declared with a message. */
export function campaignResources<Part>(extension: MessageExtension<Part>): readonly Resource[] {
  const campaigns: Resource = {
    key: "campaigns",
    about: "Campaigns with their messages, and translations of them by locale key.",
    schema: campaignSchema(extension.members),
    identity: "id",
    async apply(tx, { clock }, { workspace }, entries: readonly DeclaredCampaign[]) {
      refuseUnstorableNames(entries, ["campaigns"]);
      const readPart = await extension.reader(tx, workspace.id);
      const wanted = entries.map((each, index) => campaignOf(each, ["campaigns", index], readPart));
      return applyCampaigns(tx, { workspace, now: clock.now() }, extension, "campaign", wanted);
    },
  };
  const canvases: Resource = {
    key: "canvases",
    about: "Canvases with their steps, whose messages are translated like those of campaigns.",
    schema: canvasSchema(extension.members),
    identity: "id",
    async apply(tx, { clock }, { workspace }, entries: readonly DeclaredCanvas[]) {
      refuseUnstorableNames(entries, ["canvases"]);
      const readPart = await extension.reader(tx, workspace.id);
      const wanted = entries.map((each, index) => canvasOf(each, ["canvases", index], readPart));
      return applyCampaigns(tx, { workspace, now: clock.now() }, extension, "canvas", wanted);
    },
  };
  return [campaigns, canvases];
}
