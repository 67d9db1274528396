import type { LinkProps } from "@tanstack/react-router";
import {
  Activity,
  Bell,
  ChartLine,
  DatabaseZap,
  Languages,
  type LucideIcon,
  Megaphone,
  Settings,
  SlidersHorizontal,
  Users,
} from "lucide-react";
import type { WorkspacePermission } from "../../../src/context/dashboard-permissions.ts";
import type { Session } from "../api/session.ts";

export interface Entry {
  /** The page below its workspace. */
  readonly to: Extract<LinkProps["to"], `/w/$workspace/${string}`>;
  /** The part of a page that has several. */
  readonly section?: string;
  readonly label: string;
  readonly icon: LucideIcon;
  /** Shown to people who have one of these in the workspace. docs/dashboard.md */
  readonly for: readonly WorkspacePermission[];
}

interface Section {
  readonly title: string;
  readonly entries: readonly Entry[];
}

/** The pages in the order of the navigation. */
export const NAVIGATION: readonly Section[] = [
  {
    title: "Data",
    entries: [
      {
        to: "/w/$workspace/overview",
        label: "Overview",
        icon: ChartLine,
        for: ["view_usage_data"],
      },
      {
        to: "/w/$workspace/requests",
        label: "Live requests",
        icon: Activity,
        for: ["dev_console"],
      },
      { to: "/w/$workspace/users", label: "Users", icon: Users, for: ["view_user_profile"] },
      { to: "/w/$workspace/syncs", label: "Syncs", icon: DatabaseZap, for: ["basic_access"] },
    ],
  },
  {
    title: "Subscriptions",
    entries: [
      { to: "/w/$workspace/groups", label: "Groups", icon: Bell, for: ["basic_access"] },
      {
        to: "/w/$workspace/preference-centers",
        label: "Preference centers",
        icon: SlidersHorizontal,
        for: ["basic_access"],
      },
    ],
  },
  {
    title: "Messages",
    entries: [
      { to: "/w/$workspace/campaigns", label: "Campaigns", icon: Megaphone, for: ["basic_access"] },
      {
        to: "/w/$workspace/translations",
        label: "Translations",
        icon: Languages,
        for: ["basic_access"],
      },
    ],
  },
  {
    title: "Administration",
    entries: [
      {
        to: "/w/$workspace/settings/$section",
        section: "keys",
        label: "Settings",
        icon: Settings,
        for: ["dev_console", "basic_access", "admin"],
      },
    ],
  },
];

/** Whether a person sees a page: one of its permissions is enough. */
export const isSeen = (entry: Entry, { administrator, permissions }: Session, workspace: string) =>
  administrator ||
  entry.for.some((each) => permissions.workspaces[workspace]?.includes(each) ?? false);

/** Whether a person sees the settings of a workspace. */
export const isSettingsSeen = (session: Session, workspace: string): boolean =>
  NAVIGATION.flatMap(({ entries }) => entries).some(
    (entry) => entry.to === "/w/$workspace/settings/$section" && isSeen(entry, session, workspace),
  );

/** The page that a person sees first in a workspace. */
export const firstEntry = (session: Session, workspace: string): Entry | undefined =>
  NAVIGATION.flatMap(({ entries }) => entries).find((entry) => isSeen(entry, session, workspace));
