/* The pictures of docs/images: which page, on which screen, in which theme. */
import type { Page } from "playwright-core";
import { KEYS } from "./sample-company.ts";
import { ADA } from "./sample-traffic.ts";

export interface Filled {
  readonly workspace: string;
  /** Ids in addresses of pages. */
  readonly user: string;
  readonly person: string;
  readonly center: string;
  readonly ownCenter: string;
  readonly message: string;
  /** Addresses of preference pages, from the API. */
  readonly preferencePage: string;
  /** That of a user who speaks Arabic. */
  readonly arabicPage: string;
  /** One of a workspace without a brand. */
  readonly plainPage: string;
}

export interface Picture {
  readonly file: string;
  readonly path: (filled: Filled) => string;
  readonly screen: readonly [width: number, height: number];
  readonly theme?: "dark";
  /** The browser's language. */
  readonly locale?: string;
  /** The actions before the picture. */
  readonly prepare?: (page: Page) => Promise<void>;
}

const WIDE = [1440, 900] as const;
const PHONE = [390, 844] as const;

const inWorkspace =
  (path: string) =>
  ({ workspace }: Filled): string =>
    `/dashboard/w/${workspace}/${path}`;

/** Opens the latest request of the list that has a rejected item. */
const openRejected = async (page: Page): Promise<void> => {
  await page
    .getByRole("row")
    .filter({ hasText: "INVALID_TIME" })
    .first()
    .getByRole("button")
    .click();
};

/** Opens the quick search and types a few letters. */
const searchFor =
  (text: string) =>
  async (page: Page): Promise<void> => {
    await page.getByRole("button", { name: "Search", exact: true }).click();
    await page.getByRole("combobox", { name: "Go to a page, a workspace or a user" }).fill(text);
    await page.getByRole("option", { name: "Ada Lovelace" }).waitFor();
  };

const dashboard: readonly Picture[] = [
  { file: "dashboard-overview-wide", path: inWorkspace("overview"), screen: WIDE },
  { file: "dashboard-overview-dark", path: inWorkspace("overview"), screen: WIDE, theme: "dark" },
  { file: "dashboard-overview-phone", path: inWorkspace("overview"), screen: PHONE },
  {
    file: "dashboard-requests-wide",
    path: inWorkspace(`requests?user=${ADA}`),
    screen: WIDE,
    prepare: openRejected,
  },
  { file: "dashboard-requests-phone", path: inWorkspace("requests"), screen: PHONE },
  {
    file: "dashboard-search-wide",
    path: inWorkspace("users"),
    screen: WIDE,
    prepare: searchFor("a"),
  },
  {
    file: "dashboard-user-wide",
    path: (filled) => inWorkspace(`users/${filled.user}`)(filled),
    screen: WIDE,
  },
  {
    file: "dashboard-user-dark",
    path: (filled) => inWorkspace(`users/${filled.user}?tab=attributes`)(filled),
    screen: WIDE,
    theme: "dark",
  },
  {
    file: "dashboard-person-wide",
    path: ({ person }) => `/dashboard/company/dashboard-users/${person}`,
    screen: WIDE,
  },
  { file: "dashboard-campaigns-wide", path: inWorkspace("campaigns"), screen: WIDE },
  {
    file: "dashboard-center-wide",
    path: (filled) => inWorkspace(`preference-centers/${filled.ownCenter}`)(filled),
    screen: WIDE,
  },
  {
    file: "dashboard-center-phone",
    path: (filled) => inWorkspace(`preference-centers/${filled.ownCenter}`)(filled),
    screen: PHONE,
  },
  ...(["wide", "dark", "phone"] as const).map(
    (look): Picture => ({
      file: `dashboard-translations-${look}`,
      path: (filled) => inWorkspace(`translations?message=${filled.message}`)(filled),
      screen: look === "phone" ? PHONE : WIDE,
      ...(look === "dark" && { theme: "dark" }),
    }),
  ),
];

const CARD = [1000, 850] as const;

const preferencePage = ({ preferencePage: path }: Filled): string => path;

const preferencePages: readonly Picture[] = [
  { file: "preference-brand-wide", path: preferencePage, screen: CARD },
  { file: "preference-brand-dark", path: preferencePage, screen: CARD, theme: "dark" },
  {
    file: "preference-brand-phone-rtl",
    path: (filled) => filled.arabicPage,
    screen: PHONE,
    locale: "ar",
  },
  {
    file: "preference-brand-dead-link",
    path: (filled) => `${filled.preferencePage}x`,
    screen: PHONE,
  },
  { file: "preference-center-wide", path: (filled) => filled.plainPage, screen: CARD },
  { file: "preference-center-narrow", path: (filled) => filled.plainPage, screen: PHONE },
  {
    file: "preference-brand-confirmation",
    path: preferencePage,
    screen: CARD,
    // Last of these: it changes the user's subscriptions.
    prepare: async (page) => {
      await page.getByLabel("Offers").click();
      await page.getByRole("button", { name: "Save my choices" }).click();
    },
  },
];

/** The call that the pictures of the reference show. */
const CALL = "/docs/calls/trackUsers";

/** Enters a key and sends the example of the call. */
const sendExample = async (page: Page): Promise<void> => {
  await page.getByLabel("API key").fill(KEYS["checkout-service"]);
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByText("201 Created").waitFor();
  await page.getByRole("heading", { name: "Try it" }).scrollIntoViewIfNeeded();
};

const reference: readonly Picture[] = (["wide", "phone"] as const).flatMap((look) => {
  const screen = look === "wide" ? ([1280, 800] as const) : ([390, 780] as const);
  const path = () => CALL;
  const name = look === "wide" ? "reference" : "reference-phone";
  return [
    {
      file: look === "wide" ? "reference-wide" : "reference-phone",
      path,
      screen,
    },
    { file: `${name}-console`, path, screen, prepare: sendExample },
  ];
});

export const PICTURES: readonly Picture[] = [...dashboard, ...preferencePages, ...reference];
