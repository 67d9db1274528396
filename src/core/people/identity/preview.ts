import { invalidCursor } from "../../base/pages.ts";
import { startTurns } from "../../base/turns.ts";
import type { Name } from "../profiles/written.ts";
import type { Done, Result } from "./change-identities.ts";
import type { Effect } from "./combine/effects.ts";

/* The response of a dry run: the effects of each item, in pages if the users are large. */

export interface Preview {
  /** The start of the page. */
  readonly cursor: string | undefined;
}

export const previewOf = ({
  dry_run,
  cursor,
}: {
  readonly dry_run?: boolean;
  readonly cursor?: string;
}): Preview | undefined => (dry_run ? { cursor } : undefined);

export interface ItemResult {
  readonly input_array: string;
  readonly index: number;
  readonly outcome: Done | "skipped";
  readonly [detail: string]: unknown;
}

/** A page ends before it is larger; a single item may be. */
const PAGE_CHARACTERS = 4 * 1_048_576;

/** A larger item is shown without the values. */
const LARGEST_ITEM_CHARACTERS = 2 * PAGE_CHARACTERS;

/** A page of the outcomes. @throws Problem INVALID_REQUEST for a cursor that no response had. */
export async function pageOfResults(
  results: readonly Result[],
  { cursor = "0" }: Preview,
): Promise<{ readonly results: ItemResult[]; readonly next_cursor?: string }> {
  const first = /^\d{1,6}$/.test(cursor) ? Number(cursor) : Number.NaN;
  if (!(first === 0 || first < results.length)) throw invalidCursor();
  const turns = startTurns();
  const page: ItemResult[] = [];
  let characters = 0;
  for (const [index, result] of results.entries()) {
    if (index < first) continue;
    let shown = resultOf(result);
    let size = JSON.stringify(shown).length;
    if (size > LARGEST_ITEM_CHARACTERS) {
      shown = withoutValues(shown);
      size = JSON.stringify(shown).length;
    }
    characters += size;
    if (characters > PAGE_CHARACTERS && page.length > 0) {
      return { results: page, next_cursor: String(index) };
    }
    page.push(shown);
    if (turns.isOver()) await turns.next();
  }
  return { results: page };
}

function resultOf({ place, applied, audited }: Result): ItemResult {
  const where = { input_array: place.array, index: place.index };
  if ("fault" in applied) return { ...where, outcome: "skipped", ...applied.fault };
  const outcome = { ...where, outcome: applied.done };
  if (!audited) return outcome;
  const { change, effects } = audited;
  if (change.kind === "merge") {
    const names = { kept: wireName(change.kept), merged: wireName(change.merged) };
    return { ...outcome, ...names, effects };
  }
  return { ...outcome, user: wireName(change.user), effects: effects.map(removedOf) };
}

const withoutValues = (result: ItemResult): ItemResult => ({
  ...result,
  effects: effectsWithoutValues((result.effects ?? []) as readonly Effect[]),
  values_omitted: true,
});

const effectsWithoutValues = (effects: readonly Effect[]) =>
  effects.map(({ field, name, effect }) => ({
    field,
    ...(name !== undefined && { name }),
    effect,
  }));

const wireName = ({ platformId, externalId }: Name) => ({
  platform_id: platformId,
  external_id: externalId,
});

const removedOf = ({ field, name, effect, merged }: Effect) => ({
  field,
  ...(name !== undefined && { name }),
  effect,
  value: merged,
});
