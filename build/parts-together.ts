import { dirname, join } from "node:path";

/**
 * A server loads every part of server/app.ts, and `rapport` the commands of all: read as one module each, they share files
 * with the rest, instead of a file for each part and each set of parts that have something in common.
 *
 * @param compiled the folder of the compiled files.
 * @returns a plugin of the bundler.
 */
export function allPartsTogether(compiled: string) {
  const app = join(compiled, "server", "app.js");
  const paths: Record<string, string[]> = { "rapport:parts": [], "rapport:commands": [] };
  return {
    name: "all parts together",
    resolveId: (id: string) => (paths[id] ? id : null),
    load: (id: string) =>
      paths[id]
        ?.map((path, at) => `export * as part${at} from ${JSON.stringify(path)};`)
        .join("\n"),
    transform(code: string, id: string) {
      if (id !== app) return null;
      const together = code.replaceAll(
        /import\("([^"]+\/(feature|core-parts|commands)\.js)"\)/g,
        (_, path: string, kind: string) => {
          const of = kind === "commands" ? "rapport:commands" : "rapport:parts";
          const at = (paths[of] ?? []).push(join(dirname(app), path)) - 1;
          return `import("${of}").then(({ part${at} }) => part${at})`;
        },
      );
      return { code: together, map: null };
    },
  };
}
