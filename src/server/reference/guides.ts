import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../../core/base/package-root.ts";

/* The guides of this build, as Markdown. */

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

type Guides = ReadonlyMap<GuideName, string>;

/** Below it each guide is a file, such as `ci.md`. */
export const GUIDE_PATH = "/docs/guides";

const fileOf = (name: string): string => join(packageRoot(), "docs", `${name}.md`);

let guidesRead: Guides | undefined;

/** Read for the first request. */
function readGuides(): Guides {
  guidesRead ??= new Map(
    GUIDES.filter((name) => existsSync(fileOf(name))).map((name) => [
      name,
      readFileSync(fileOf(name), "utf8"),
    ]),
  );
  return guidesRead;
}

const titleOf = (text = ""): string | undefined => /^# (.*)$/m.exec(text)?.[1];

/**
 * All guides as one text: a part of the reference's introduction, which the viewer shows and searches with the
 * operations. Links to other guides point to their headings.
 *
 * @param anchor what comes before the name of a heading in a link.
 */
export function joinedGuides(anchor: string): string {
  const guides = readGuides();
  return [...guides.values()]
    .map((text) => withLinks(text, guides, (_name, title) => `${anchor}${slugOf(title)}`))
    .join("\n\n");
}

/** A guide by itself, with links to others. @returns undefined if no guide has the name. */
export function guideText(file: string): string | undefined {
  const guides = readGuides();
  const text = guides.get(file.replace(/\.md$/, "") as GuideName);
  return text && withLinks(text, guides, (name) => `${GUIDE_PATH}/${name}.md`);
}

/** Each guide with the first sentences below its title, as one line. */
export const listGuides = () =>
  [...readGuides()].map(([name, text]) => {
    const [, about = ""] = /^# .*\n\n((?:.+\n)+)/m.exec(text) ?? [];
    const plain = withLinks(about, new Map(), () => "").replaceAll(/\s*\n\s*/g, " ");
    return { name, title: titleOf(text) ?? name, about: plain.trim() };
  });

/** Links to other guides get another target; links to other files of the repository become their names. */
const withLinks = (
  text: string,
  guides: Guides,
  targetOf: (name: GuideName, title: string) => string,
): string =>
  text.replaceAll(
    /\[([^\]]+)\]\((?!https?:|#)([^)]+)\)/g,
    (_whole, label: string, target: string) => {
      const name = /^([\w-]+)\.md/.exec(target)?.[1] as GuideName;
      const title = titleOf(guides.get(name));
      return title === undefined ? label : `[${label}](${targetOf(name, title)})`;
    },
  );

const slugOf = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll(/[^a-z0-9 -]+/g, "")
    .replaceAll(" ", "-");
