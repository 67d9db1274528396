import type { LinkProps } from "@tanstack/react-router";
import {
  Activity,
  Bell,
  BookOpen,
  ChartLine,
  ChartPie,
  DatabaseZap,
  Languages,
  type LucideIcon,
  Megaphone,
  SlidersHorizontal,
  Users,
  Webhook,
} from "lucide-react";
import type { WorkspacePermission } from "../../../src/core/base/context/dashboard-permissions.ts";
import type { Session } from "../api/session.ts";

export interface Entry {
  /** The page below its workspace. */
  readonly to: Extract<LinkProps["to"], `/w/$workspace/${string}`>;
  readonly label: string;
  readonly icon: LucideIcon;
  /** Shown to people who have all of these in the workspace. docs/dashboard.md */
  readonly needs: readonly WorkspacePermission[];
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
        needs: ["view_usage_data"],
      },
      {
        to: "/w/$workspace/requests",
        label: "Live requests",
        icon: Activity,
        needs: ["dev_console"],
      },
      {
        to: "/w/$workspace/users",
        label: "Users",
        icon: Users,
        needs: ["view_user_profile", "view_pii"],
      },
      {
        to: "/w/$workspace/segments",
        label: "Segments",
        icon: ChartPie,
        needs: ["basic_access"],
      },
      {
        to: "/w/$workspace/catalogue",
        label: "Catalogue",
        icon: BookOpen,
        needs: ["basic_access"],
      },
      { to: "/w/$workspace/syncs", label: "Syncs", icon: DatabaseZap, needs: ["basic_access"] },
      {
        to: "/w/$workspace/webhooks",
        label: "Webhooks",
        icon: Webhook,
        needs: ["manage_external_integrations"],
      },
    ],
  },
  {
    title: "Preferences",
    entries: [
      {
        to: "/w/$workspace/groups",
        label: "Subscription groups",
        icon: Bell,
        needs: ["basic_access"],
      },
      {
        to: "/w/$workspace/preference-centers",
        label: "Preference centers",
        icon: SlidersHorizontal,
        needs: ["basic_access"],
      },
    ],
  },
  {
    title: "Messages",
    entries: [
      {
        to: "/w/$workspace/campaigns",
        label: "Campaigns",
        icon: Megaphone,
        needs: ["basic_access"],
      },
      {
        to: "/w/$workspace/translations",
        label: "Translations",
        icon: Languages,
        needs: ["basic_access"],
      },
    ],
  },
];

const ENTRIES: readonly Entry[] = NAVIGATION.flatMap(({ entries }) => entries);

/** What the page of users needs. */
export const USERS_ENTRY = ENTRIES.find(({ to }) => to === "/w/$workspace/users") as Entry;

/** Whether a person sees a page. */
export const isSeen = (
  { needs }: Entry,
  { administrator, permissions }: Session,
  workspace: string,
): boolean =>
  administrator || needs.every((each) => permissions.workspaces[workspace]?.includes(each));

/** The page that a person sees first in a workspace. */
export const firstEntry = (session: Session, workspace: string): Entry | undefined =>
  ENTRIES.find((entry) => isSeen(entry, session, workspace));
