import type { Checked } from "../../core/base/problem.ts";
import { findLiquidFault, readTranslationTags, type TranslationTag } from "../liquid/feature.ts";
import type { Content, TranslationMap } from "./campaign.ts";

/* The work of threads for texts (`src/core/base/threads/`): parsing their Liquid. */

export interface Judged {
  /** For each map the ids of the strings that cannot be rendered, and why. */
  readonly reasons: readonly ReadonlyMap<string, string>[];
  /** For each content the translation tags of its parts. */
  readonly tags: readonly ReadonlyMap<string, Checked<readonly TranslationTag[]>>[];
}

/** Checks texts on a worker thread: their Liquid, and their translation tags. */
export function judge({
  maps,
  contents,
}: {
  readonly maps: readonly TranslationMap[];
  readonly contents: readonly Content[];
}): Judged {
  return { reasons: maps.map(reasonsOf), tags: contents.map(tagsOf) };
}

function reasonsOf(map: TranslationMap): Map<string, string> {
  const reasons = new Map<string, string>();
  for (const [id, text] of Object.entries(map)) {
    const reason = findLiquidFault(text);
    if (reason) reasons.set(id, reason);
  }
  return reasons;
}

const tagsOf = (content: Content) =>
  new Map(Object.entries(content).map(([name, text]) => [name, readTranslationTags(text)]));
