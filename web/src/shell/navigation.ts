import type { LinkProps } from "@tanstack/react-router";
import type { Session } from "../api/session.ts";
import type { Feature, NavigationEntry } from "../feature.ts";
import * as features from "../features.ts";

export interface Entry extends NavigationEntry {
  /** The page below its workspace. */
  readonly to: Extract<LinkProps["to"], `/w/$workspace/${string}`>;
}

interface Section {
  readonly title: NavigationEntry["under"];
  readonly entries: readonly Entry[];
}

/** Entries whose addresses the compiler compares with the pages that there are. */
type EntriesOf<Each> = Each extends { readonly navigation: infer Listed }
  ? Listed extends readonly (infer One)[]
    ? One
    : Listed
  : never;

const all: readonly Feature[] = Object.values(features);

const ENTRIES: readonly Entry[] = (
  all.flatMap(({ navigation = [] }) => navigation) as EntriesOf<
    (typeof features)[keyof typeof features]
  >[]
).toSorted((one, other) => one.place - other.place);

/** The pages in the order of the navigation. */
export const NAVIGATION: readonly Section[] = (["Data", "Preferences", "Messages"] as const).map(
  (title) => ({ title, entries: ENTRIES.filter(({ under }) => under === title) }),
);

/** The entry that leads to a page; undefined if the feature of the page was taken out. */
export const entryTo = (page: NavigationEntry["to"]): Entry | undefined =>
  ENTRIES.find(({ to }) => to === page);

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

/** Says what is missing to people without any permission. */
export const [FIRST_ENTRY] = ENTRIES;
