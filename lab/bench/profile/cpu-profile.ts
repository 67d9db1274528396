import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/*
 * Reads what `node --cpu-prof` wrote: one file for every process and every thread.
 * The format: https://chromedevtools.github.io/devtools-protocol/tot/Profiler/#type-Profile
 */

interface CallFrame {
  readonly functionName: string;
  readonly url: string;
  readonly lineNumber: number;
}

interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: CallFrame;
    readonly children?: readonly number[];
  }[];
  /** Microseconds of the system's monotonic clock. */
  readonly startTime: number;
  readonly samples: readonly number[];
  /** Microseconds since the sample before. */
  readonly timeDeltas: readonly number[];
}

/** Busy milliseconds by place: a file of ours, a package, or a part of Node. */
export interface Spending {
  readonly busyMs: number;
  /** By thread, in the order of their start. */
  readonly byThread: readonly number[];
  readonly byPlace: ReadonlyMap<string, number>;
  /** A function's own time, without the functions that it calls. */
  readonly ownByFunction: ReadonlyMap<string, number>;
  /** For our functions, including directly called functions. */
  readonly totalByFunction: ReadonlyMap<string, number>;
}

/** A span of the monotonic clock, in microseconds. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Reads all profiles of a folder and adds up the time within a period. */
export async function readSpending(folder: string, span: Span): Promise<Spending> {
  const byThread: number[] = [];
  const sums = {
    byPlace: new Map<string, number>(),
    ownByFunction: new Map<string, number>(),
    totalByFunction: new Map<string, number>(),
  };
  const profiles: CpuProfile[] = [];
  for (const name of await readdir(folder)) {
    if (!name.endsWith(".cpuprofile")) continue;
    profiles.push(JSON.parse(await readFile(join(folder, name), "utf8")));
  }
  profiles.sort((one, other) => one.startTime - other.startTime);
  for (const profile of profiles) byThread.push(addProfile(sums, profile, span));
  return { ...sums, byThread, busyMs: byThread.reduce((sum, busyMs) => sum + busyMs, 0) };
}

type Sums = Record<"byPlace" | "ownByFunction" | "totalByFunction", Map<string, number>>;

/** @returns the busy milliseconds. */
function addProfile(sums: Sums, profile: CpuProfile, span: Span): number {
  const own = ownMsByNode(profile, span);
  const frames = new Map(profile.nodes.map((node) => [node.id, node]));
  let busyMs = 0;

  /** @param open the functions above, so that a recursion counts once. */
  function visit(id: number, open: ReadonlySet<string>): number {
    const node = frames.get(id);
    if (!node) return 0;
    const ownMs = own.get(id) ?? 0;
    const label = labelOf(node.callFrame);
    const isIdle = node.callFrame.functionName === "(idle)";
    if (ownMs > 0 && !isIdle) {
      busyMs += ownMs;
      add(sums.byPlace, placeOf(node.callFrame), ownMs);
      add(sums.ownByFunction, label, ownMs);
    }
    const within = new Set(open).add(label);
    const ms = (node.children ?? []).reduce((sum, child) => sum + visit(child, within), ownMs);
    if (!open.has(label) && isOurs(node.callFrame)) add(sums.totalByFunction, label, ms);
    return ms;
  }

  const root = profile.nodes[0];
  if (root) visit(root.id, new Set());
  return busyMs;
}

function ownMsByNode({ samples, timeDeltas, startTime }: CpuProfile, { from, to }: Span) {
  const own = new Map<number, number>();
  let time = startTime;
  for (const [index, id] of samples.entries()) {
    time += timeDeltas[index] ?? 0;
    // A sample counts for the time up to the next one.
    if (time >= from && time < to) add(own, id, (timeDeltas[index + 1] ?? 0) / 1_000);
  }
  return own;
}

function add<Key>(sums: Map<Key, number>, key: Key, ms: number): void {
  sums.set(key, (sums.get(key) ?? 0) + ms);
}

function placeOf({ url, functionName }: CallFrame): string {
  if (url.startsWith("wasm:")) return "embedded engine (WebAssembly)";
  if (url.startsWith("node:")) return `Node ${url.slice(5).split("/").slice(0, 2).join("/")}`;
  if (!url) return functionName;
  const path = url.startsWith("file:") ? fileURLToPath(url) : url;
  const [, inPackage] = path.split(/node_modules\/(?!.*node_modules\/)/);
  if (inPackage) {
    const [first, second] = inPackage.split("/");
    return `package ${first?.startsWith("@") ? `${first}/${second}` : first}`;
  }
  return path.slice(path.indexOf("/dist/") + "/dist/".length);
}

const isOurs = ({ url }: CallFrame): boolean =>
  url.startsWith("file:") && !url.includes("/node_modules/");

const labelOf = (frame: CallFrame): string =>
  `${frame.functionName || "(anonymous)"}  ${placeOf(frame)}${frame.url ? `:${frame.lineNumber + 1}` : ""}`;
