import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { packageRoot } from "../src/core/base/package-root.ts";
import { GUARD_FILE, type GuardReport } from "./bench/guard/compare.ts";

/*
 * `npm run figures`: prints where the repository stands as one Markdown table: lines, sizes, and what the last `.ci/run`
 * (dist/ci-steps.json) and the last `npm run bench -- guard` left here. What has not been measured is named as missing.
 */

/** As `.ci/run` writes it. */
interface CiRun {
  readonly commit: string;
  readonly seconds: number;
  readonly cpu_seconds: number;
  readonly steps: readonly {
    readonly title: string;
    readonly seconds: number;
    readonly cpu_seconds: number;
    readonly passed: number;
    readonly failed: number;
  }[];
}

type Row = readonly [figure: string, value: string];

const CI_FILE = "dist/ci-steps.json";

const root = packageRoot();

const format = (value: number, digits = 0): string =>
  value.toLocaleString("en-US", { maximumFractionDigits: digits });

function linesOf(...patterns: readonly string[]): string {
  const options = { cwd: root, encoding: "utf8", maxBuffer: 2 ** 28 } as const;
  const names = execFileSync("git", ["ls-files", "-z", ...patterns], options).split("\0");
  const texts = names.filter((name) => name && existsSync(join(root, name)));
  const lines = texts.map((name) => readFileSync(join(root, name), "utf8").split("\n").length - 1);
  return format(lines.reduce((sum, count) => sum + count, 0));
}

function bytesOf(folder: string, ending: RegExp): string {
  const path = join(root, folder);
  const names = existsSync(path) ? readdirSync(path, { recursive: true, encoding: "utf8" }) : [];
  const sizes = names
    .filter((name) => ending.test(name))
    .map((name) => statSync(join(path, name)).size);
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  return bytes === 0
    ? "missing: npm run build"
    : `${format(bytes / 1_000)} KB in ${sizes.length} files`;
}

/** Of both packages, as they would be published. */
function tarballs(): Row[] {
  const folder = mkdtempSync(join(tmpdir(), "rapport-figures-"));
  try {
    execFileSync(process.execPath, [join(root, "dist/build/pack.js"), folder], { stdio: "ignore" });
    return readdirSync(folder).map((name) => [
      name,
      `${format(statSync(join(folder, name)).size / 1_000)} KB`,
    ]);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const readIfThere = <Content>(file: string): Content | undefined =>
  existsSync(join(root, file)) ? JSON.parse(readFileSync(join(root, file), "utf8")) : undefined;

export function ciRows(run: CiRun | undefined): Row[] {
  if (!run)
    return [
      ["`npm ci`", "missing: .ci/run"],
      ["CI", "missing: .ci/run"],
    ];
  const installed = run.steps.find(({ title }) => title.includes("npm ci"));
  const spent = (of: { seconds: number; cpu_seconds: number }) =>
    `${format(of.seconds / 60, 1)} min, ${format(of.cpu_seconds)} CPU s`;
  return [
    [
      "`npm ci`",
      installed
        ? `${format(installed.seconds)} s, ${format(installed.cpu_seconds)} CPU s`
        : "missing: no step of the last CI run names it",
    ],
    [`CI of ${run.commit}`, spent(run)],
    ...run.steps.map(
      (step): Row => [
        `CI: ${step.title}`,
        `${spent(step)}, ${format(step.passed)} passed, ${step.failed} failed`,
      ],
    ),
  ];
}

export function guardRows(report: GuardReport | undefined): Row[] {
  if (!report) return [["guard", "missing: npm run bench -- guard"]];
  const { commit, other, measured_at, coresTakenByOthers, results } = report;
  return [
    [`guard: ${commit} to ${other}`, `${measured_at}; ${coresTakenByOthers} cores taken by others`],
    ...results.map(
      ({ engine, workload, ratios }): Row => [
        `guard: ${workload}, ${engine}`,
        `rate ${ratios.rate}, CPU ${ratios.cpu} (${ratios.cpuRange.join("-")}), statements ${ratios.statements ?? "missing"}`,
      ],
    ),
  ];
}

if (process.argv[1] === import.meta.filename) {
  const rows: readonly Row[] = [
    ["lines of src", linesOf("src/*.ts")],
    ...["core", "features", "server", "cli"].map(
      (folder): Row => [`lines of src/${folder}`, linesOf(`src/${folder}/*.ts`)],
    ),
    ["lines of web", linesOf("web/*.ts", "web/*.tsx", "web/*.css")],
    ["lines of test", linesOf("test/*.ts")],
    ["lines of lab", linesOf("lab/*.ts")],
    ["dist/bundle", bytesOf("dist/bundle", /\.c?js$/)],
    ["dist/web", bytesOf("dist/web", /\.(?:js|css)$/)],
    ...tarballs(),
    ...ciRows(readIfThere(CI_FILE)),
    ...guardRows(readIfThere(GUARD_FILE)),
  ];
  const table = rows.map(
    (cells) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`,
  );
  process.stdout.write(`${["| figure | value |", "|---|---|", ...table].join("\n")}\n`);
}
