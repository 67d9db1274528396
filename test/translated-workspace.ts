/* A workspace with one campaign and one canvas to translate, for the tests of translations. */

export const SPANISH = "11111111-0000-4000-8000-000000000001";
export const FRENCH = "11111111-0000-4000-8000-000000000002";
export const WELCOME = "22222222-0000-4000-8000-000000000001";
export const WELCOME_MAIL = "33333333-0000-4000-8000-000000000001";
export const WELCOME_TEXT = "33333333-0000-4000-8000-000000000002";
export const PLAIN_MAIL = "33333333-0000-4000-8000-000000000003";
export const ONBOARDING = "44444444-0000-4000-8000-000000000001";
export const FIRST_STEP = "55555555-0000-4000-8000-000000000001";
export const SECOND_STEP = "55555555-0000-4000-8000-000000000002";
export const STEP_MAIL = "33333333-0000-4000-8000-000000000004";
export const STEP_TEXT = "33333333-0000-4000-8000-000000000005";
export const STEP_PLAIN_MAIL = "33333333-0000-4000-8000-000000000006";

/** An unused id. */
export const NOBODY = "99999999-0000-4000-8000-000000000009";

export const spanish = {
  id: SPANISH,
  name: "Spanish (Mexico)",
  country: "Mexico",
  language: "Spanish",
  locale_key: "es-MX",
};

export const french = {
  id: FRENCH,
  name: "French",
  country: "France",
  language: "French",
  locale_key: "fr-FR",
};

export const SOURCE = { id_0: "Hello", id_1: "Buy now" };

export const HOLA = { id_0: "Hola", id_1: "Compra ahora" };

const translated = (id: string) => ({
  id,
  channel: "email",
  multi_language: true,
  source: SOURCE,
  translations: { "es-MX": HOLA },
});

/** The additional contents of the workspace. */
export const translatedWorkspace = () => ({
  settings: { multi_language: true },
  locales: [spanish, french],
  campaigns: [
    {
      id: WELCOME,
      name: "Welcome",
      messages: [
        translated(WELCOME_MAIL),
        { id: WELCOME_TEXT, channel: "sms", multi_language: true, source: SOURCE },
        { id: PLAIN_MAIL, channel: "email", multi_language: false, source: SOURCE },
      ],
    },
  ],
  canvases: [
    {
      id: ONBOARDING,
      name: "Onboarding",
      steps: [
        {
          id: FIRST_STEP,
          messages: [
            translated(STEP_MAIL),
            { id: STEP_TEXT, channel: "whatsapp", multi_language: true, source: SOURCE },
            { id: STEP_PLAIN_MAIL, channel: "email", source: SOURCE },
          ],
        },
        { id: SECOND_STEP, messages: [] },
      ],
    },
  ],
});

export type Ids = Record<string, string | undefined>;

export const inCampaign = (ids: Ids = {}): Ids => ({
  campaign_id: WELCOME,
  message_variation_id: WELCOME_MAIL,
  ...ids,
});

export const inCanvas = (ids: Ids = {}): Ids => ({
  workflow_id: ONBOARDING,
  step_id: FIRST_STEP,
  message_variation_id: STEP_MAIL,
  ...ids,
});

/** A path with ids in its query string; undefined ones are left out. */
export function withQuery(path: string, ids: Ids): string {
  const given = Object.entries(ids).filter(([, value]) => value !== undefined);
  return `${path}?${new URLSearchParams(given as [string, string][])}`;
}
