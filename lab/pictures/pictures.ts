/* The pictures of docs/images: which page, on which screen, in which theme. */
import type { Page } from "playwright-core";

export interface Filled {
  readonly workspace: string;
  /** Ids in addresses of pages. */
  readonly user: string;
  readonly externalId: string;
  /** Of the user. */
  readonly name: string;
  readonly person: string;
  readonly center: string;
  readonly message: string;
  /** Addresses of preference pages, from the API. */
  readonly preferencePage: string;
  /** That of a user who speaks Arabic. */
  readonly arabicPage: string;
}

export interface Picture {
  readonly file: string;
  readonly path: (filled: Filled) => string;
  readonly screen: readonly [width: number, height: number];
  readonly theme?: "dark";
  /** The browser's language. */
  readonly locale?: string;
  /** The actions before the picture. */
  readonly prepare?: (page: Page, filled: Filled) => Promise<void>;
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

/** Opens the quick search and types the user's id. */
const searchUser = async (page: Page, { externalId, name }: Filled): Promise<void> => {
  await page.getByRole("button", { name: "Search", exact: true }).click();
  const search = page.getByRole("combobox", { name: "Go to a page, a workspace or a user" });
  await search.fill(externalId);
  await page.getByRole("option", { name }).waitFor();
};

const dashboard: readonly Picture[] = [
  { file: "dashboard-overview-wide", path: inWorkspace("overview"), screen: WIDE },
  { file: "dashboard-overview-dark", path: inWorkspace("overview"), screen: WIDE, theme: "dark" },
  { file: "dashboard-overview-phone", path: inWorkspace("overview"), screen: PHONE },
  {
    file: "dashboard-requests-wide",
    path: (filled) => inWorkspace(`requests?user=${filled.externalId}`)(filled),
    screen: WIDE,
    prepare: openRejected,
  },
  { file: "dashboard-requests-phone", path: inWorkspace("requests"), screen: PHONE },
  {
    file: "dashboard-search-wide",
    path: inWorkspace("users"),
    screen: WIDE,
    prepare: searchUser,
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
    path: (filled) => inWorkspace(`preference-centers/${filled.center}`)(filled),
    screen: WIDE,
  },
  {
    file: "dashboard-center-phone",
    path: (filled) => inWorkspace(`preference-centers/${filled.center}`)(filled),
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

const reference: readonly Picture[] = [
  { file: "reference-wide", path: () => "/docs/calls/trackUsers", screen: [1280, 800] },
];

export const PICTURES: readonly Picture[] = [...dashboard, ...preferencePages, ...reference];
