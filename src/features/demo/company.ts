import { IDS } from "./shop.ts";

const LOGO = `data:image/svg+xml;base64,${Buffer.from(
  '<svg xmlns="http://www.w3.org/2000/svg" width="150" height="36" viewBox="0 0 150 36"><circle cx="18" cy="18" r="18" fill="#0f5c6e"/>' +
    '<path d="M5 20q6.5-7 13 0t13 0" stroke="#fff" stroke-width="3" fill="none"/><text x="46" y="25" font-family="sans-serif" ' +
    'font-size="20" font-weight="700" fill="#0f5c6e">Tidewick</text></svg>',
).toString("base64")}`;

/** Ids of the message that has translations, and of what belongs to it. */
const MESSAGES = {
  welcome: "6d2f8b1e-5c47-4a90-b3e6-1f7c9a0d8e52",
  welcomeMail: "e17c4a5d-08f3-4b62-9d1a-7b5e3c6f2094",
  lull: "27b9e0c6-4d1f-4835-a6c2-9e8d5f7b1a03",
  lullMail: "c85f1d37-a2e4-4096-8b7d-3f6a0e9c5d14",
  lullText: "91d3f6a8-7b0c-4e25-bf48-5a2c8e1d6079",
};

/** Marks each text as a string with its name. */
const marked = (strings: Readonly<Record<string, string>>): string =>
  Object.entries(strings)
    .map(([name, text]) => `<p>{% translation ${name} %}${text}{% endtranslation %}</p>`)
    .join("\n");

const WELCOME = {
  greeting: "Welcome aboard!",
  intro: "You joined Tidewick. Your first parcel travels free, whatever is in it.",
  step_1: "Tell us which tea you like, and we put a sample of another one into the parcel.",
  step_2: "Send the empty tin back to us: a refill costs a fifth less.",
  call_to_action: "Look around",
  farewell: "The four of us at Tidewick",
};

const WELCOME_TRANSLATIONS = {
  "de-DE": {
    greeting: "Willkommen an Bord!",
    intro: "Schön, dass Sie da sind. Ihr erstes Paket reist kostenlos, was auch immer darin ist.",
    step_1: "Verraten Sie uns Ihren liebsten Tee, und wir legen eine Probe eines anderen dazu.",
    step_2: "Schicken Sie die leere Dose zurück: Nachfüllen kostet ein Fünftel weniger.",
    call_to_action: "Umsehen",
    farewell: "Wir vier von Tidewick",
  },
  "fr-FR": {
    greeting: "Bienvenue à bord !",
    intro: "Vous avez rejoint Tidewick. Votre premier colis voyage gratuitement.",
    step_1: "Dites-nous quel thé vous aimez : nous glisserons un échantillon d’un autre.",
    step_2: "Renvoyez la boîte vide : la recharge coûte un cinquième de moins.",
    call_to_action: "Faire un tour",
    farewell: "Nous quatre, de Tidewick",
  },
  // Two texts are still to be translated.
  "es-ES": {
    greeting: "¡Te damos la bienvenida a bordo!",
    intro: "Ya eres de Tidewick. Tu primer paquete viaja gratis.",
    step_1: "Dinos qué té te gusta y pondremos una muestra de otro en el paquete.",
    call_to_action: "Echa un vistazo",
  },
};

/** What the shop declares: a manifest. It adds to the workspace of a first start and leaves its key as it is. */
export const MANIFEST = {
  company: { name: "Tidewick" },
  workspaces: [
    {
      name: "demo",
      allow_reset: true,
      settings: {
        multi_language: true,
        brand: { company: "Tidewick", logo_url: LOGO, color: "#0f5c6e", color_dark: "#6fd0e3" },
      },
      apps: [
        { id: IDS.web, name: "Web shop", platform: "web" },
        { id: IDS.ios, name: "Tidewick for iPhone", platform: "ios" },
        { id: IDS.android, name: "Tidewick for Android", platform: "android" },
      ],
      subscription_groups: [
        {
          id: IDS.newsletter,
          name: "Newsletter",
          channel: "email",
          description: "What is in season, on Thursdays.",
        },
        {
          id: IDS.offers,
          name: "Offers",
          channel: "email",
          description: "When something costs less, four times a year.",
        },
        {
          id: IDS.deliveries,
          name: "Delivery alerts",
          channel: "sms",
          description: "On the day on which your parcel arrives.",
        },
      ],
      locales: [
        {
          id: "a0c5e7d9-13b2-4f68-8d40-6e9b2c7f5a31",
          name: "German",
          language: "de",
          country: "DE",
          locale_key: "de-DE",
        },
        {
          id: "58e1b3f7-c9a6-4d02-97e5-0b4d8f2a6c13",
          name: "French",
          language: "fr",
          country: "FR",
          locale_key: "fr-FR",
        },
        {
          id: "f2d40a9c-6e81-4b57-a3c9-e5170d8b6f42",
          name: "Spanish",
          language: "es",
          country: "ES",
          locale_key: "es-ES",
        },
      ],
      campaigns: [
        {
          id: MESSAGES.welcome,
          name: "Welcome",
          messages: [
            {
              id: MESSAGES.welcomeMail,
              channel: "email",
              multi_language: true,
              content: {
                subject:
                  "{% translation subject %}Your first parcel travels free{% endtranslation %}",
                body: marked(WELCOME),
              },
              translations: WELCOME_TRANSLATIONS,
            },
          ],
        },
        {
          id: MESSAGES.lull,
          name: "Come back",
          messages: [
            {
              id: MESSAGES.lullMail,
              channel: "email",
              content: { subject: "Is the tin empty?", body: "<p>We kept your favourite.</p>" },
            },
            {
              id: MESSAGES.lullText,
              channel: "sms",
              content: {
                body: "Is the tin empty? A refill costs a fifth less. Reply STOP to end.",
              },
            },
          ],
        },
      ],
      preference_centers: [{ id: IDS.center, name: "main" }],
      segments: [
        {
          id: "7c0e9d42-8f15-4b3a-96d7-2a1f5e8c0b64",
          name: "Repeat buyers",
          description: "Bought on two occasions or more in a month, and can be mailed.",
          tags: ["loyalty"],
          filter: {
            all: [{ purchases: "any", at_least: 2, in_last_days: 30 }, { email_available: true }],
          },
        },
        {
          id: "0a6b4f8d-31e7-42c9-85b0-d7c9e2f16a53",
          name: "New this month",
          filter: { event: "signed_up", in_last_days: 30 },
        },
        {
          id: "d92e7c15-b640-4f8a-a1d3-8e5f0c3b7a96",
          name: "Club, in the euro countries",
          tags: ["loyalty"],
          filter: {
            all: [
              { custom_attribute: "plan", equals: "club" },
              { attribute: "country", one_of: ["AT", "DE", "ES", "FR"] },
            ],
          },
        },
        {
          id: "35f8a1c7-0d9b-4e64-b72e-c6d1f9083e5a",
          name: "Left something in the cart",
          description: "Put something into the cart this week and bought nothing in that time.",
          filter: {
            all: [
              { event: "added_to_cart", in_last_days: 7 },
              { not: { purchases: "any", at_least: 1, in_last_days: 7 } },
            ],
          },
        },
        {
          id: "4f8a2c60-e9d5-4713-8c3b-d0b6e7f19a25",
          name: "Bought once, long ago",
          description: "One purchase of the last 90 days at most, and none in the last 30.",
          filter: {
            all: [
              { purchases: "any", exactly: 1 },
              { not: { purchases: "any", at_least: 1, in_last_days: 30 } },
            ],
          },
        },
      ],
    },
  ],
};
