/*
 * Requests of other clients, recorded from their own code against Rapport
 * (test/fixtures/client-requests.jsonl): each request gets the same status again, in a workspace
 * with the settings that docs/compatibility.md recommends.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { packageRoot } from "../../../src/core/base/package-root.ts";
import { startServer, type TestWorkspace } from "../../harness.ts";

interface Recorded {
  /** The client and its version. */
  readonly client: string;
  readonly method: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly status: number;
}

const read = (...path: string[]) => readFileSync(join(packageRoot(), ...path), "utf8");

const recorded: Recorded[] = read("test", "fixtures", "client-requests.jsonl")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));

const clients = [...new Set(recorded.map(({ client }) => client))];

const RECOMMENDED = { track_max_updates: 75, intake: "lenient", capture_unsupported: true };

const server = await startServer();

/** Sends a client's requests, in their order. */
const replay = async (workspace: TestWorkspace, client: string) => {
  const answers = [];
  for (const each of recorded.filter((request) => request.client === client)) {
    const { method, path, query, body } = each;
    const whole = query ? `${path}?${new URLSearchParams(query)}` : path;
    answers.push({ each, answer: await workspace.call<any>(method, whole, body) });
  }
  return answers;
};

describe("requests of other clients", () => {
  for (const client of clients) {
    test(`every recorded request of ${client} gets its success again, with no object refused`, async () => {
      const workspace = await server.workspace({ settings: RECOMMENDED });
      const answers = await replay(workspace, client);
      assert.ok(answers.length >= 10);
      for (const { each, answer } of answers) {
        const what = `${each.method} ${each.path} ${JSON.stringify(answer.body)}`;
        assert.equal(answer.status, each.status, what);
        assert.equal(answer.body.errors, undefined, what);
      }
    });
  }

  test("batches of 75 are refused by the default settings, and accepted by the recommended ones", async () => {
    const workspace = await server.workspace();
    const [client = ""] = clients;
    const refused = (await replay(workspace, client)).filter(
      ({ answer }) => answer.body.message === "Max Input Length Exceeded",
    );
    assert.equal(refused.length, 2);
  });

  test("the compatibility page names every recorded client with its version", () => {
    const page = read("docs", "compatibility.md");
    for (const client of clients) {
      const [, name, version] = /^(.*) (\S+)$/.exec(client) ?? [];
      assert.match(page, new RegExp(`\\| \`${name}\` [^|]*\\| ${version} \\|`), client);
    }
  });
});
