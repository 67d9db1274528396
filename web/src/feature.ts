import {
  type AnyRoute,
  createRootRoute,
  createRoute,
  lazyRouteComponent,
  Outlet,
} from "@tanstack/react-router";
import type { LucideIcon } from "lucide-react";
import type { ComponentType } from "react";
import type {
  CompanyPermission,
  WorkspacePermission,
} from "../../src/core/base/context/dashboard-permissions.ts";

/*
 * What a feature adds to the dashboard. features.ts lists the features that have pages; routes.tsx, the navigation and the
 * settings follow from that list, and nothing else names a feature.
 */

/** Everything is optional but the name. */
export interface Feature {
  /** The name of its folder. */
  readonly name: string;
  /** Pages below `/w/$workspace`. Only their addresses are loaded with the dashboard; `pageOf` loads the rest. */
  readonly pages?: readonly AnyRoute[];
  /** Pages that belong to no workspace. */
  readonly companyPages?: readonly AnyRoute[];
  readonly navigation?: NavigationEntry | readonly NavigationEntry[];
  /** The choice of a filter for the list of users. */
  readonly userFilter?: ComponentType<UserFilterProps>;
  /** A tab of the overview of a workspace. */
  readonly overview?: OverviewTab;
  /** Sections of the settings of a workspace. */
  readonly settings?: readonly SettingsSection<WorkspacePermission>[];
  /** Sections of the settings of the company. */
  readonly companySettings?: readonly SettingsSection<CompanyPermission>[];
}

export interface NavigationEntry {
  readonly under: "Data" | "Preferences" | "Messages";
  /** Its place among all entries or sections, in steps of ten. */
  readonly place: number;
  /** One of the pages. */
  readonly to: `/w/$workspace/${string}`;
  readonly label: string;
  readonly icon: LucideIcon;
  /** Shown to people who have all of these in the workspace. docs/dashboard.md */
  readonly needs: readonly WorkspacePermission[];
}

export interface UserFilterProps {
  /** A filter of segments, as JSON. */
  readonly filter: string | undefined;
  /** An empty text is for no filter. */
  change(filter: string): void;
}

export interface OverviewTab {
  readonly place: number;
  readonly name: string;
  readonly label: string;
  /** One sentence: its purpose. */
  readonly about: string;
  /** The period that is shown unless another one is chosen. */
  readonly period: string;
  readonly periods: readonly { readonly value: string; readonly label: string }[];
  readonly component: ComponentType<OverviewTabProps>;
}

export interface OverviewTabProps {
  readonly period: string;
}

export interface SettingsSection<Permission> {
  readonly place: number;
  /** The last part of its address. */
  readonly name: string;
  readonly label: string;
  /** The permission that shows it; the company's admin sees all of them. docs/dashboard.md */
  readonly needs: Permission;
  readonly component: ComponentType;
}

/** The parents of all pages; routes.tsx says what surrounds them. */
export const root = createRootRoute();

export const workspace = createRoute({
  getParentRoute: () => root,
  path: "/w/$workspace",
  component: Outlet,
});

/** Whether there is a server to load from. */
export const findServer = (): Promise<Response> => fetch("/dashboard/session");

/**
 * A page, or a section of the settings, whose file the browser loads when it is opened. If the file cannot be loaded but the
 * server responds, the server has a new version with other files, and the library loads the whole dashboard again; otherwise
 * an error replaces the page.
 *
 * @param name the component that the file exports.
 */
export const pageOf = <Module extends Record<string, unknown>, Name extends keyof Module>(
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

/** Search parameters are texts; a page names the ones it knows. */
export const texts =
  <Name extends string>(...names: readonly Name[]) =>
  (search: Record<string, unknown>): { [Each in Name]?: string } =>
    Object.fromEntries(
      names.flatMap((name) => {
        const value = search[name];
        return value === undefined || value === "" ? [] : [[name, String(value)]];
      }),
    ) as { [Each in Name]?: string };

/**
 * A page below `/w/$workspace`.
 *
 * @param path the rest of its address.
 * @param name the component that the file exports.
 * @param searched its search parameters.
 */
export const page = <
  const Path extends string,
  Module extends Record<string, unknown>,
  Searched extends string = never,
>(
  path: Path,
  load: () => Promise<Module>,
  name: keyof Module,
  searched: readonly Searched[] = [],
) =>
  createRoute({
    getParentRoute: () => workspace,
    path,
    validateSearch: texts(...searched),
    component: pageOf(load, name),
  });
