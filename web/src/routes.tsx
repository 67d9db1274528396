import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
} from "@tanstack/react-router";
import { Failure } from "./components/states.tsx";
import { FirstPage } from "./pages/first-page.tsx";
import { NotFound } from "./pages/not-found.tsx";
import { SignedIn } from "./shell/signed-in.tsx";

/* Every page with its address. Each page is a file of its own that the browser loads when it is opened. */

const root = createRootRoute({ component: SignedIn, notFoundComponent: NotFound });

const first = createRoute({ getParentRoute: () => root, path: "/", component: FirstPage });

const workspace = createRoute({
  getParentRoute: () => root,
  path: "/w/$workspace",
  component: Outlet,
});

/** Search parameters are texts; a page names those that it knows. */
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
  component: lazyRouteComponent(() => import("./pages/overview/overview.tsx"), "OverviewPage"),
});

const requests = createRoute({
  getParentRoute: () => workspace,
  path: "requests",
  validateSearch: texts("status", "endpoint", "key", "user", "code", "open"),
  component: lazyRouteComponent(() => import("./pages/requests/requests.tsx"), "RequestsPage"),
});

const users = createRoute({
  getParentRoute: () => workspace,
  path: "users",
  validateSearch: texts("query", "identifier"),
  component: lazyRouteComponent(() => import("./pages/users/users.tsx"), "UsersPage"),
});

const user = createRoute({
  getParentRoute: () => workspace,
  path: "users/$id",
  validateSearch: texts("tab", "kind", "event", "until", "find"),
  component: lazyRouteComponent(() => import("./pages/users/user.tsx"), "UserPage"),
});

const groups = createRoute({
  getParentRoute: () => workspace,
  path: "groups",
  component: lazyRouteComponent(() => import("./pages/groups/groups.tsx"), "GroupsPage"),
});

const syncs = createRoute({
  getParentRoute: () => workspace,
  path: "syncs",
  component: lazyRouteComponent(() => import("./pages/syncs/syncs.tsx"), "SyncsPage"),
});

const sync = createRoute({
  getParentRoute: () => workspace,
  path: "syncs/$id",
  component: lazyRouteComponent(() => import("./pages/syncs/sync.tsx"), "SyncPage"),
});

const run = createRoute({
  getParentRoute: () => workspace,
  path: "syncs/$id/runs/$run",
  component: lazyRouteComponent(() => import("./pages/syncs/run.tsx"), "RunPage"),
});

const translations = createRoute({
  getParentRoute: () => workspace,
  path: "translations",
  validateSearch: texts("tab", "message", "find", "show", "locale"),
  component: lazyRouteComponent(
    () => import("./pages/translations/translations.tsx"),
    "TranslationsPage",
  ),
});

const campaigns = createRoute({
  getParentRoute: () => workspace,
  path: "campaigns",
  component: lazyRouteComponent(() => import("./pages/campaigns/campaigns.tsx"), "CampaignsPage"),
});

const centers = createRoute({
  getParentRoute: () => workspace,
  path: "preference-centers",
  component: lazyRouteComponent(
    () => import("./pages/preference-centers/centers.tsx"),
    "CentersPage",
  ),
});

const center = createRoute({
  getParentRoute: () => workspace,
  path: "preference-centers/$id",
  component: lazyRouteComponent(
    () => import("./pages/preference-centers/center.tsx"),
    "CenterPage",
  ),
});

const settings = createRoute({
  getParentRoute: () => workspace,
  path: "settings/$section",
  validateSearch: texts("query"),
  component: lazyRouteComponent(() => import("./pages/settings/settings.tsx"), "SettingsPage"),
});

/** What belongs to no workspace. */
const company = createRoute({
  getParentRoute: () => root,
  path: "/company/$section",
  validateSearch: texts("query"),
  component: lazyRouteComponent(() => import("./pages/company/company.tsx"), "CompanyPage"),
});

const dashboardUser = createRoute({
  getParentRoute: () => root,
  path: "/company/dashboard-users/$id",
  component: lazyRouteComponent(
    () => import("./pages/settings/dashboard-user.tsx"),
    "DashboardUserPage",
  ),
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
      syncs,
      sync,
      run,
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
  defaultErrorComponent: ({ error }) => <Failure error={error} retry={() => location.reload()} />,
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
