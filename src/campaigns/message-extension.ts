import type { TProperties } from "typebox";
import type { Queryable, Transaction } from "../database/database.ts";
import type { TranslationMap } from "./campaign.ts";
import type { Place } from "./place.ts";

/**
 * What another folder keeps with messages, such as their translations: it is declared with a message and
 * removed with it. `server/app.ts` passes it in, because campaigns/ imports nothing that comes after it.
 */
export interface MessageExtension<Part = unknown> {
  /** The members for it in the declaration of a message. */
  readonly members: TProperties;
  /** The texts among them, to be judged before a transaction begins (`judgeTexts`). */
  textsOf(declared: object): readonly TranslationMap[];
  /**
   * Returns a function that reads these members; it returns undefined if the declaration has none.
   *
   * @throws Problem INVALID_REQUEST with the place: the function.
   */
  reader(tx: Transaction, workspaceId: number): Promise<ReadPart<Part>>;
  /** Returns a function that reads what manifests have declared for one of these messages. */
  declared(
    tx: Transaction,
    workspaceId: number,
    messageIds: readonly string[],
  ): Promise<(messageId: string) => Part>;
  /** Returns a function that writes everything that is kept with one of these messages as its members. */
  declaration(
    database: Queryable,
    workspaceId: number,
    messageIds: readonly string[],
  ): Promise<(messageId: string) => object>;
  /** Replaces what messages were declared with; a message with an undefined part is left alone. */
  replace(
    tx: Transaction,
    workspaceId: number,
    before: readonly MessagePart<Part>[],
    after: readonly MessagePart<Part>[],
  ): Promise<void>;
  /** Removes everything that is kept with messages. */
  remove(tx: Transaction, workspaceId: number, messageIds: readonly string[]): Promise<void>;
}

export type ReadPart<Part> = (declared: object, place: Place) => Part | undefined;

export interface MessagePart<Part> {
  readonly messageId: string;
  readonly part: Part | undefined;
}
