/* The message that the workspace of a benchmark has translated. */

export const MESSAGE_IDS = {
  campaign: "22222222-0000-4000-8000-000000000001",
  message: "33333333-0000-4000-8000-000000000001",
} as const;

const LOCALES = 40;
const STRINGS = 500;

const localeKey = (locale: number): string => `x-${locale}`;

/** The workspace's part of a manifest. */
export function translatedMessage() {
  const strings = (locale: number) =>
    Object.fromEntries(
      Array.from({ length: STRINGS }, (_, index) => [
        `id_${index}`,
        `${locale} ${"text ".repeat(14)}`,
      ]),
    );
  const locales = Array.from({ length: LOCALES }, (_, locale) => locale);
  return {
    locales: locales.map((locale) => ({
      id: `11111111-0000-4000-8000-0000000000${String(locale).padStart(2, "0")}`,
      name: `Locale ${locale}`,
      country: "Country",
      language: "Language",
      locale_key: localeKey(locale),
    })),
    campaigns: [
      {
        id: MESSAGE_IDS.campaign,
        name: "Welcome",
        messages: [
          {
            id: MESSAGE_IDS.message,
            channel: "email",
            multi_language: true,
            source: strings(0),
            translations: Object.fromEntries(
              locales.map((locale) => [localeKey(locale), strings(locale)]),
            ),
          },
        ],
      },
    ],
  };
}
