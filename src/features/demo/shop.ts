/*
 * Tidewick, an invented shop for tea and tableware, and the places its customers live in. Telephone numbers come from the
 * ranges that regulators keep for films, where these count as existing numbers.
 */

/** Ids that guides and tests name. The first of each kind is also in the workspace of a first start. */
export const IDS = {
  web: "7f1c0a52-6a0e-4a3e-9d55-0c9b1f3c2d11",
  ios: "3a6e1d84-0b7f-4c92-a5e3-8d1f6c20b947",
  android: "b81d5f30-92c4-4e6a-8f07-64a3e9d1c52b",
  newsletter: "ed06e19a-51bb-4c4e-8a3d-9b4a7d3a1c20",
  offers: "d4a7c3e1-6f28-4b05-9c71-2e8b5d90a634",
  deliveries: "1f6a0f0b-43d4-4b1c-8f43-5a3c6e0d7b9e",
  center: "0f4e6c1a-7d02-4c55-9a3e-2b8d51c7f6a4",
} as const;

export interface Product {
  readonly id: string;
  readonly name: string;
  readonly category: string;
  /** In euros. */
  readonly price: number;
  readonly weight: number;
}

const product = (id: string, name: string, category: string, price: number, weight: number) => ({
  id,
  name,
  category,
  price,
  weight,
});

export const PRODUCTS: readonly Product[] = [
  product("harbour-breakfast-100g", "Harbour Breakfast, 100 g", "black tea", 7.9, 12),
  product("harbour-breakfast-500g", "Harbour Breakfast, 500 g", "black tea", 29.9, 5),
  product("night-ferry-100g", "Night Ferry, smoked, 100 g", "black tea", 9.5, 5),
  product("low-tide-sencha-100g", "Low Tide Sencha, 100 g", "green tea", 12.9, 8),
  product("marram-green-100g", "Marram Green, 100 g", "green tea", 10.9, 5),
  product("samphire-matcha-30g", "Samphire Matcha, 30 g", "green tea", 24.5, 4),
  product("sea-buckthorn-80g", "Sea Buckthorn, 80 g", "herbal tea", 6.9, 9),
  product("dune-rose-80g", "Dune Rose, 80 g", "herbal tea", 7.5, 7),
  product("quiet-evening-80g", "Quiet Evening, 80 g", "herbal tea", 6.5, 8),
  product("twelve-harbours-box", "Twelve Harbours, box of samples", "gifts", 34, 4),
  product("gift-card-25", "Gift card", "gifts", 25, 2),
  product("pebble-cup", "Pebble cup, 250 ml", "tableware", 16, 7),
  product("driftwood-tray", "Driftwood tray", "tableware", 42, 2),
  product("lighthouse-pot", "Lighthouse pot, 1 l", "tableware", 58, 2),
  product("steel-strainer", "Steel strainer", "accessories", 11.5, 5),
  product("tin-with-lid", "Tin with a lid", "accessories", 9, 4),
];

/** Prices in another currency: euros times the rate, rounded to the step. */
export const CURRENCIES: Readonly<
  Record<string, { readonly rate: number; readonly step: number }>
> = {
  EUR: { rate: 1, step: 0.1 },
  GBP: { rate: 0.86, step: 0.1 },
  USD: { rate: 1.1, step: 0.05 },
  CAD: { rate: 1.5, step: 0.05 },
  SEK: { rate: 11.4, step: 1 },
  MXN: { rate: 20, step: 5 },
  JPY: { rate: 165, step: 10 },
};

export interface Place {
  readonly country: string;
  readonly city: string;
  readonly zone: string;
  /** Standard time, in hours from UTC. */
  readonly utcOffset: number;
  readonly language: string;
  readonly currency: string;
  readonly weight: number;
  /** The telephone number of the nth customer here; undefined if there are no more. */
  readonly phone?: (index: number) => string | undefined;
}

/** Numbers that end in so many digits that count up. */
const numbers = (prefix: string, digits: number) => (index: number) =>
  index < 10 ** digits ? `${prefix}${String(index).padStart(digits, "0")}` : undefined;

/** +1 NPA 555 0100 to 0199 */
const american = (area: string) => numbers(`+1${area}55501`, 2);

/** In the order of: country, language, currency. */
const place = (
  [country, city, zone, utcOffset]: readonly [string, string, string, number],
  language: string,
  currency: string,
  weight: number,
  phone?: Place["phone"],
): Place => ({
  country,
  city,
  zone,
  utcOffset,
  language,
  currency,
  weight,
  ...(phone && { phone }),
});

export const PLACES: readonly Place[] = [
  place(["GB", "Bristol", "Europe/London", 0], "en", "GBP", 9),
  place(["GB", "Leeds", "Europe/London", 0], "en", "GBP", 7),
  place(["GB", "Edinburgh", "Europe/London", 0], "en", "GBP", 5),
  place(["DE", "Hamburg", "Europe/Berlin", 1], "de", "EUR", 12, numbers("+4917139200", 2)),
  place(["DE", "Leipzig", "Europe/Berlin", 1], "de", "EUR", 7),
  place(["AT", "Graz", "Europe/Vienna", 1], "de", "EUR", 4),
  place(["FR", "Nantes", "Europe/Paris", 1], "fr", "EUR", 9),
  place(["FR", "Lyon", "Europe/Paris", 1], "fr", "EUR", 6),
  place(["ES", "Valencia", "Europe/Madrid", 1], "es", "EUR", 6),
  place(["MX", "Mérida", "America/Merida", -6], "es", "MXN", 5),
  place(["SE", "Malmö", "Europe/Stockholm", 1], "sv", "SEK", 5),
  place(["US", "Portland", "America/Los_Angeles", -8], "en", "USD", 7, american("503")),
  place(["US", "Chicago", "America/Chicago", -6], "en", "USD", 7, american("312")),
  place(["US", "Boston", "America/New_York", -5], "en", "USD", 7, american("617")),
  place(["CA", "Halifax", "America/Halifax", -4], "en", "CAD", 4, american("902")),
  place(["JP", "Kobe", "Asia/Tokyo", 9], "ja", "JPY", 4),
];

export const NAMES: Readonly<Record<string, readonly [given: string, family: string]>> = {
  en: [
    "Alice Amara Arthur Beth Callum Chloe Daniel Eleanor Ethan Freya George Grace Harvey Imogen Isaac Jade Kwame Leila Maeve Nathan Olivia Owen Priya Rosa Samuel Tessa Toby Violet Wesley Zara",
    "Abbott Achebe Barlow Bennett Carver Chandra Dalton Ellison Farrow Fletcher Garland Hartley Holloway Ingram Kerr Lambert Marlow Naylor Okoro Pemberton Quill Radcliffe Sayers Thornton Underhill Vance Whitlock Yates",
  ],
  de: [
    "Anja Benno Carla Deniz Elif Emil Frieda Greta Hannes Henrike Ines Jannik Jonas Jürgen Katja Lena Levin Marlene Mats Nele Oskar Paula Ronja Sören Tabea Till Ulrike Yusuf",
    "Albers Baumgart Brandt Dreyer Ehlers Förster Gerlach Hagedorn Heise Jansen Kaya Köhler Lindner Lüders Möller Nowak Petersen Reimers Sander Schröder Tietjen Vogt Weiß Yıldız",
  ],
  fr: [
    "Adèle Agathe Amélie Baptiste Camille Chloé Élise Émile Fanny Félix Gabin Hélène Inès Jules Karim Léa Léon Manon Mathis Noé Océane Paul Romane Simon Théo Yasmine",
    "Aubert Bellanger Benali Chevalier Clément Delaunay Dufour Fontaine Garnier Giraud Hamon Jacquet Lefèvre Legrand Marchand Mercier Noël Perrin Poulain Renaud Rolland Traoré Vasseur",
  ],
  es: [
    "Adrián Alba Andrés Beatriz Carmen Clara Diego Elena Emilio Gael Irene Íñigo Julia Lucía Marcos Marina Nicolás Nuria Óscar Pablo Renata Sergio Sofía Tomás Valeria Ximena",
    "Aguilar Blanco Cabrera Campos Domínguez Esquivel Fuentes Gallego Herrero Ibáñez Lozano Medina Montes Navarro Ortega Peña Quiroga Rivas Salgado Tejada Urrutia Vidal Zamora",
  ],
  sv: [
    "Agnes Alva Anton Astrid Björn Ebba Elin Elsa Freja Gustav Hugo Ida Kajsa Lovisa Måns Nils Oskar Saga Stina Tove Vilma Åsa",
    "Bergström Björk Dahlgren Ekdahl Engström Forsberg Hedlund Holmgren Lindqvist Lundell Nyberg Öberg Sandell Sjöberg Strand Wallin Åkesson",
  ],
  ja: [
    "Aoi Asuka Daiki Emi Haruka Haruto Hina Kaito Kenji Mei Miyu Nao Ren Riku Sakura Sora Yui Yuto",
    "Aoki Endo Fujita Hara Ishida Kaneko Kimura Maeda Matsuda Mori Nakano Ogawa Okada Sakai Shimizu Tamura Ueda Yamada",
  ],
};
