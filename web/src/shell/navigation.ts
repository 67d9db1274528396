import type { LinkProps } from "@tanstack/react-router";
import {
  Bell,
  DatabaseZap,
  Languages,
  type LucideIcon,
  Megaphone,
  Settings,
  SlidersHorizontal,
  Users,
} from "lucide-react";

interface Entry {
  /** The page below its workspace. */
  readonly to: Extract<LinkProps["to"], `/w/$workspace/${string}`>;
  /** The part of a page that has several. */
  readonly section?: string;
  readonly label: string;
  readonly icon: LucideIcon;
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
      { to: "/w/$workspace/users", label: "Users", icon: Users },
      { to: "/w/$workspace/syncs", label: "Syncs", icon: DatabaseZap },
    ],
  },
  {
    title: "Subscriptions",
    entries: [
      { to: "/w/$workspace/groups", label: "Groups", icon: Bell },
      {
        to: "/w/$workspace/preference-centers",
        label: "Preference centers",
        icon: SlidersHorizontal,
      },
    ],
  },
  {
    title: "Messages",
    entries: [
      { to: "/w/$workspace/campaigns", label: "Campaigns", icon: Megaphone },
      { to: "/w/$workspace/translations", label: "Translations", icon: Languages },
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
      },
    ],
  },
];
