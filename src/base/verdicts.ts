import Type, { type Static } from "typebox";
import type { Fault } from "./problem.ts";

/* The verdict on one item of a request that holds many, in every response that reports them. */

/** Why an item had no effect: an entry of `skipped`. */
export const ItemNote = Type.Object(
  {
    message: Type.String({
      description: "What the rule says.",
      examples: ["no user has this alias"],
    }),
    code: Type.String({
      description: "A stable name of the rule: see the guide on errors.",
      examples: ["USER_NOT_FOUND"],
    }),
    input_array: Type.String({
      description: "The list in the request that holds the item.",
      examples: ["user_aliases"],
    }),
    index: Type.Integer({ minimum: 0, description: "Counted from 0.", examples: [0] }),
  },
  { title: "ItemNote", description: "What Rapport says about one item of a request." },
);

export type ItemNote = Static<typeof ItemNote>;

/** Why an item was rejected: an entry of `errors`. Clients parse `type`, which repeats `message`. */
export const ItemError = Type.Object(
  { type: Type.String({ description: "Repeats `message`." }), ...ItemNote.properties },
  { title: "ItemError", description: "Why an item was rejected." },
);

export type ItemError = Static<typeof ItemError>;

/** Where an item is in its request. */
export interface ItemPlace<Array extends string = string> {
  readonly array: Array;
  readonly index: number;
}

/** A note that keeps the type of the list's name, where it is an enum. */
type In<Array extends string, Note extends ItemNote> = Note & { input_array: Array };

export const noteOf = <Array extends string>(
  { array, index }: ItemPlace<Array>,
  { message, code }: Fault,
): In<Array, ItemNote> => ({
  message,
  code,
  input_array: array,
  index,
});

export const errorOf = <Array extends string>(
  place: ItemPlace<Array>,
  fault: Fault,
): In<Array, ItemError> => ({
  type: fault.message,
  ...noteOf(place, fault),
});
