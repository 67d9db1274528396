import type { Channel } from "../../core/base/context/workspace.ts";
import { jsonByteLength } from "../../core/base/values/plain-json.ts";
import type { Queryable, Transaction } from "../../core/database/database.ts";
import { listsOf } from "../../core/database/parameters/lists-of.ts";
import type { Declared, Message, MessageAddress, TranslationMap } from "../campaigns/feature.ts";
import type { Locale } from "./locale.ts";

export interface Translation {
  readonly messageId: string;
  readonly localeId: string;
  readonly map: TranslationMap;
}

/** The message at an address, with its translations in the requested locales. */
export interface FoundMessage {
  /** Undefined if the campaign or canvas has no such message. */
  readonly message:
    | {
        readonly channel: Channel;
        readonly multiLanguage: boolean;
        /** Present only if requested. */
        readonly source: TranslationMap | null;
      }
    | undefined;
  /** Whether the requested locale is one of the workspace. */
  readonly isLocale: boolean;
  readonly translations: readonly { readonly locale: Locale; readonly map: TranslationMap }[];
}

/** The texts to read: the source, or the translations in one locale or in all. */
export type Wanted = "source" | { readonly localeId: string | undefined };

interface FoundRow {
  readonly channel: Channel | null;
  readonly multiLanguage: boolean;
  readonly source: TranslationMap | null;
  readonly isLocale: boolean | null;
  readonly locale: Locale | null;
  readonly map: string | null;
}

/**
 * Reads the message at an address and everything needed to refuse the request, in one statement.
 *
 * Maps are read as text and parsed here: passing a text from the thread of the embedded engine costs a tenth
 * of passing an object.
 *
 * @returns undefined if there is no such campaign or canvas.
 */
export async function selectFoundMessage(
  database: Queryable,
  workspaceId: number,
  address: MessageAddress,
  wanted: Wanted,
): Promise<FoundMessage | undefined> {
  const localeId = wanted === "source" ? undefined : wanted.localeId;
  const rows = await database.query<FoundRow>(
    `select m.channel, m.multi_language as "multiLanguage", case when $7 then m.source end as source,
       (select true from locales where workspace_id = $1 and locale_id = $6) as "isLocale",
       case when l.locale_id is not null then jsonb_build_object('id', l.locale_id, 'name', l.name,
         'country', l.country, 'language', l.language, 'localeKey', l.locale_key) end as locale,
       t.translation_map::text as map
     from campaigns c
     left join messages m on m.workspace_id = c.workspace_id and m.kind = c.kind
       and m.campaign_id = c.campaign_id and m.message_id = $4
       and m.step_id is not distinct from $5
     left join message_translations t on not $7 and t.workspace_id = m.workspace_id
       and t.message_id = m.message_id and ($6::uuid is null or t.locale_id = $6)
     left join locales l on l.workspace_id = t.workspace_id and l.locale_id = t.locale_id
     where c.workspace_id = $1 and c.kind = $2 and c.campaign_id = $3
     order by lower(l.locale_key)`,
    [
      workspaceId,
      address.kind,
      address.campaignId,
      address.messageId,
      address.stepId,
      localeId ?? null,
      wanted === "source",
    ],
  );
  const [first] = rows;
  if (!first) return undefined;
  const { channel, multiLanguage, source } = first;
  return {
    message: channel === null ? undefined : { channel, multiLanguage, source },
    isLocale: first.isLocale === true,
    // A translation into a removed locale is kept until the locale returns.
    translations: rows.flatMap(({ locale, map }) =>
      locale && map ? [{ locale, map: JSON.parse(map) as TranslationMap }] : [],
    ),
  };
}

export type CampaignAddress = Pick<MessageAddress, "kind" | "campaignId">;

export interface ListedTranslation {
  readonly messageId: string;
  /** Null in a campaign. */
  readonly stepId: string | null;
  readonly locale: Locale;
  readonly map: TranslationMap;
}

/** How many bytes the translations of all messages of a campaign or canvas have. */
export async function selectTranslationBytes(
  database: Queryable,
  workspaceId: number,
  { kind, campaignId }: CampaignAddress,
): Promise<number> {
  const [row] = await database.query<{ bytes: number }>(
    `select coalesce(sum(t.byte_length), 0)::int8 as bytes from messages m
     join message_translations t on t.workspace_id = m.workspace_id and t.message_id = m.message_id
     where m.workspace_id = $1 and m.kind = $2 and m.campaign_id = $3`,
    [workspaceId, kind, campaignId],
  );
  return Number(row?.bytes ?? 0);
}

/** The messages of a campaign or canvas, and the translations of those that can be translated. */
export interface FoundMessages {
  readonly messages: readonly Pick<Message, "channel" | "multiLanguage">[];
  readonly translations: readonly ListedTranslation[];
}

/**
 * Reads the translations of all messages of a campaign or canvas that can be translated.
 *
 * @returns undefined if there is no such campaign or canvas.
 */
export async function selectAllTranslations(
  database: Queryable,
  workspaceId: number,
  { kind, campaignId }: CampaignAddress,
): Promise<FoundMessages | undefined> {
  const rows = await database.query<
    Omit<ListedTranslation, "locale" | "map"> &
      Pick<FoundRow, "locale" | "map"> &
      FoundMessages["messages"][number]
  >(
    `select m.message_id as "messageId", m.step_id as "stepId", m.channel,
       m.multi_language as "multiLanguage",
       case when l.locale_id is not null then jsonb_build_object('id', l.locale_id, 'name', l.name,
         'country', l.country, 'language', l.language, 'localeKey', l.locale_key) end as locale,
       t.translation_map::text as map
     from campaigns c
     left join messages m on m.workspace_id = c.workspace_id and m.kind = c.kind
       and m.campaign_id = c.campaign_id
     left join message_translations t on t.workspace_id = m.workspace_id
       and t.message_id = m.message_id and m.channel = 'email' and m.multi_language
     left join locales l on l.workspace_id = t.workspace_id and l.locale_id = t.locale_id
     where c.workspace_id = $1 and c.kind = $2 and c.campaign_id = $3
     order by array_position(c.step_ids, m.step_id), m.message_id, lower(l.locale_key)`,
    [workspaceId, kind, campaignId],
  );
  if (rows.length === 0) return undefined;
  const translations = rows.flatMap(({ messageId, stepId, locale, map }) =>
    locale && map ? [{ messageId, stepId, locale, map: JSON.parse(map) as TranslationMap }] : [],
  );
  return { messages: rows.filter(({ messageId }) => messageId !== null), translations };
}

export async function selectTranslations(
  database: Queryable,
  workspaceId: number,
  messageIds: readonly string[],
): Promise<(Translation & Declared)[]> {
  const rows = await database.query<Omit<Translation, "map"> & Declared & { map: string }>(
    `select message_id as "messageId", locale_id as "localeId", translation_map::text as map, declared
     from message_translations where workspace_id = $1 and message_id = any($2::uuid[])`,
    [workspaceId, messageIds],
  );
  return rows.map((row) => ({ ...row, map: JSON.parse(row.map) as TranslationMap }));
}

/** Sets translations. A declared one stays declared. The messages must be locked. */
export async function upsertTranslations(
  tx: Transaction,
  workspaceId: number,
  translations: readonly Translation[],
  declared: boolean,
): Promise<void> {
  if (translations.length === 0) return;
  await tx.query(
    `insert into message_translations
       (workspace_id, message_id, locale_id, translation_map, byte_length, declared)
     select $1, message_id, locale_id, map::json, byte_length, $6
     from unnest($2::uuid[], $3::uuid[], $4::text[], $5::int[])
       as new (message_id, locale_id, map, byte_length)
     on conflict (workspace_id, message_id, locale_id) do update
       set translation_map = excluded.translation_map, byte_length = excluded.byte_length,
         declared = message_translations.declared or excluded.declared`,
    [
      workspaceId,
      ...listsOf(translations, "messageId", "localeId"),
      translations.map((each) => JSON.stringify(each.map)),
      translations.map((each) => jsonByteLength(each.map)),
      declared,
    ],
  );
}

/** The messages whose translations together exceed a limit. */
export async function selectOversized(
  tx: Transaction,
  workspaceId: number,
  messageIds: readonly string[],
  limitBytes: number,
): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(
    `select message_id as id from message_translations
     where workspace_id = $1 and message_id = any($2::uuid[])
     group by message_id having sum(byte_length) > $3`,
    [workspaceId, messageIds, limitBytes],
  );
  return rows.map((row) => row.id);
}

/** Removes single translations. @returns how many were there. */
export const deleteTranslations = (
  tx: Transaction,
  workspaceId: number,
  translations: readonly Pick<Translation, "messageId" | "localeId">[],
) =>
  tx.execute(
    `delete from message_translations t
     using unnest($2::uuid[], $3::uuid[]) as gone (message_id, locale_id)
     where t.workspace_id = $1 and t.message_id = any($2::uuid[])
       and t.message_id = gone.message_id and t.locale_id = gone.locale_id`,
    [workspaceId, ...listsOf(translations, "messageId", "localeId")],
  );

export const deleteTranslationsOf = (
  tx: Transaction,
  workspaceId: number,
  messageIds: readonly string[],
) =>
  tx.execute(
    "delete from message_translations where workspace_id = $1 and message_id = any($2::uuid[])",
    [workspaceId, messageIds],
  );
