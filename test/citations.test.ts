/*
 * Comments give the source of a rule: a page below docs/, or a heading of the specification. These tests
 * follow each of them.
 */
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, test } from "node:test";
import { packageRoot } from "../src/core/base/package-root.ts";

/** The headings of the specification. */
const HEADINGS = [
  "User identifiers",
  "User alias object",
  "New user alias object",
  "Attributes object",
  "Event object",
  "Purchase object",
  "Event properties",
  "Prioritization",
  "Merge update object",
  "Alias to identify object",
  "Subscription group",
  "Subscription group state",
  "Dashboard user",
  "Integration",
  "Sync job",
  "Preference center",
  "Preference center state",
  "Translation",
  "Email subscription state",
  "Profile identity",
  "Integration status and sync job status",
  "POST /users/track",
  "POST /v2/subscription/status/set",
  "POST /subscription/status/set",
  "GET /subscription/status/get",
  "POST /email/status",
  "POST /users/merge",
  "POST /users/identify",
  "POST /users/alias/new",
  "POST /users/delete",
  "POST /scim/v2/Users",
  "GET /scim/v2/Users/{id}",
  "GET /scim/v2/Users?filter",
  "PUT /scim/v2/Users/{id}",
  "GET /cdi/integrations",
  "GET /cdi/integrations/{integration_id}/job_sync_status",
  "PUT /preference_center/v1/{preferenceCenterExternalID}",
  "GET /preference_center/v1/list",
  "GET /preference_center/v1/{preferenceCenterExternalID}",
  "GET /campaign/translations/?locale_id={locale_id}",
  "GET /canvases/translations",
  "Authentication",
  "Events",
  "Errors",
  "Limits",
  "Versioning",
  "Merge behaviour",
];

const root = packageRoot();

const headingSlug = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replaceAll(/\s/g, "-");

function faultOfPage(path: string, anchor: string | undefined): string | undefined {
  const file = join(root, path);
  if (!existsSync(file)) return `${path} does not exist`;
  if (anchor === undefined) return undefined;
  const headings = [...readFileSync(file, "utf8").matchAll(/^#+ (.*)$/gm)];
  const hasAnchor = headings.some(([, heading = ""]) => headingSlug(heading) === anchor);
  return hasAnchor ? undefined : `${path} has no heading for #${anchor}`;
}

const isHeading = (text: string): boolean =>
  HEADINGS.some((heading) => text.startsWith(heading) && !/^\w/.test(text.slice(heading.length)));

/** The citations of a file that name nothing. */
function faultsIn(source: string): string[] {
  const text = source.replaceAll(/\n\s*(?:\*|\/\/|--) /g, " ");
  const pages = [...text.matchAll(/(?<![\w/.])(docs\/[\w./-]*\w)(?:#([\w-]+))?/g)].map(
    ([, path = "", anchor]) => faultOfPage(path, anchor),
  );
  const rules = [...text.matchAll(/\bspec: (.{0,80})/g)].map(([whole, cited = ""]) =>
    isHeading(cited) ? undefined : `no heading of the specification: ${whole}`,
  );
  const loose = [
    ...text.matchAll(
      /\b(?:design|facts): .{0,40}|\bdecision: (?!docs\/).{0,40}|names in the wild/gi,
    ),
  ].map(([whole]) => `cites nothing that can be opened: ${whole}`);
  return [...pages, ...rules, ...loose].filter((fault) => fault !== undefined);
}

describe("a citation in a comment", () => {
  const files = ["src", "test", "lab", "build", "migrations"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => /\.(ts|sql|md)$/.test(name) && name !== "citations.test.ts")
      .map((name) => join(folder, name)),
  );

  test("every citation in a comment names an existing page or a heading of the specification", () => {
    const faults = files.flatMap((file) =>
      faultsIn(readFileSync(join(root, file), "utf8")).map((fault) => `${file}: ${fault}`),
    );
    const advice =
      "Cite a page below docs/ with its path, or write `spec:` and a heading of the specification.";
    assert.ok(faults.length === 0, [...faults, advice].join("\n"));
  });

  test("a citation of a missing page, a missing anchor, an unknown heading or no page is rejected", () => {
    const places = [
      ["// docs/decisions/none.md", "does not exist"],
      ["// docs/conformance.md#nowhere", "no heading for #nowhere"],
      ["// spec: Nothing", "no heading of the specification"],
      ["// spec: Eventful", "no heading of the specification"],
      ["// design: Bodies", "nothing that can be opened"],
      ["// decision: Bodies", "nothing that can be opened"],
    ] as const;
    for (const [comment, fault] of places) {
      const found = faultsIn(comment);
      assert.equal(found.length, 1, comment);
      assert.ok(found[0]?.includes(fault), found[0]);
    }
  });

  test("a citation of a page, a page anchor or a heading split over two lines is accepted", () => {
    const comments = [
      "// docs/decisions/money.md",
      "// decision: docs/conformance.md#the-specification",
      "/*\n * A rule. spec: Event\n * properties\n */",
      "// https://www.postgresql.org/docs/current/sql.html",
    ];
    for (const comment of comments) assert.deepEqual(faultsIn(comment), []);
  });
});

/** Everything in the repository, as `src/main.ts` and, for a folder, `src/core/`. */
const tree: readonly string[] = (function list(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .filter(({ name }) => !["node_modules", "dist", ".git"].includes(name))
    .flatMap((each) => {
      const path = join(folder, each.name);
      return each.isDirectory() ? [`${path}/`, ...list(path)] : [path];
    });
})("");

/** A path from the root, or the last parts of one: `core/http/load.ts`. */
const isInTree = (path: string): boolean =>
  tree.some((each) => each === path || each.endsWith(`/${path}`));

const PATH =
  /(?<![\w/.:@$*{}<>~-])((?:[\w-]+\/)+[\w.-]+\.(?:tsx?|js|sql|css|ya?ml|sh|md)|(?:src|test|web|lab|client|build|docs)\/(?:[\w-]+\/)*(?![\w*{<.[-]))(?![\w/(])/g;

/** The paths in comments that do not exist. What the build writes, and the files of a built page, come later. */
const lostPaths = (text: string): string[] =>
  text
    .split("\n")
    .map((line) => /^\s*(?:\*|\/\/|--|\/\*|#)(.*)|\s\/\/ (.*)/.exec(line))
    .flatMap((comment) => [...(comment?.[1] ?? comment?.[2] ?? "").matchAll(PATH)])
    .map(([, path = ""]) => path)
    .filter((path) => !/^(?:dist|assets)\//.test(path) && !isInTree(path));

describe("a path in a comment", () => {
  test("every path that a comment names exists", () => {
    const files = tree.filter(
      (path) =>
        /^(?:src|test|lab|build|web|client|\.ci|deploy)\/.*\.(?:tsx?|js|css|ya?ml|sh)$/.test(
          path,
        ) && !/^test\/citations\.test\.ts$|^client\/src\/schema\.ts$/.test(path),
    );
    assert.ok(files.length > 900);
    const lost = files.flatMap((file) =>
      lostPaths(readFileSync(join(root, file), "utf8")).map((path) => `${file}: ${path}`),
    );
    assert.deepEqual(lost, []);
  });

  test("a path in a comment that does not exist is found, also a folder, and the last parts of a path are enough", () => {
    const text = [
      "// See src/main.ts, core/http/load.ts and src/core/http/.",
      " * Once in src/http/load.ts, http/send-stream.ts and src/jobs/, or as dist/main.js",
      'const path = "src/none.ts"; // src/none.ts',
    ].join("\n");
    const lost = ["src/http/load.ts", "http/send-stream.ts", "src/jobs/", "src/none.ts"];
    assert.deepEqual(lostPaths(text), lost);
  });
});

describe("a document", () => {
  const below = (folder: string) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((name) =>
      join(folder, name),
    );
  const documents = [
    ...["README.md", "SECURITY.md", "CONTRIBUTING.md", "ARCHITECTURE.md"],
    ...["web/README.md", "client/README.md", "migrations/README.md"],
    ...below("lab").filter((path) => path.endsWith(".md")),
    ...below("docs").filter((path) => path.endsWith(".md")),
  ];
  const tests = new Set(below("test").map((path) => basename(path)));

  /** Links, tests and paths that do not exist. */
  function lostIn(path: string, text: string): string[] {
    const links = [...text.matchAll(/\]\((?![a-z]+:|#|<)([^)#\s]+)[^)]*\)/g)]
      .map(([, link = ""]) => join(dirname(path), link))
      .filter((file) => !existsSync(join(root, file)));
    const names = [...text.matchAll(/(?<![\w/-])([\w-]+\.test\.ts)\b/g)]
      .map(([, name = ""]) => name)
      .filter((name) => !tests.has(name));
    const paths = [
      ...text.matchAll(
        /`((?:src|test|lab|build|web|client|migrations|core|features)\/[\w./-]+\.\w+|(?:src|test|web|core|features)\/(?:[\w-]+\/)*)`/g,
      ),
    ]
      .map(([, file = ""]) => file)
      .filter(
        (file) =>
          !file.includes("NAME") && !isInTree(file) && !existsSync(join(root, dirname(path), file)),
      );
    return [...links, ...names, ...paths].map((lost) => `${path}: ${lost}`);
  }

  test("every link, test and path that a document names exists", () => {
    const lost = documents.flatMap((path) => lostIn(path, readFileSync(join(root, path), "utf8")));
    assert.deepEqual(lost, []);
  });

  test("a link, a test or a path that does not exist is found in a document", () => {
    const text =
      "[a](none.md), `none.test.ts`, `src/none.ts`, `core/none.ts` and `src/none/`; [b](../README.md), `core/http/load.ts`";
    assert.equal(lostIn("docs/a.md", text).length, 5);
  });
});
