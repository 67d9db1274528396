/**
 * The titles of all tests and suites of a file, save those in comments and those skipped. A
 * template appears as written.
 */
export function titlesIn(source: string): string[] {
  const code = source.replaceAll(/^\s*(?:\/\/|\/\*|\*).*$/gm, "");
  const calls = code.matchAll(
    /(?<![\w.])(?:test|it|describe)\(\s*(?<quote>["'`])(?<title>(?:\\.|(?!\k<quote>).)*)\k<quote>/gs,
  );
  return [...calls].map(({ groups: { title = "" } = {} }) => title.replaceAll(/\\(.)/g, "$1"));
}
