import { readFile } from "node:fs/promises";
import { type Alias, type Document, isMap, isNode, LineCounter, parseDocument, visit } from "yaml";
import { Problem } from "../problem.ts";

/** A manifest that cannot be read, or breaks a rule: the message has the file and the line. */
export class ManifestUnreadable extends Error {
  constructor(place: string, rule: string) {
    super(`${place}: ${rule}`);
    this.name = "ManifestUnreadable";
  }
}

export interface ManifestFile {
  /** The manifest with its variables filled in, not yet checked against the schema. */
  readonly content: unknown;
  /** Where a member stands in the file, such as `manifest.yaml:12`. */
  placeOf(path: readonly (string | number)[]): string;
}

/** Upper case only: `${email_address}` in a page is Liquid's, not ours. */
const VARIABLE = /\$\{([A-Z][A-Z0-9_]*)\}/g;

/**
 * Reads a manifest from a file, YAML or JSON (which is YAML too), and puts the variables of the
 * environment in the place of `${NAME}`.
 *
 * @throws ManifestUnreadable
 */
export async function readManifestFile(
  path: string,
  environment: NodeJS.ProcessEnv,
): Promise<ManifestFile> {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new ManifestUnreadable(path, `it cannot be read (${error.code}).`);
  });
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const [error] = document.errors;
  if (error) {
    throw new ManifestUnreadable(`${path}:${lines.linePos(error.pos[0]).line}`, error.message);
  }
  if (!isMap(document.contents)) {
    throw new ManifestUnreadable(`${path}:1`, "The manifest must be an object");
  }
  const placeOf: ManifestFile["placeOf"] = (place) => `${path}:${lineOf(document, lines, place)}`;
  return { content: fillIn(contentOf(document, path, lines), environment, [], placeOf), placeOf };
}

/** The document as plain values. An alias (`*name`) may lead nowhere, or to far too much. */
function contentOf(document: Document, path: string, lines: LineCounter): unknown {
  try {
    return document.toJS();
  } catch (error) {
    const place = `${path}:${lineOfAlias(document, lines)}`;
    throw new ManifestUnreadable(place, (error as Error).message);
  }
}

/** The line of the alias that leads nowhere, else of the first one. */
function lineOfAlias(document: Document, lines: LineCounter): number {
  const aliases: Alias[] = [];
  visit(document, { Alias: (_key, alias) => void aliases.push(alias) });
  const alias = aliases.find((each) => !each.resolve(document)) ?? aliases[0];
  return alias?.range ? lines.linePos(alias.range[0]).line : 1;
}

/** Applies a manifest file; a rule that it breaks is reported with the file and the line. */
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
    const place = (error.details.body?.path ?? []) as (string | number)[];
    throw new ManifestUnreadable(file.placeOf(place), error.message);
  }
}

/** The line of a member, or of the nearest member around it that is there. */
function lineOf(
  document: Document,
  lines: LineCounter,
  path: readonly (string | number)[],
): number {
  for (let depth = path.length; depth >= 0; depth--) {
    const node = document.getIn(path.slice(0, depth), true);
    if (isNode(node) && node.range) return lines.linePos(node.range[0]).line;
  }
  return 1;
}

function fillIn(
  value: unknown,
  environment: NodeJS.ProcessEnv,
  path: readonly (string | number)[],
  placeOf: ManifestFile["placeOf"],
): unknown {
  if (typeof value === "string") {
    return value.replaceAll(VARIABLE, (_whole, name: string) => {
      const found = environment[name];
      if (found !== undefined) return found;
      throw new ManifestUnreadable(
        placeOf(path),
        `'${path.join(".")}' asks for the environment variable ${name}, which is not set.`,
      );
    });
  }
  if (Array.isArray(value)) {
    return value.map((item, index) => fillIn(item, environment, [...path, index], placeOf));
  }
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      fillIn(item, environment, [...path, key], placeOf),
    ]),
  );
}
