/* Acme, a company with something on every page: its declarations, as a manifest. */
import { randomUUID } from "node:crypto";

export const WORKSPACE = "acme";

/** Ids that addresses of pages and requests name. */
export const IDS = {
  newsletter: "ed06e19a-51bb-4c4e-8a3d-9b4a7d3a1c20",
  productNews: "5b1d7e0c-93a4-4c1c-8c53-0f6f0f2a7b11",
  deliveries: "1f6a0f0b-43d4-4b1c-8f43-5a3c6e0d7b9e",
  offers: "c0a5b7d2-1e0f-4b53-9d3c-6a2f8e4d9c75",
  web: "7f1c0a52-6a0e-4a3e-9d55-0c9b1f3c2d11",
  ios: "2d8b6f3a-8c1e-4d27-b5a9-31f7c6e0a942",
  android: "94e3a1c7-5f02-4b6d-8e10-d7c2b9a4f368",
  center: "6f0ae4ac-64a1-4d0f-9b38-8e3a1c4d5e61",
  ownCenter: "0b7c1d2e-3f40-4a51-8b62-9c73ad84be95",
  welcome: "9c3d7a10-62f0-4f0b-b7ce-5f7f1f6b2c21",
  crm: "0b2f5c1e-6d0f-4e5e-9f43-2d1c0c8f6a11",
} as const;

/** The secrets of its API keys, by their names. */
export const KEYS = {
  "checkout-service": "the-key-of-the-checkout-service",
  "mobile-app": "the-key-of-the-mobile-app",
  "support-tools": "the-key-of-the-support-tools",
} as const;

const LOGO = `data:image/svg+xml;base64,${Buffer.from(
  '<svg xmlns="http://www.w3.org/2000/svg" width="116" height="36" viewBox="0 0 116 36"><rect width="36" height="36" rx="9" fill="#0b6e4f"/>' +
    '<path d="M18 9l9 18h-5l-4-8-4 8H9z" fill="#fff"/><text x="46" y="25" font-family="sans-serif" font-size="20" font-weight="700" fill="#0b6e4f">Acme</text></svg>',
).toString("base64")}`;

const locale = (name: string, language: string, country: string, locale_key: string) => ({
  id: randomUUID(),
  name,
  language,
  country,
  locale_key,
});

/** Marks each text of a message as a string with its name. */
const marked = (strings: Readonly<Record<string, string>>): string =>
  Object.entries(strings)
    .map(([name, text]) => `<p>{% translation ${name} %}${text}{% endtranslation %}</p>`)
    .join("\n");

const WELCOME_STRINGS = {
  subject: "Welcome to Acme",
  preheader: "Three things to try first",
  greeting: "Hello and welcome!",
  intro: "You are part of Acme now. Here is how to get the most out of it.",
  step_1: "Save what you like with the heart, and find it in your list.",
  step_2: "Turn on delivery alerts, so that no parcel waits at the door.",
  step_3: "Invite a friend: both of you get ten percent off the next order.",
  call_to_action: "Start shopping",
  support: "Questions? Reply to this message, a person reads it.",
  farewell: "Enjoy, your team at Acme",
};

const WELCOME_TRANSLATIONS = {
  "de-DE": {
    subject: "Willkommen bei Acme",
    preheader: "Drei Dinge für den Anfang",
    greeting: "Hallo und herzlich willkommen!",
    intro: "Schön, dass Sie da sind. So holen Sie das Beste heraus.",
    step_1: "Merken Sie sich mit dem Herz, was Ihnen gefällt.",
    step_2: "Schalten Sie Lieferhinweise ein, damit kein Paket vor der Tür wartet.",
    step_3: "Laden Sie Freunde ein: beide sparen zehn Prozent.",
    call_to_action: "Jetzt stöbern",
    support: "Fragen? Antworten Sie einfach auf diese Nachricht.",
    farewell: "Viel Freude wünscht Ihr Team von Acme",
  },
  "es-MX": {
    subject: "Te damos la bienvenida a Acme",
    greeting: "¡Hola!",
    intro: "Ya eres parte de Acme. Así le sacas más provecho.",
    step_1: "Guarda lo que te gusta con el corazón.",
    call_to_action: "Empieza a comprar",
  },
  "fr-FR": {
    subject: "Bienvenue chez Acme",
    preheader: "Trois choses à essayer",
    greeting: "Bonjour et bienvenue !",
    intro: "Vous faites maintenant partie d’Acme.",
    call_to_action: "Découvrir la boutique",
    support: "Une question ? Répondez à ce message.",
    farewell: "À bientôt, l’équipe Acme",
  },
  ar: {
    subject: "مرحبًا بك في Acme",
    greeting: "أهلًا وسهلًا!",
    call_to_action: "ابدأ التسوق",
  },
};

const message = (channel: "email" | "sms" | "whatsapp", strings: Record<string, string>) => ({
  id: randomUUID(),
  channel,
  multi_language: true,
  content: { ...(channel === "email" && { subject: "{{ subject }}" }), body: marked(strings) },
});

const OWN_PAGE = `<main class="page">
  <h1>{% translation title %}Choose what you hear from us{% endtranslation %}</h1>
  <p>{% translation intro %}Change your mind whenever you like.{% endtranslation %}</p>
  <form method="post" action="{{ preference_center_submit_url }}">
    {% for group in reachable_groups %}
    <label>
      <input type="checkbox" name="{{ group.field_name }}"
        {% if group.state == "subscribed" %}checked{% endif %}>
      {{ group.name }} <small>{{ group.description }}</small>
    </label>
    {% endfor %}
    <button>{% translation save %}Save my choices{% endtranslation %}</button>
  </form>
</main>
<style>
  .page { max-width: 32rem; margin: 3rem auto; padding: 0 1.5rem; font: 16px/1.5 system-ui }
  h1 { color: {{ brand.color }} }
  label { display: block; padding: 0.75rem 0; border-top: 1px solid #e3e6ea }
  small { display: block; margin-left: 1.6rem; color: #5b6573 }
  button { margin-top: 1rem; padding: 0.75rem 1.5rem; border: 0; border-radius: 0.5rem;
    background: {{ brand.color }}; color: {{ brand.on_color }}; font: inherit }
</style>
`;

/** @param warehouse the file that the integration reads. */
export const manifestOf = (warehouse: string) => ({
  company: {
    name: "Acme",
    permission_sets: [
      {
        name: "Support",
        permissions: ["basic_access", "view_user_profile", "view_pii", "dev_console"],
      },
      { name: "Marketing", permissions: ["basic_access", "send_campaigns_canvases"] },
    ],
  },
  workspaces: [
    { name: "acme-labs", apps: [] },
    {
      name: WORKSPACE,
      allow_reset: true,
      settings: {
        multi_language: true,
        blocked_external_ids: ["null", "undefined"],
        rate_limits: {
          "users.track": "off",
          "users.export.ids": { requests: 1_000, per_seconds: 60 },
        },
        brand: { company: "Acme", logo_url: LOGO, color: "#0b6e4f", color_dark: "#5cd6a9" },
      },
      api_keys: Object.entries(KEYS).map(([name, key]) => ({
        name,
        key,
        permissions: name === "support-tools" ? ["users.export.ids", "users.merge"] : ["all"],
      })),
      teams: [{ name: "Europe" }, { name: "Loyalty" }],
      apps: [
        { id: IDS.web, name: "Web shop", platform: "web" },
        { id: IDS.ios, name: "Acme for iPhone", platform: "ios" },
        { id: IDS.android, name: "Acme for Android", platform: "android" },
      ],
      subscription_groups: [
        {
          id: IDS.newsletter,
          name: "Newsletter",
          channel: "email",
          description: "News, once a month.",
        },
        {
          id: IDS.productNews,
          name: "Product news",
          channel: "email",
          description: "When something ships that you use.",
        },
        {
          id: IDS.deliveries,
          name: "Delivery alerts",
          channel: "sms",
          description: "On the day your order arrives.",
        },
        { id: IDS.offers, name: "Offers", channel: "whatsapp" },
      ],
      locales: [
        locale("German", "de", "DE", "de-DE"),
        locale("Spanish (Mexico)", "es", "MX", "es-MX"),
        locale("French", "fr", "FR", "fr-FR"),
        locale("Arabic", "ar", "", "ar"),
      ],
      campaigns: [
        {
          id: randomUUID(),
          name: "Welcome",
          messages: [
            {
              id: IDS.welcome,
              channel: "email",
              multi_language: true,
              content: { body: marked(WELCOME_STRINGS) },
              translations: WELCOME_TRANSLATIONS,
            },
            message("sms", { text: "Welcome to Acme! Reply STOP to end." }),
          ],
        },
        {
          id: randomUUID(),
          name: "Abandoned cart",
          messages: [
            message("email", { subject: "You left something behind", action: "Back to the cart" }),
            message("whatsapp", { text: "Your cart is waiting." }),
          ],
        },
        {
          id: randomUUID(),
          name: "Order shipped",
          messages: [message("sms", { text: "Your order is on its way." })],
        },
      ],
      canvases: [
        {
          id: randomUUID(),
          name: "Onboarding",
          steps: ["Day one", "Three days later", "After a week"].map((text, step) => ({
            id: randomUUID(),
            messages: [
              message("email", { subject: text, body: "Here is what to try next." }),
              ...(step === 1 ? [message("sms", { text: "Try the app" })] : []),
            ],
          })),
        },
      ],
      preference_centers: [
        { id: IDS.center, name: "acme", title: "Your preferences" },
        {
          id: IDS.ownCenter,
          name: "loyalty-club",
          title: "Loyalty club",
          page_html: OWN_PAGE,
          translations: { de: { title: "Was möchten Sie von uns hören?", save: "Speichern" } },
        },
      ],
      integrations: [
        {
          id: IDS.crm,
          name: "CRM users",
          type: "attributes",
          schedule: "*/15 * * * *",
          contact_emails: "data@acme.example",
          retry: { attempts: 1 },
          warehouse: { type: "files", url: warehouse, format: "csv" },
        },
        {
          id: randomUUID(),
          name: "Orders",
          type: "purchases",
          status: "paused",
          warehouse: {
            type: "postgres",
            url: "postgres://reader:secret@warehouse.acme.example/analytics",
            table: "public.orders_to_sync",
          },
        },
      ],
    },
  ],
});
