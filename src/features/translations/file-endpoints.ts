import Type from "typebox";
import type { WorkspaceContext } from "../../core/base/context/context.ts";
import { named, Success } from "../../core/base/values/schemas.ts";
import { ItemNote } from "../../core/base/verdicts.ts";
import { byAdministratorOfWorkspace, endpoint } from "../../core/http/endpoint.ts";
import type { TextServices } from "../campaigns/feature.ts";
import { MESSAGE_PATH, OfMessage } from "../campaigns/feature.ts";
import { exportTranslations, importTranslations } from "./exchange-translations.ts";
import type { FileFormat } from "./translation-file.ts";

/* Exports and imports all translations of a message as a file for translators. */

const locale_id = Type.Optional(Type.String({ format: "uuid", description: "Only this locale." }));

const Imported = Type.Object({
  imported: Type.Array(
    named("ImportedTranslations", {
      locale_key: Type.String(),
      strings: Type.Integer({ description: "How many were set." }),
      missing: Type.Array(Type.String(), { description: "Ids that are not translated yet." }),
    }),
  ),
  skipped: Type.Optional(Type.Array(ItemNote, { description: "The first 1,000." })),
  skipped_count: Type.Optional(Type.Integer({ description: "How many there are." })),
  message: Success,
});

async function importFile(
  services: TextServices,
  context: WorkspaceContext,
  { id }: { readonly id: string },
  format: FileFormat,
  text: string,
) {
  const done = await importTranslations(services, context, id, { format, text });
  const imported = done.imported.map(({ locale, count, missing }) => ({
    locale_key: locale.localeKey,
    strings: count,
    missing: [...missing],
  }));
  const skipped = done.skippedCount > 0 && {
    skipped: [...done.skipped],
    skipped_count: done.skippedCount,
  };
  return { status: 200 as const, body: { imported, ...skipped, message: "success" as const } };
}

const exportCsv = endpoint({
  name: "exportTranslationsAsCsv",
  method: "GET",
  path: `${MESSAGE_PATH}/translations.csv`,
  summary: "Exports the strings of a message and their translations as CSV.",
  access: byAdministratorOfWorkspace("basic_access"),
  params: OfMessage,
  query: Type.Object({ locale_id }),
  produces: "text/csv",
  replies: { 200: Type.String() },
}).handledBy(async (services: TextServices, context, { params, query }) => {
  const form = { format: "CSV", localeId: query.locale_id } as const;
  const body = await exportTranslations(services, context, params.id, form);
  return { status: 200, body, headers: attachment(`${params.id}.csv`) };
});

const importCsv = endpoint({
  name: "importTranslationsFromCsv",
  method: "PUT",
  path: `${MESSAGE_PATH}/translations.csv`,
  summary: "Imports translations from CSV; strings missing from the file are unchanged.",
  access: byAdministratorOfWorkspace("send_campaigns_canvases"),
  params: OfMessage,
  accepts: ["text/csv"],
  body: Type.String(),
  replies: { 200: Imported },
}).handledBy(async (services: TextServices, context, { params, body }) =>
  importFile(services, context, params, "CSV", body),
);

const exportXliff = endpoint({
  name: "exportTranslationsAsXliff",
  method: "GET",
  path: `${MESSAGE_PATH}/translations.xliff`,
  summary: "Exports the strings of a message and their translations as XLIFF 1.2.",
  access: byAdministratorOfWorkspace("basic_access"),
  refusals: ["CONFLICT"],
  params: OfMessage,
  query: Type.Object({
    locale_id,
    source_language: Type.Optional(
      Type.String({
        pattern: "^[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*$",
        description: "The language of the source strings, such as en; und by default.",
      }),
    ),
  }),
  produces: "application/xliff+xml",
  replies: { 200: Type.String() },
}).handledBy(async (services: TextServices, context, { params, query }) => {
  const { locale_id: localeId, source_language: sourceLanguage } = query;
  const form = { format: "XLIFF", localeId, sourceLanguage } as const;
  const body = await exportTranslations(services, context, params.id, form);
  return { status: 200, body, headers: attachment(`${params.id}.xliff`) };
});

const importXliff = endpoint({
  name: "importTranslationsFromXliff",
  method: "PUT",
  path: `${MESSAGE_PATH}/translations.xliff`,
  summary: "Imports translations from XLIFF 1.2; strings missing from the file are unchanged.",
  access: byAdministratorOfWorkspace("send_campaigns_canvases"),
  params: OfMessage,
  accepts: ["application/xliff+xml", "application/xml", "text/xml"],
  body: Type.String(),
  replies: { 200: Imported },
}).handledBy(async (services: TextServices, context, { params, body }) =>
  importFile(services, context, params, "XLIFF", body),
);

/** Makes browsers save the file instead of showing it as a page. */
const attachment = (name: string) => ({
  "content-disposition": `attachment; filename="${name}"`,
  "x-content-type-options": "nosniff",
});

export const translationFileEndpoints = [exportCsv, importCsv, exportXliff, importXliff];
