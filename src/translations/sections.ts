import type { Static } from "typebox";
import type { Section } from "../workspaces/section.ts";
import { applyEngagements, applyLocales } from "./apply-declarations.ts";
import {
  campaignOf,
  canvasOf,
  DeclaredCampaign,
  DeclaredCanvas,
  DeclaredLocale,
  refuseUnstorableNames,
} from "./declarations.ts";
import { selectLocales } from "./locale-store.ts";

const locales: Section = {
  key: "locales",
  about: "The languages that messages of the workspace are translated into.",
  schema: DeclaredLocale,
  identity: "id",
  async apply(tx, target, entries: readonly Static<typeof DeclaredLocale>[]) {
    refuseUnstorableNames(entries, ["locales"]);
    return applyLocales(tx, target, entries);
  },
};

const campaigns: Section = {
  key: "campaigns",
  about: "Campaigns with their messages, and translations of them by locale key.",
  schema: DeclaredCampaign,
  identity: "id",
  async apply(tx, target, entries: readonly Static<typeof DeclaredCampaign>[]) {
    refuseUnstorableNames(entries, ["campaigns"]);
    const known = await selectLocales(tx, target.workspaceId);
    const wanted = entries.map((entry, index) => campaignOf(entry, ["campaigns", index], known));
    return applyEngagements(tx, target, "campaign", wanted);
  },
};

const canvases: Section = {
  key: "canvases",
  about: "Canvases with their steps, whose messages are translated like those of campaigns.",
  schema: DeclaredCanvas,
  identity: "id",
  async apply(tx, target, entries: readonly Static<typeof DeclaredCanvas>[]) {
    refuseUnstorableNames(entries, ["canvases"]);
    const known = await selectLocales(tx, target.workspaceId);
    const wanted = entries.map((entry, index) => canvasOf(entry, ["canvases", index], known));
    return applyEngagements(tx, target, "canvas", wanted);
  },
};

/** Locales first: the others name them. */
export const TRANSLATION_SECTIONS: readonly Section[] = [locales, campaigns, canvases];
