import { readFileSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../database/migrate.ts";

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

/** One Markdown text of all guides that there are, with links that lead to one another. */
export const guidesText = (): string =>
  GUIDES.map((name) => readGuide(name))
    .filter((text) => text !== undefined)
    .join("\n\n");

function readGuide(name: string): string | undefined {
  try {
    return withLinks(readFileSync(join(packageRoot(), "docs", `${name}.md`), "utf8"));
  } catch {
    return undefined;
  }
}

const titleOf = (name: string): string | undefined => {
  if (!(GUIDES as readonly string[]).includes(name)) return undefined;
  try {
    const text = readFileSync(join(packageRoot(), "docs", `${name}.md`), "utf8");
    return /^# (.*)$/m.exec(text)?.[1];
  } catch {
    return undefined;
  }
};

const slugOf = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll(/[^a-z0-9 -]+/g, "")
    .replaceAll(" ", "-");

/** Links to other guides lead to their headings; links to other files of the repository become their names. */
function withLinks(text: string): string {
  return text.replaceAll(
    /\[([^\]]+)\]\((?!https?:|#)([^)]+)\)/g,
    (_whole, label: string, target: string) => {
      const title = titleOf(/^([\w-]+)\.md/.exec(target)?.[1] ?? "");
      return title === undefined ? label : `[${label}](#description/${slugOf(title)})`;
    },
  );
}
