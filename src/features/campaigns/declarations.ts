import Type, { type Static, type TProperties } from "typebox";
import { ChannelName, Name } from "../../core/admin/workspaces/manifest.ts";
import { ClosedObject } from "../../core/base/values/schemas.ts";
import type { Campaign, Message, MessageAddress, TranslationMap } from "./campaign.ts";
import { faultAt, type ManifestPath, placeName, refusalAt, refuseTwice } from "./manifest-path.ts";
import type { MessagePart, ReadPart } from "./message-extension.ts";
import { findMapFault, findSizeFault, readSource, type TextsToJudge } from "./texts.ts";

/* How campaigns, canvases and messages are written in a manifest and in the admin API. */

/** spec: Translation; ids are UUIDs. */
export const Uuid = Type.String({ format: "uuid", description: "A UUID, as requests name it." });

export const messageMembers = {
  channel: ChannelName,
  multi_language: Type.Optional(
    Type.Boolean({ description: "Whether it can be translated. false by default." }),
  ),
  content: Type.Optional(
    Type.Record(Type.String(), Type.String(), {
      description: "Texts with translation tags, such as subject and body.",
    }),
  ),
  source: Type.Optional(
    Type.Record(Type.String(), Type.String(), {
      description: "The strings by id; not needed with a content, which contains them.",
    }),
  ),
};

const DeclaredMessage = Type.Object({ id: Uuid, ...messageMembers });

export type DeclaredMessage = Static<typeof DeclaredMessage>;

export interface DeclaredCampaign {
  readonly id: string;
  readonly name: string;
  readonly messages?: readonly DeclaredMessage[];
}

export interface DeclaredCanvas {
  readonly id: string;
  readonly name: string;
  readonly steps?: readonly {
    readonly id: string;
    readonly messages?: readonly DeclaredMessage[];
  }[];
}

/** @param members further ones of a message: see `MessageExtension`. */
const messagesWith = (members: TProperties) =>
  Type.Optional(
    Type.Array(ClosedObject({ id: Uuid, ...messageMembers, ...members }), {
      description: "Its messages.",
    }),
  );

/** @param members further members of a message. */
export const campaignSchema = (members: TProperties) =>
  ClosedObject({ id: Uuid, name: Name, messages: messagesWith(members) });

/** @param members further members of a message. */
export const canvasSchema = (members: TProperties) =>
  ClosedObject({
    id: Uuid,
    name: Name,
    steps: Type.Optional(
      Type.Array(ClosedObject({ id: Uuid, messages: messagesWith(members) }), {
        description: "The steps, in order.",
      }),
    ),
  });

export const declaredTexts = (
  messages: readonly Pick<DeclaredMessage, "content" | "source">[],
): TextsToJudge => ({
  maps: messages.flatMap(({ source }) => (source ? [source] : [])),
  contents: messages.flatMap(({ content }) => (content ? [content] : [])),
});

export type MessageWithPart<Part> = Message & MessagePart<Part>;

export interface CampaignWithMessages<Part> extends Campaign {
  /** By id. */
  readonly messages: readonly MessageWithPart<Part>[];
}

/**
 * Reads a campaign of a manifest.
 *
 * @throws Problem INVALID_REQUEST with the place of an invalid text, and what `readPart` throws.
 */
export function campaignOf<Part>(
  declared: DeclaredCampaign,
  place: ManifestPath,
  readPart: ReadPart<Part>,
): CampaignWithMessages<Part> {
  const campaignId = declared.id.toLowerCase();
  const address = { kind: "campaign", campaignId, stepId: null } as const;
  const messages = messagesOf(declared.messages ?? [], address, place, readPart);
  return { id: campaignId, name: declared.name, stepIds: [], messages: inOrder(messages) };
}

export function canvasOf<Part>(
  declared: DeclaredCanvas,
  place: ManifestPath,
  readPart: ReadPart<Part>,
): CampaignWithMessages<Part> {
  const campaignId = declared.id.toLowerCase();
  const steps = declared.steps ?? [];
  const stepIds = stepIdsOf(
    steps.map((step) => step.id),
    [...place, "steps"],
  );
  const messages = steps.flatMap((step, index) => {
    const address = { kind: "canvas", campaignId, stepId: step.id.toLowerCase() } as const;
    return messagesOf(step.messages ?? [], address, [...place, "steps", index], readPart);
  });
  return { id: campaignId, name: declared.name, stepIds, messages: inOrder(messages) };
}

/** In lower case. @throws Problem INVALID_REQUEST for a repeated id. */
export function stepIdsOf(ids: readonly string[], place: ManifestPath): string[] {
  const stepIds = ids.map((id) => id.toLowerCase());
  refuseTwice(place, "step", stepIds);
  return stepIds;
}

/** Sorted, because a new order is no change. */
const inOrder = <Part>(messages: readonly MessageWithPart<Part>[]): MessageWithPart<Part>[] =>
  [...messages].sort((a, b) => (a.messageId < b.messageId ? -1 : 1));

const messagesOf = <Part>(
  declared: readonly DeclaredMessage[],
  address: Omit<MessageAddress, "messageId">,
  place: ManifestPath,
  readPart: ReadPart<Part>,
): MessageWithPart<Part>[] =>
  declared.map((each, index) => {
    const at = [...place, "messages", index];
    const message = messageOf(each, { ...address, messageId: each.id.toLowerCase() }, at);
    return { ...message, part: readPart(each, at) };
  });

/**
 * A message as stored. If it has content, its strings come from the content.
 *
 * @throws Problem INVALID_REQUEST with the place of an invalid text, or of a string that differs from the
 *   content.
 */
export function messageOf(
  declared: Pick<DeclaredMessage, keyof typeof messageMembers>,
  address: MessageAddress,
  place: ManifestPath,
): Message {
  const { channel, multi_language, content, source } = declared;
  if (source) refuseFaulty(source, [...place, "source"]);
  return {
    ...address,
    channel,
    multiLanguage: multi_language ?? false,
    content: content ?? null,
    source: content ? sourceOf(content, source, place) : (source ?? {}),
  };
}

function sourceOf(
  content: TranslationMap,
  given: TranslationMap | undefined,
  place: ManifestPath,
): TranslationMap {
  const at = [...place, "content"];
  const read = readSource(content, placeName(at));
  if ("fault" in read) throw faultAt(at, read.fault);
  const ids = new Set([...Object.keys(read.value), ...Object.keys(given ?? read.value)]);
  for (const id of ids) {
    if (given === undefined || given[id] === read.value[id]) continue;
    throw refusalAt([...place, "source", id], "differs from the content.");
  }
  return read.value;
}

/** @throws Problem INVALID_REQUEST with the place. */
export function refuseFaulty(map: TranslationMap, place: ManifestPath): void {
  const fault = findMapFault(map, placeName(place));
  if (fault) throw faultAt(place, fault);
}

/** Checks only the size: the strings have been checked one by one. @throws Problem INVALID_REQUEST with the place. */
export function refuseTooLarge(map: TranslationMap, place: ManifestPath): void {
  const fault = findSizeFault(map, placeName(place));
  if (fault) throw faultAt(place, fault);
}
