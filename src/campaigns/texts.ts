import {
  countLiquid,
  findLiquidFault,
  isTranslationId,
  readTranslationTags,
} from "../liquid/liquid.ts";
import { accepted, type Checked, type Fault, refused } from "../problem.ts";
import { findUnstorable } from "../values/plain-json.ts";
import type { Content, TranslationMap } from "./campaign.ts";

/* Parsing holds the thread: these take a tenth of a second, and less where a map has both. */

const MOST_LIQUID = 10_000;

/** Of all texts with Liquid in a map together, in characters. */
const LONGEST_LIQUID = 1_048_576;

const MOST_PARTS = 50;

const LONGEST_PART_NAME = 255;

/**
 * Why a map of strings cannot be kept, or undefined: ids without blanks, text that every engine
 * keeps, and Liquid that can be rendered.
 *
 * @param place what the map goes by in sentences, such as `translation_map`.
 */
export function findMapFault(map: TranslationMap, place: string): Fault | undefined {
  const common = findTextsFault(map, place);
  if (common) return common;
  for (const [id, text] of Object.entries(map)) {
    if (!isTranslationId(id)) {
      return fault(`'${place}' has the id '${id}': an id is 1 to 255 characters without blanks`);
    }
    const reason = findLiquidFault(text);
    if (reason) return fault(`'${place}.${id}': ${reason}`);
  }
  return undefined;
}

/**
 * Reads the strings out of the translation tags of a content: ids and source map come from it.
 *
 * @param place what the content goes by in sentences.
 */
export function readSource(content: Content, place: string): Checked<TranslationMap> {
  const common = findTextsFault(content, place);
  if (common) return { fault: common };
  if (Object.keys(content).length > MOST_PARTS) {
    return refused("INVALID_TRANSLATIONS", `'${place}' has more than ${MOST_PARTS} parts`);
  }
  const source = new Map<string, string>();
  for (const [name, text] of Object.entries(content)) {
    if (name === "" || name.length > LONGEST_PART_NAME) {
      return refused("INVALID_TRANSLATIONS", `'${place}' has a name without 1 to 255 characters`);
    }
    const tags = readTranslationTags(text);
    if ("fault" in tags) {
      return refused("INVALID_TRANSLATIONS", `'${place}.${name}': ${tags.fault.message}`);
    }
    for (const { id, text } of tags.value) {
      if (source.has(id) && source.get(id) !== text) {
        return refused("INVALID_TRANSLATIONS", `'${place}' has two different texts for '${id}'`);
      }
      source.set(id, text);
    }
  }
  return accepted(Object.fromEntries(source));
}

function findTextsFault(texts: TranslationMap, place: string): Fault | undefined {
  const unstorable = findUnstorable(texts, place);
  if (unstorable) return unstorable;
  let tags = 0;
  let length = 0;
  for (const text of Object.values(texts)) {
    const count = countLiquid(text);
    tags += count;
    if (count > 0) length += text.length;
  }
  if (tags > MOST_LIQUID) {
    return fault(`'${place}' has ${tags} Liquid tags, and ${MOST_LIQUID} are the most`);
  }
  if (length <= LONGEST_LIQUID) return undefined;
  return fault(`'${place}' has more than ${LONGEST_LIQUID} characters of text with Liquid`);
}

const fault = (message: string): Fault => ({ code: "INVALID_TRANSLATIONS", message });
