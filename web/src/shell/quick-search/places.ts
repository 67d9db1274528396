import { Building2, Layers, type LucideIcon, Settings } from "lucide-react";
import type { Session } from "../../api/session.ts";
import { firstEntry, isSeen, NAVIGATION } from "../navigation.ts";
import { companySectionsOf, workspaceSectionsOf } from "../settings-sections.ts";

/** The destinations in the dashboard. */
export interface Place {
  readonly label: string;
  /** Its kind, or what it belongs to. */
  readonly about?: string | undefined;
  readonly icon: LucideIcon;
  readonly link: {
    readonly to: string;
    readonly params: Readonly<Record<string, string>>;
    readonly search?: Readonly<Record<string, string>>;
  };
}

/** Every page and workspace that the person may see, in the order of the navigation. */
export function placesOf(session: Session, workspace: string | undefined): readonly Place[] {
  return [
    ...(workspace === undefined ? [] : pagesOf(session, workspace)),
    ...companySectionsOf(session).map((section) => ({
      ...section,
      about: "Company settings",
      icon: Building2,
    })),
    ...session.workspaces.flatMap((name) => {
      const entry = name === workspace ? undefined : firstEntry(session, name);
      const link = entry && { to: entry.to, params: { workspace: name } };
      return link ? [{ label: name, about: "Workspace", icon: Layers, link }] : [];
    }),
  ];
}

const pagesOf = (session: Session, workspace: string): readonly Place[] => [
  ...NAVIGATION.flatMap(({ entries }) => entries)
    .filter((entry) => isSeen(entry, session, workspace))
    .map(({ label, icon, to }) => ({ label, icon, link: { to, params: { workspace } } })),
  ...workspaceSectionsOf(session, workspace).map((section) => ({
    ...section,
    about: "Workspace settings",
    icon: Settings,
  })),
];

/** A company may have thousands of workspaces. */
const MOST_PLACES = 40;

/**
 * The places in which each word of the query begins some word: `comp set` finds the settings of the
 * company.
 */
export function matching(places: readonly Place[], query: string): readonly Place[] {
  const wanted = wordsOf(query);
  return places
    .filter(({ label, about = "" }) => {
      const words = [...wordsOf(label), ...wordsOf(about), label.toLowerCase()];
      return wanted.every((start) => words.some((word) => word.startsWith(start)));
    })
    .slice(0, MOST_PLACES);
}

const wordsOf = (text: string): string[] =>
  text
    .toLowerCase()
    .split(/[\s/]+/)
    .filter(Boolean);
