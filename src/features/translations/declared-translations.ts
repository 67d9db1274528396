import Type, { type Static } from "typebox";
import { groupBy } from "../../core/base/values/group-by.ts";
import type { Transaction } from "../../core/database/database.ts";
import type { MessageExtension, MessagePart, TranslationMap } from "../campaigns/feature.ts";
import { type ManifestPath, refusalAt, refuseFaulty, refuseTwice } from "../campaigns/feature.ts";
import { type Locale, localeKeyForm, localesByKey } from "./locale.ts";
import { selectLocales } from "./locale-store.ts";
import {
  deleteTranslations,
  deleteTranslationsOf,
  selectTranslations,
} from "./translation-store.ts";
import { saveTranslations } from "./write-translations.ts";

type Translations = Readonly<Record<string, TranslationMap>>;

const members = {
  translations: Type.Optional(
    Type.Record(Type.String(), Type.Record(Type.String(), Type.String()), {
      description: "Strings by locale key and id.",
    }),
  ),
};

const Declaration = Type.Object(members);

type Stored = Awaited<ReturnType<typeof selectTranslations>>[number];

/** The strings of each message, under the name of each locale. */
function mapsOf(rows: readonly Stored[], nameOf: (row: Stored) => string) {
  const ofMessages = groupBy(rows, ({ messageId }) => messageId);
  return (messageId: string): Translations =>
    Object.fromEntries((ofMessages.get(messageId) ?? []).map((row) => [nameOf(row), row.map]));
}

/** Translations are declared with their messages, and removed with them. */
export const messageTranslations: MessageExtension<Translations> = {
  members,
  textsOf: (declared) => Object.values((declared as Static<typeof Declaration>).translations ?? {}),
  async reader(tx, workspaceId) {
    const locales = localesByKey(await selectLocales(tx, workspaceId));
    return (declared, place) => readDeclared(declared, [...place, "translations"], locales);
  },
  async declared(tx, workspaceId, messageIds) {
    const rows = await selectTranslations(tx, workspaceId, messageIds);
    return mapsOf(
      rows.filter((row) => row.declared),
      ({ localeId }) => localeId,
    );
  },
  async declaration(database, workspaceId, messageIds) {
    const rows = await selectTranslations(database, workspaceId, messageIds);
    const keys = new Map(
      (await selectLocales(database, workspaceId)).map(({ id, localeKey }) => [id, localeKey]),
    );
    const maps = mapsOf(rows, ({ localeId }) => keys.get(localeId) ?? localeId);
    return (messageId) => ({ translations: maps(messageId) });
  },
  replace: replaceTranslations,
  remove: deleteTranslationsOf,
};

/** @throws Problem INVALID_REQUEST with the place of an unknown locale or an invalid text. */
function readDeclared(
  { translations }: Static<typeof Declaration>,
  place: ManifestPath,
  locales: ReadonlyMap<string, Locale>,
): Translations | undefined {
  if (!translations) return undefined;
  refuseTwice(place, "locale", Object.keys(translations).map(localeKeyForm));
  const maps = Object.entries(translations).map(([key, map]) => {
    const locale = locales.get(localeKeyForm(key));
    if (!locale) throw refusalAt(place, `has '${key}', which is not a locale of the workspace.`);
    refuseFaulty(map, [...place, key]);
    return [locale.id, map] as const;
  });
  return Object.fromEntries(maps);
}

/** Skips messages whose declaration has no translations: they may be written concurrently. */
async function replaceTranslations(
  tx: Transaction,
  workspaceId: number,
  before: readonly MessagePart<Translations>[],
  after: readonly MessagePart<Translations>[],
): Promise<void> {
  const declared = new Set(after.filter((each) => each.part).map((each) => each.messageId));
  const wanted = after.flatMap(translationsOf);
  const kept = new Set(wanted.map((each) => `${each.messageId} ${each.localeId}`));
  const gone = before
    .filter((each) => declared.has(each.messageId))
    .flatMap(translationsOf)
    .filter((each) => !kept.has(`${each.messageId} ${each.localeId}`));
  if (gone.length > 0) await deleteTranslations(tx, workspaceId, gone);
  await saveTranslations(tx, workspaceId, wanted, true);
}

const translationsOf = ({ messageId, part }: MessagePart<Translations>) =>
  Object.entries(part ?? {}).map(([localeId, map]) => ({ messageId, localeId, map }));
