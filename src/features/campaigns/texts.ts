import { accepted, type Checked, type Fault, Problem, refused } from "../../core/base/problem.ts";
import { defineWork, type ThreadPool, WorkExceeded } from "../../core/base/threads/thread-pool.ts";
import { findUnstorable } from "../../core/base/values/plain-json.ts";
import {
  countLiquid,
  findLiquidFault,
  isTranslationId,
  readTranslationTags,
  type TranslationTag,
} from "../liquid/feature.ts";
import type { Content, TranslationMap } from "./campaign.ts";
import type { judge } from "./text-work.ts";

/*
 * Parsing Liquid takes a tenth of a second at these limits, so texts with more than a few tags are
 * parsed on a thread first (`judgeTexts`). The results are kept by the object with the texts.
 */

const MOST_LIQUID = 10_000;

/** The limit for all texts with Liquid in a map together, in characters. */
const LONGEST_LIQUID = 1_048_576;

const MOST_PARTS = 50;

/** Of one map. Messages in use have a few hundred. */
const MOST_STRINGS = 10_000;

const LONGEST_PART_NAME = 255;

/**
 * The fault of a map of strings, or undefined. Ids have no spaces, every engine can store the texts, and
 * their Liquid can be rendered.
 *
 * @param place the name of the map in sentences, such as `translation_map`.
 */
export function findMapFault(map: TranslationMap, place: string): Fault | undefined {
  const common = findSizeFault(map, place);
  if (common) return common;
  const known = judgedMaps.get(map);
  for (const [id, text] of Object.entries(map)) {
    if (!isTranslationId(id)) {
      return fault(`'${place}' has the id '${id}': an id is 1 to 255 characters without spaces`);
    }
    const reason = known ? known.reasons.get(id) : findLiquidFault(text);
    if (reason) return fault(`'${place}.${id}': ${reason}`);
  }
  return undefined;
}

export function findSizeFault(map: TranslationMap, place: string): Fault | undefined {
  const { length } = Object.keys(map);
  if (length <= MOST_STRINGS) return findTextsFault(map, place);
  return fault(`'${place}' has ${length} strings; the limit is ${MOST_STRINGS}`);
}

/**
 * Reads the strings from the translation tags of a content, by id.
 *
 * @param place the name of the content in sentences.
 */
export function readSource(content: Content, place: string): Checked<TranslationMap> {
  const common = findTextsFault(content, place);
  if (common) return { fault: common };
  if (Object.keys(content).length > MOST_PARTS) {
    return refused("INVALID_TRANSLATIONS", `'${place}' has more than ${MOST_PARTS} parts`);
  }
  const known = judgedContents.get(content);
  const source = new Map<string, string>();
  for (const [name, text] of Object.entries(content)) {
    if (name === "" || name.length > LONGEST_PART_NAME) {
      return refused("INVALID_TRANSLATIONS", `'${place}' has a name without 1 to 255 characters`);
    }
    const tags = known?.get(name) ?? readTranslationTags(text);
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
    return fault(`'${place}' has ${tags} Liquid tags; the limit is ${MOST_LIQUID}`);
  }
  if (length <= LONGEST_LIQUID) return undefined;
  return fault(`'${place}' has more than ${LONGEST_LIQUID} characters of text with Liquid`);
}

/** The findings of a thread in maps and contents, by the object. */
const judgedMaps = new WeakMap<TranslationMap, { readonly reasons: ReadonlyMap<string, string> }>();
const judgedContents = new WeakMap<
  Content,
  ReadonlyMap<string, Checked<readonly TranslationTag[]>>
>();

/** More time than texts within the limits need. */
const JUDGE = defineWork<typeof judge>(import.meta.resolve("./text-work.js"), "judge", 10_000);

/** With fewer tags, parsing takes about a millisecond. */
const FEW_TAGS = 100;

export interface TextsToJudge {
  readonly maps: readonly TranslationMap[];
  readonly contents: readonly Content[];
}

/**
 * Parses texts on a thread, so that `findMapFault` and `readSource` need not parse the same objects.
 *
 * @param owner a workspace's id, or its name before it has one.
 * @throws Problem INVALID_REQUEST if they take too much time or memory.
 */
export async function judgeTexts(
  threads: ThreadPool,
  owner: number | string,
  { maps, contents }: TextsToJudge,
): Promise<void> {
  const todo = { maps: maps.filter(isCostly), contents: contents.filter(isCostly) };
  if (todo.maps.length === 0 && todo.contents.length === 0) return;
  const judged = await threads.run(JUDGE, owner, todo).catch((error) => {
    if (!(error instanceof WorkExceeded)) throw error;
    const sentence = `The texts with Liquid take too much ${error.budget} to parse.`;
    throw new Problem("INVALID_REQUEST", sentence);
  });
  for (const [index, map] of todo.maps.entries()) {
    judgedMaps.set(map, { reasons: judged.reasons[index] ?? new Map() });
  }
  for (const [index, content] of todo.contents.entries()) {
    judgedContents.set(content, judged.tags[index] ?? new Map());
  }
}

/** Whether parsing takes long; what exceeds a limit is refused without being parsed. */
function isCostly(texts: TranslationMap): boolean {
  let tags = 0;
  for (const text of Object.values(texts)) tags += countLiquid(text);
  return tags > FEW_TAGS && findTextsFault(texts, "") === undefined;
}

const fault = (message: string): Fault => ({ code: "INVALID_TRANSLATIONS", message });
