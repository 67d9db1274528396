import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
} from "@tanstack/react-router";
import { Page } from "./components/page.tsx";
import { Failure } from "./components/states.tsx";
import { FirstPage } from "./pages/first-page.tsx";
import { NotFound } from "./pages/not-found.tsx";
import { SignedIn } from "./shell/signed-in.tsx";

/* Every page with its address. Each page is a separate file that the browser loads when the page is opened. */

/** Whether there is a server to load from. */
const findServer = (): Promise<Response> => fetch("/dashboard/session");

/**
 * A page whose file cannot be loaded: if the server responds, it has a new version with other
 * files, and the library loads the whole dashboard again; otherwise an error replaces the page.
 */
const pageOf = <Module extends Record<string, unknown>, Name extends keyof Module>(
  load: () => Promise<Module>,
  name: Name,
) =>
  lazyRouteComponent(
    () =>
      load().catch(async (error) => {
        await findServer();
        throw error;
      }),
    name,
  );

const root = createRootRoute({ component: SignedIn, notFoundComponent: NotFound });

const first = createRoute({ getParentRoute: () => root, path: "/", component: FirstPage });

const workspace = createRoute({
  getParentRoute: () => root,
  path: "/w/$workspace",
  component: Outlet,
});

/** Search parameters are texts; a page names the ones it knows. */
const texts =
  <Name extends string>(...names: readonly Name[]) =>
  (search: Record<string, unknown>): { [Each in Name]?: string } =>
    Object.fromEntries(
      names.flatMap((name) => {
        const value = search[name];
        return value === undefined || value === "" ? [] : [[name, String(value)]];
      }),
    ) as { [Each in Name]?: string };

const overview = createRoute({
  getParentRoute: () => workspace,
  path: "overview",
  validateSearch: texts("period"),
  component: pageOf(() => import("./features/overview/overview.tsx"), "OverviewPage"),
});

const requests = createRoute({
  getParentRoute: () => workspace,
  path: "requests",
  validateSearch: texts("status", "endpoint", "key", "user", "code", "open"),
  component: pageOf(() => import("./features/live-requests/requests.tsx"), "RequestsPage"),
});

const users = createRoute({
  getParentRoute: () => workspace,
  path: "users",
  validateSearch: texts("query", "identifier", "match"),
  component: pageOf(() => import("./features/user-records/users.tsx"), "UsersPage"),
});

const user = createRoute({
  getParentRoute: () => workspace,
  path: "users/$id",
  validateSearch: texts("tab", "kind", "event", "until", "find"),
  component: pageOf(() => import("./features/user-records/user.tsx"), "UserPage"),
});

const groups = createRoute({
  getParentRoute: () => workspace,
  path: "groups",
  component: pageOf(() => import("./pages/groups/groups.tsx"), "GroupsPage"),
});

const segments = createRoute({
  getParentRoute: () => workspace,
  path: "segments",
  component: pageOf(() => import("./features/segments/segments.tsx"), "SegmentsPage"),
});

const segment = createRoute({
  getParentRoute: () => workspace,
  path: "segments/$id",
  validateSearch: texts("event", "attribute", "product"),
  component: pageOf(() => import("./features/segments/segment.tsx"), "SegmentPage"),
});

const catalogue = createRoute({
  getParentRoute: () => workspace,
  path: "catalogue",
  validateSearch: texts("kind", "search"),
  component: pageOf(() => import("./features/catalogue/catalogue.tsx"), "CataloguePage"),
});

const syncs = createRoute({
  getParentRoute: () => workspace,
  path: "syncs",
  component: pageOf(() => import("./features/warehouses/syncs.tsx"), "SyncsPage"),
});

const sync = createRoute({
  getParentRoute: () => workspace,
  path: "syncs/$id",
  component: pageOf(() => import("./features/warehouses/sync.tsx"), "SyncPage"),
});

const run = createRoute({
  getParentRoute: () => workspace,
  path: "syncs/$id/runs/$run",
  component: pageOf(() => import("./features/warehouses/run.tsx"), "RunPage"),
});

const webhooks = createRoute({
  getParentRoute: () => workspace,
  path: "webhooks",
  component: pageOf(() => import("./features/webhooks/webhooks.tsx"), "WebhooksPage"),
});

const webhook = createRoute({
  getParentRoute: () => workspace,
  path: "webhooks/$id",
  validateSearch: texts("open"),
  component: pageOf(() => import("./features/webhooks/webhook.tsx"), "WebhookPage"),
});

const translations = createRoute({
  getParentRoute: () => workspace,
  path: "translations",
  validateSearch: texts("tab", "message", "find", "show", "locale"),
  component: pageOf(() => import("./features/translations/translations.tsx"), "TranslationsPage"),
});

const campaigns = createRoute({
  getParentRoute: () => workspace,
  path: "campaigns",
  component: pageOf(() => import("./features/campaigns/campaigns.tsx"), "CampaignsPage"),
});

const centers = createRoute({
  getParentRoute: () => workspace,
  path: "preference-centers",
  component: pageOf(() => import("./features/preference-centers/centers.tsx"), "CentersPage"),
});

const center = createRoute({
  getParentRoute: () => workspace,
  path: "preference-centers/$id",
  component: pageOf(() => import("./features/preference-centers/center.tsx"), "CenterPage"),
});

const settings = createRoute({
  getParentRoute: () => workspace,
  path: "settings/$section",
  validateSearch: texts("query"),
  component: pageOf(() => import("./pages/settings/settings.tsx"), "SettingsPage"),
});

/** What belongs to no workspace. */
const company = createRoute({
  getParentRoute: () => root,
  path: "/company/$section",
  validateSearch: texts("query", "of"),
  component: pageOf(() => import("./pages/company/company.tsx"), "CompanyPage"),
});

const dashboardUser = createRoute({
  getParentRoute: () => root,
  path: "/company/dashboard-users/$id",
  component: pageOf(() => import("./pages/settings/dashboard-user.tsx"), "DashboardUserPage"),
});

export const router = createRouter({
  basepath: "/dashboard",
  routeTree: root.addChildren([
    first,
    workspace.addChildren([
      overview,
      requests,
      users,
      user,
      groups,
      segments,
      segment,
      catalogue,
      syncs,
      sync,
      run,
      webhooks,
      webhook,
      translations,
      campaigns,
      centers,
      center,
      settings,
    ]),
    company,
    dashboardUser,
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
