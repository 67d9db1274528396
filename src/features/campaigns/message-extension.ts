import type { TProperties } from "typebox";
import type { Queryable, Transaction } from "../../core/database/database.ts";
import type { TranslationMap } from "./campaign.ts";
import type { ManifestPath } from "./manifest-path.ts";

/**
 * Data of another folder that is declared and removed with messages, such as their translations.
 * The other feature offers it in its `extensions`, because campaigns/ imports nothing of it.
 */
export interface MessageExtension<Part = unknown> {
  /** Its members in the declaration of a message. */
  readonly members: TProperties;
  /** The texts among them, to be checked before a transaction begins (`judgeTexts`). */
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
  /** Returns a function that writes the present data of one of these messages as members. */
  declaration(
    database: Queryable,
    workspaceId: number,
    messageIds: readonly string[],
  ): Promise<(messageId: string) => object>;
  /** Replaces the declared data of messages; a message with an undefined part is unchanged. */
  replace(
    tx: Transaction,
    workspaceId: number,
    before: readonly MessagePart<Part>[],
    after: readonly MessagePart<Part>[],
  ): Promise<unknown>;
  remove(tx: Transaction, workspaceId: number, messageIds: readonly string[]): Promise<unknown>;
}

export type ReadPart<Part> = (declared: object, place: ManifestPath) => Part | undefined;

export interface MessagePart<Part> {
  readonly messageId: string;
  readonly part: Part | undefined;
}

/** Messages have nothing of another feature. */
export const NO_EXTENSION: MessageExtension = {
  members: {},
  textsOf: () => [],
  reader: async () => () => undefined,
  declared: async () => () => undefined,
  declaration: async () => () => ({}),
  replace: async () => {},
  remove: async () => {},
};
