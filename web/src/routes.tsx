import { type AnyRoute, createRoute, createRouter } from "@tanstack/react-router";
import { Page } from "./components/page.tsx";
import { Failure } from "./components/states.tsx";
import { type Feature, findServer, page, pageOf, root, texts, workspace } from "./feature.ts";
import * as features from "./features.ts";
import { FirstPage } from "./pages/first-page.tsx";
import { NotFound } from "./pages/not-found.tsx";
import { SignedIn } from "./shell/signed-in.tsx";

/* The addresses of all pages: four below, and the pages of the features. */

root.update({ component: SignedIn, notFoundComponent: NotFound });

const first = createRoute({ getParentRoute: () => root, path: "/", component: FirstPage });

const settings = page(
  "settings/$section",
  () => import("./pages/settings/settings.tsx"),
  "SettingsPage",
  ["query"],
);

const overview = page("overview", () => import("./pages/overview/overview.tsx"), "OverviewPage", [
  "tab",
  "period",
]);

/** The pages that belong to no workspace. */
const company = createRoute({
  getParentRoute: () => root,
  path: "/company/$section",
  validateSearch: texts("query", "of", "by", "kind", "from", "to"),
  component: pageOf(() => import("./pages/settings/settings.tsx"), "CompanyPage"),
});

type Listed = (typeof features)[keyof typeof features];

/** The types of the pages of all features, so that a link to an unknown address does not compile. */
type PagesOf<Each, Name extends "pages" | "companyPages"> = Each extends {
  readonly [Key in Name]: readonly (infer Route extends AnyRoute)[];
}
  ? Route
  : never;

const all: readonly Feature[] = Object.values(features);
const pages = all.flatMap((each) => each.pages ?? []) as PagesOf<Listed, "pages">[];
const companyPages = all.flatMap((each) => each.companyPages ?? []) as PagesOf<
  Listed,
  "companyPages"
>[];

export const router = createRouter({
  basepath: "/dashboard",
  context: { features: all },
  routeTree: root.addChildren([
    first,
    workspace.addChildren([settings, overview, ...pages]),
    company,
    ...companyPages,
  ]),
  defaultPreload: "intent",
  scrollRestoration: true,
  defaultErrorComponent: ({ error }) => (
    <Page title="Rapport">
      <Failure
        error={error}
        retry={() =>
          void findServer().then(
            () => location.reload(),
            () => undefined,
          )
        }
      />
    </Page>
  ),
  // Search parameters stay readable: ?query=ada, not ?query="ada".
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (search) => {
    const set = Object.entries(search).filter(([, value]) => value !== undefined && value !== "");
    const text = new URLSearchParams(set.map(([name, value]) => [name, String(value)])).toString();
    return text && `?${text}`;
  },
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
