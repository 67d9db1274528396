import { Bell, type LucideIcon, Users } from "lucide-react";

interface Entry {
  readonly to: "/w/$workspace/users" | "/w/$workspace/groups";
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
    entries: [{ to: "/w/$workspace/users", label: "Users", icon: Users }],
  },
  {
    title: "Subscriptions",
    entries: [{ to: "/w/$workspace/groups", label: "Groups", icon: Bell }],
  },
];
