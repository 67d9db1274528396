import Type, { type Static } from "typebox";
import type { Fault } from "./problem.ts";

/* The verdict on one item of a request that holds many, in every response that reports them. */

/** Why an item had no effect: an entry of `skipped`. */
export const ItemNote = Type.Object(
  {
    message: Type.String({
      description: "The requirement of the rule.",
      examples: ["no user has this alias"],
    }),
    code: Type.String({
      description: "A stable name of the rule: see the guide on errors.",
      examples: ["USER_NOT_FOUND"],
    }),
    input_array: Type.String({
      description: "The list in the request with the item.",
      examples: ["user_aliases"],
    }),
    index: Type.Integer({ minimum: 0, description: "Counted from 0.", examples: [0] }),
  },
  { title: "ItemNote", description: "Rapport's verdict on one item of a request." },
);

export type ItemNote = Static<typeof ItemNote>;

/** Why an item was rejected: an entry of `errors`. Clients parse `type`, which repeats `message`. */
export const ItemError = Type.Object(
  { type: Type.String({ description: "Repeats `message`." }), ...ItemNote.properties },
  { title: "ItemError", description: "Why an item was rejected." },
);

export type ItemError = Static<typeof ItemError>;

/** A response's statement about one item; endpoints differ in how much they say. */
export interface GivenNote {
  readonly code?: string;
  readonly message?: string;
  readonly input_array?: string;
  readonly index?: number;
}

/**
 * The statements of a response about items of its request, and about the request if it is refused.
 */
export const notesIn = (response: unknown): GivenNote[] =>
  isObject(response)
    ? [response.errors, response.skipped]
        .flatMap((list) => (Array.isArray(list) ? (list as unknown[]) : []))
        .filter(isObject)
    : [];

/** Lists that say how to answer, and contain no items. */
const OPTIONS = ["fields_to_export"];

/** The lists of a body that contain items, by name. */
export const itemListsOf = (body: unknown): (readonly [string, readonly unknown[]])[] =>
  Object.entries(isObject(body) ? body : {}).filter(
    (entry): entry is [string, unknown[]] => Array.isArray(entry[1]) && !OPTIONS.includes(entry[0]),
  );

/** The notes of a response that are about an existing item, one for each item. */
export function notesOnItems(
  lists: readonly (readonly [string, readonly unknown[]])[],
  notes: readonly GivenNote[],
): Map<string, GivenNote> {
  const lengths = new Map(lists.map(([name, { length }]) => [name, length]));
  const found = new Map<string, GivenNote>();
  for (const note of notes) {
    const { input_array: name = "", index = -1 } = note;
    if (index >= 0 && index < (lengths.get(name) ?? 0)) found.set(placeOf(name, index), note);
  }
  return found;
}

/** A key for one item of a request, such as `events 3`. */
export const placeOf = (list: string, index: number): string => `${list} ${index}`;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export interface ItemPlace<Array extends string = string> {
  readonly array: Array;
  readonly index: number;
}

/** A note that keeps the type of the list's name if it is an enum. */
type In<Array extends string, Note extends ItemNote> = Note & { input_array: Array };

/** The form of a note on one item in a response. */
export const noteOf = <Array extends string>(
  { array, index }: ItemPlace<Array>,
  { message, code }: Fault,
): In<Array, ItemNote> => ({ message, code, input_array: array, index });

/** The form of an error on one item: a note that also has the sentence as `type`. */
export const errorOf = <Array extends string>(
  place: ItemPlace<Array>,
  fault: Fault,
): In<Array, ItemError> => ({ type: fault.message, ...noteOf(place, fault) });
