import { readFile } from "node:fs/promises";
import { type Alias, type Document, isMap, isNode, LineCounter, parseDocument, visit } from "yaml";
import { Problem } from "../../base/problem.ts";

/** The path of a member in the manifest: keys and indexes. */
type Path = readonly (string | number)[];

interface FileFault {
  /** `manifest.yaml:12:5`, or only the file. */
  readonly place: string;
  readonly rule: string;
}

/** A manifest that cannot be read, or breaks rules: a line for each fault, with the file, line and column. */
class ManifestUnreadable extends Error {
  constructor(faults: readonly FileFault[]) {
    super(faults.map(({ place, rule }) => `${place}: ${rule}`).join("\n"));
    this.name = "ManifestUnreadable";
  }
}

/** Upper case only: `${email_address}` in a page is Liquid's, not ours. */
const VARIABLE = /\$\{([A-Z][A-Z0-9_]*)\}/g;

/**
 * Reads a manifest from a file, YAML or JSON (which is YAML too), and replaces `${NAME}` by the variables of
 * the environment.
 *
 * @throws ManifestUnreadable with every fault.
 */
async function readManifestFile(path: string, environment: NodeJS.ProcessEnv) {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new ManifestUnreadable([{ place: path, rule: `it cannot be read (${error.code}).` }]);
  });
  const lines = new LineCounter();
  const placeAt = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${path}:${line}:${col}`;
  };
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  if (document.errors.length > 0) {
    throw new ManifestUnreadable(
      document.errors.map(({ pos, message }) => ({ place: placeAt(pos[0]), rule: message })),
    );
  }
  if (!isMap(document.contents)) {
    throw new ManifestUnreadable([
      { place: `${path}:1:1`, rule: "The manifest must be an object" },
    ]);
  }
  const placeOf = (place: Path): string => placeAt(offsetOf(document, place));
  const missing: FileFault[] = [];
  const content = fillIn(contentOf(document, placeAt), environment, (place, name) => {
    const rule = `'${place.join(".")}' needs the environment variable ${name}, which is not set.`;
    missing.push({ place: placeOf(place), rule });
  });
  if (missing.length > 0) throw new ManifestUnreadable(missing);
  return {
    /** The manifest with its variables filled in, not yet checked against the schema. */
    content,
    /** The place of a member in the file, such as `manifest.yaml:12:5`. */
    placeOf,
  };
}

/**
 * The document as plain values. An alias (`*name`) may have no anchor, expand to too much, or form
 * a cycle.
 */
function contentOf(document: Document, placeAt: (offset: number) => string): unknown {
  refuseCircles(document, placeAt);
  try {
    return document.toJS();
  } catch (error) {
    const place = placeAt(offsetOfAlias(document));
    throw new ManifestUnreadable([{ place, rule: (error as Error).message }]);
  }
}

/** An alias refers to an earlier anchor, so a cycle contains an alias for a node around it. */
function refuseCircles(document: Document, placeAt: (offset: number) => string): void {
  const faults: FileFault[] = [];
  visit(document, {
    Alias(_key, alias, around) {
      const target = alias.resolve(document);
      if (target === undefined || !around.includes(target)) return;
      const place = placeAt(alias.range?.[0] ?? 0);
      faults.push({ place, rule: `The alias '*${alias.source}' refers to what contains it.` });
    },
  });
  if (faults.length > 0) throw new ManifestUnreadable(faults);
}

/** The beginning of the unresolved alias, or else of the first alias. */
function offsetOfAlias(document: Document): number {
  const aliases: Alias[] = [];
  visit(document, { Alias: (_key, alias) => void aliases.push(alias) });
  const alias = aliases.find((each) => !each.resolve(document)) ?? aliases[0];
  return alias?.range?.[0] ?? 0;
}

/** Applies a manifest file; every rule that it breaks is reported with the file, the line and the column. */
export async function applyManifestFile<Result>(
  path: string,
  environment: NodeJS.ProcessEnv,
  apply: (manifest: unknown) => Promise<Result>,
): Promise<Result> {
  const file = await readManifestFile(path, environment);
  try {
    return await apply(file.content);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const { path: place = [], faults } = (error.details.body ?? {}) as {
      path?: Path;
      faults?: readonly { readonly path: Path; readonly message: string }[];
    };
    const all = faults ?? [{ path: place, message: error.message }];
    throw new ManifestUnreadable(
      all.map((fault) => ({ place: file.placeOf(fault.path), rule: fault.message })),
    );
  }
}

/** The beginning of a member, or of the nearest existing member around it. */
function offsetOf(document: Document, path: Path): number {
  for (let depth = path.length; depth >= 0; depth--) {
    const node = document.getIn(path.slice(0, depth), true);
    if (isNode(node) && node.range) return node.range[0];
  }
  return 0;
}

function fillIn(
  value: unknown,
  environment: NodeJS.ProcessEnv,
  miss: (path: Path, name: string) => void,
  path: Path = [],
): unknown {
  if (typeof value === "string") {
    return value.replaceAll(VARIABLE, (_whole, name: string) => {
      const found = environment[name];
      if (found === undefined) miss(path, name);
      return found ?? "";
    });
  }
  if (Array.isArray(value)) {
    return value.map((item, index) => fillIn(item, environment, miss, [...path, index]));
  }
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      fillIn(item, environment, miss, [...path, key]),
    ]),
  );
}
