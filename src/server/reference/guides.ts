import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../../base/package-root.ts";

/* The guides as a part of the reference's introduction: the viewer shows and searches them with the operations. */

/** In the order of the navigation. */
export const GUIDES = [
  "ci",
  "engines",
  "manifest",
  "keys",
  "settings",
  "users",
  "preference-centers",
  "warehouse-sync",
  "scim",
  "translations",
  "errors",
  "compatibility",
] as const;

type GuideName = (typeof GUIDES)[number];

/** One Markdown text of all guides of this build, with links between them. */
export function guidesText(): string {
  const texts = new Map(
    GUIDES.map((name) => [name, join(packageRoot(), "docs", `${name}.md`)] as const)
      .filter(([, path]) => existsSync(path))
      .map(([name, path]) => [name, readFileSync(path, "utf8")]),
  );
  return [...texts.values()].map((text) => withLinks(text, texts)).join("\n\n");
}

/**
 * Links to other guides point to their headings; links to other files of the repository become
 * their names.
 */
const withLinks = (text: string, texts: ReadonlyMap<GuideName, string>): string =>
  text.replaceAll(
    /\[([^\]]+)\]\((?!https?:|#)([^)]+)\)/g,
    (_whole, label: string, target: string) => {
      const name = /^([\w-]+)\.md/.exec(target)?.[1] as GuideName;
      const title = /^# (.*)$/m.exec(texts.get(name) ?? "")?.[1];
      return title === undefined ? label : `[${label}](#description/${slugOf(title)})`;
    },
  );

const slugOf = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll(/[^a-z0-9 -]+/g, "")
    .replaceAll(" ", "-");
