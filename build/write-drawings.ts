import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { packageRoot } from "../src/core/base/package-root.ts";

/*
 * Writes the drawings of ARCHITECTURE.md and docs/performance.md: each text in docs/drawings/ as an SVG beside it. The first
 * lines of each text describe its language: boxes on a grid, columns with calls between them, or bars.
 */

export const DRAWINGS = join(packageRoot(), "docs", "drawings");

/** The drawings by the names of their texts. */
export const drawings = (): ReadonlyMap<string, string> =>
  new Map(
    readdirSync(DRAWINGS)
      .filter((name) => name.endsWith(".txt"))
      .map((name) => [
        name.replace(/\.txt$/, ".svg"),
        draw(readFileSync(join(DRAWINGS, name), "utf8")),
      ]),
  );

/** @throws Error if a line is none that the language has. */
export function draw(text: string): string {
  const title = /^# (.*?)\./.exec(text)?.[1] ?? "";
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  if (lines.some((line) => line.startsWith("bar "))) return drawBars(title, lines);
  return lines.some((line) => line.startsWith("who "))
    ? drawCalls(title, lines)
    : drawParts(title, lines);
}

/** A part of an SVG. */
type Shape = string;

const COLORS = {
  light: { text: "#1f2328", dim: "#59636e", line: "#818b98", fill: "#f6f8fa", frame: "#d1d9e0" },
  dark: { text: "#f0f6fc", dim: "#9198a1", line: "#818b98", fill: "#161b22", frame: "#3d444d" },
};

const styleOf = ({ text, dim, line, fill, frame }: typeof COLORS.light): string =>
  `text{fill:${text}}.dim{fill:${dim}}.box{fill:${fill};stroke:${line}}.frame{stroke:${frame}}.line{stroke:${line}}.head{fill:${line}}`;

function page(title: string, width: number, height: number, shapes: readonly Shape[]): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="system-ui, sans-serif" font-size="13" text-anchor="middle">
<title>${escaped(title)}</title>
<style>${styleOf(COLORS.light)}.dim{font-size:11.5px}.frame{fill:none;stroke-dasharray:5 4}.line{fill:none}@media(prefers-color-scheme:dark){${styleOf(COLORS.dark)}}</style>
<marker id="head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path class="head" d="M0 0L8 4L0 8z"/></marker>
${shapes.join("\n")}
</svg>
`;
}

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

const words = (x: number, y: number, text: string, isDim = false): Shape =>
  `<text x="${x}" y="${y}"${isDim ? ' class="dim"' : ""}>${escaped(text)}</text>`;

const arrow = (fromX: number, fromY: number, toX: number, toY: number): Shape =>
  `<path class="line" marker-end="url(#head)" d="M${fromX} ${fromY}L${toX} ${toY}"/>`;

const unknown = (line: string): Error => new Error(`Not a line of a drawing: ${line}`);

// --- Boxes on a grid ---

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly row: number;
  readonly lines: readonly string[];
}

const CELL = { width: 205, height: 50, across: 24, down: 44 };
const MARGIN = 24;

const topOf = (row: number): number => MARGIN + (row - 1) * (CELL.height + CELL.down);

function drawParts(title: string, lines: readonly string[]): string {
  const boxes = new Map<string, Box>();
  const behind: Shape[] = [];
  const arrows: Shape[] = [];
  for (const line of lines) {
    const box = /^box (\w+) (\d+),(\d+)(?:,(\d+))? (.*)$/.exec(line);
    const frame = /^frame (\d+),(\d+) (.*)$/.exec(line);
    const link = /^arrow (\w+) -> (\w+)$/.exec(line);
    if (box) {
      const [, name = "", column, row, columns = "1", text = ""] = box;
      boxes.set(name, {
        x: MARGIN + (Number(column) - 1) * (CELL.width + CELL.across),
        y: topOf(Number(row)),
        width: Number(columns) * (CELL.width + CELL.across) - CELL.across,
        row: Number(row),
        lines: text.split(" | "),
      });
    } else if (frame) {
      const [, first, last, text = ""] = frame;
      const [top, end] = [topOf(Number(first)) - 26, topOf(Number(last)) + CELL.height + 22];
      const width = 4 * (CELL.width + CELL.across) - CELL.across + MARGIN;
      behind.push(
        `<rect class="frame" x="${MARGIN / 2}" y="${top}" width="${width}" height="${end - top}" rx="8"/>`,
        `<text x="${MARGIN / 2 + width - 10}" y="${end - 7}" class="dim" text-anchor="end">${escaped(text)}</text>`,
      );
    } else if (link) {
      const [from, to] = [boxes.get(link[1] ?? ""), boxes.get(link[2] ?? "")];
      if (!from || !to) throw unknown(line);
      arrows.push(between(from, to));
    } else throw unknown(line);
  }
  const all = [...boxes.values()];
  const width = Math.max(...all.map((each) => each.x + each.width)) + MARGIN;
  const height = Math.max(...all.map((each) => each.y)) + CELL.height + MARGIN;
  return page(title, width, height, [...behind, ...arrows, ...all.map(drawBox)]);
}

function between(from: Box, to: Box): Shape {
  if (from.row === to.row) {
    const y = from.y + CELL.height / 2;
    return arrow(from.x + from.width, y, to.x, y);
  }
  const left = Math.max(from.x, to.x);
  const x = (left + Math.min(from.x + from.width, to.x + to.width)) / 2;
  return arrow(x, from.y + CELL.height, x, to.y);
}

const drawBox = ({ x, y, width, lines: [title = "", about] }: Box): Shape =>
  [
    `<rect class="box" x="${x}" y="${y}" width="${width}" height="${CELL.height}" rx="6"/>`,
    words(x + width / 2, y + (about ? 21 : 30), title),
    about ? words(x + width / 2, y + 39, about, true) : "",
  ].join("");

// --- Columns with calls between them ---

const COLUMN = { width: 190, head: 34, step: 36 };

function drawCalls(title: string, lines: readonly string[]): string {
  const columns = new Map<string, number>();
  const heads: Shape[] = [];
  const steps: Shape[] = [];
  let y = MARGIN + COLUMN.head;
  const columnOf = (name = "", line: string): number => {
    const x = columns.get(name);
    if (x === undefined) throw unknown(line);
    return x;
  };
  for (const line of lines) {
    const who = /^who (\w+) (.*)$/.exec(line);
    const at = /^at (\w+) (.*)$/.exec(line);
    const call = /^(\w+) -> (\w+) (.*)$/.exec(line);
    if (who) {
      const [, name = "", text = ""] = who;
      const x = MARGIN + COLUMN.width * (columns.size + 0.5);
      columns.set(name, x);
      heads.push(
        `<rect class="box" x="${x - COLUMN.width / 2 + 6}" y="${MARGIN}" width="${COLUMN.width - 12}" height="${COLUMN.head}" rx="6"/>`,
        words(x, MARGIN + 22, text),
      );
      continue;
    }
    y += COLUMN.step;
    if (at) steps.push(words(columnOf(at[1], line), y, at[2] ?? "", true));
    else if (call) {
      const [from, to] = [columnOf(call[1], line), columnOf(call[2], line)];
      steps.push(words((from + to) / 2, y - 5, call[3] ?? ""), arrow(from, y, to, y));
    } else throw unknown(line);
  }
  const end = y + COLUMN.step / 2;
  const rails = [...columns.values()].map(
    (x) => `<path class="frame" d="M${x} ${MARGIN + COLUMN.head}V${end}"/>`,
  );
  return page(title, 2 * MARGIN + COLUMN.width * columns.size, end + MARGIN, [
    ...rails,
    ...heads,
    ...steps,
  ]);
}

// --- Bars ---

const BAR = { label: 300, width: 380, height: 24, step: 34 };

function drawBars(title: string, lines: readonly string[]): string {
  const bars = lines.map((line) => {
    const [, value, label = ""] = /^bar (\d+(?:\.\d+)?) (.*)$/.exec(line) ?? [];
    if (value === undefined) throw unknown(line);
    return { value, label };
  });
  const most = Math.max(...bars.map(({ value }) => Number(value)));
  const shapes = bars.map(({ value, label }, index) => {
    const y = MARGIN + 30 + index * BAR.step;
    const width = Math.round((Number(value) / most) * BAR.width);
    return [
      `<text x="${BAR.label - 10}" y="${y + 16}" text-anchor="end">${escaped(label)}</text>`,
      `<rect class="box" x="${BAR.label}" y="${y}" width="${width}" height="${BAR.height}" rx="3"/>`,
      words(BAR.label + width + 24, y + 16, value),
    ].join("");
  });
  const width = BAR.label + BAR.width + 60;
  const head = words(width / 2, MARGIN + 6, title);
  return page(title, width, 2 * MARGIN + 30 + bars.length * BAR.step, [head, ...shapes]);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  for (const [name, drawing] of drawings()) writeFileSync(join(DRAWINGS, name), drawing);
}
