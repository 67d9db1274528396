/* The JSON Schema of a manifest, as editors read it: manifests are checked with the same schema. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { TSchema } from "typebox";
import { parse } from "yaml";
import { schemaOf } from "../../../../../src/core/admin/workspaces/apply-manifest.ts";
import { manifestChecks } from "../../../../../src/core/admin/workspaces/manifest.ts";
import { packageRoot } from "../../../../../src/core/base/package-root.ts";
import { COMPANY_RESOURCES, RESOURCES } from "../../../../../src/server/assembled.ts";
import { startOwnServer } from "../../../../harness.ts";
import { runCommand } from "../../../../system/child-server.ts";

const server = await startOwnServer();
const served = (await server.send("GET", "/manifest.schema.json", undefined, { key: null })).body;

interface Node {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly items?: Node;
  readonly anyOf?: readonly Node[];
}

/** The members of a schema without a description; names explain themselves. */
function undescribed(node: Node, path = ""): string[] {
  const inside = Object.entries(node.properties ?? {}).flatMap(([name, member]) => {
    const place = `${path}.${name}`;
    const says = member.description !== undefined || SELF_EVIDENT.includes(name);
    return [...(says ? [] : [place]), ...undescribed(member, place)];
  });
  return [...inside, ...(node.items ? undescribed(node.items, `${path}[]`) : [])];
}

/** The schema without the variables that editors are told about. */
function withoutVariables(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withoutVariables);
  if (node === null || typeof node !== "object") return node;
  const { anyOf } = node as { anyOf?: readonly Record<string, unknown>[] };
  if (anyOf?.[1]?.pattern === "\\$\\{[A-Z][A-Z0-9_]*\\}") return anyOf[0];
  return Object.fromEntries(
    Object.entries(node).map(([name, member]) => [name, withoutVariables(member)]),
  );
}

const SELF_EVIDENT = ["name", "country", "language"];

describe("the published manifest schema", () => {
  test("the published manifest schema equals the one used for validation, apart from variable placeholders", () => {
    const { $schema, ...rest } = served;
    assert.equal($schema, "https://json-schema.org/draft/2020-12/schema");
    const own = schemaOf({ resources: RESOURCES, companyResources: COMPANY_RESOURCES });
    assert.deepEqual(withoutVariables(rest), JSON.parse(JSON.stringify(own)));
  });

  test("the manifest schema accepts a variable in place of a string that must match a pattern", () => {
    const locale = { name: "French", country: "France", language: "French" };
    const manifest = (id: string, locale_key: string) => ({
      company: { name: "Acme" },
      workspaces: [{ name: "w", locales: [{ id, locale_key, ...locale }] }],
    });
    const faultOf = (value: unknown) => manifestChecks(served as TSchema)(value)[0];
    const variable = (name: string) => `$\{${name}}`;
    const filledInLater = manifest(variable("LOCALE_ID"), variable("LOCALE_KEY"));
    assert.equal(faultOf(filledInLater), undefined);
    assert.deepEqual(faultOf(manifest(variable("locale"), "fr"))?.path.slice(-1), ["id"]);
  });

  const company = { name: "Acme" };
  const within = (workspace: object) => ({ company, workspaces: [{ name: "w", ...workspace }] });
  const refused: Readonly<Record<string, unknown>> = {
    "nothing in it": {},
    "no company": { workspaces: [] },
    "a key that is not known": { company, workspaces: [], workspace: [] },
    "a name that is empty": { company: { name: "" }, workspaces: [] },
    "a workspace without a name": { company, workspaces: [{}] },
    "a setting of another type": within({ settings: { track_max_updates: "75" } }),
    "a rate limit of nothing": within({
      settings: { rate_limits: { "users.track": { requests: 0, per_seconds: 1 } } },
    }),
    "a limit of a permission that is not known": within({
      settings: { rate_limits: { "users.fly": "off" } },
    }),
    "a key without permissions": within({ api_keys: [{ name: "a", key: "b" }] }),
    "a permission that is not known": within({
      api_keys: [{ name: "a", key: "b", permissions: ["users.fly"] }],
    }),
    "a channel that is not known": within({
      subscription_groups: [{ id: "a", name: "b", channel: "fax" }],
    }),
    "an id that is no UUID": within({ campaigns: [{ id: "welcome", name: "Welcome" }] }),
    "a token without an origin": {
      company: { ...company, scim_tokens: [{ name: "a", token: "b" }] },
      workspaces: [],
    },
  };
  for (const [what, manifest] of Object.entries(refused)) {
    test(`the manifest schema and the server report a fault at the same place: ${what}`, async () => {
      const fault = manifestChecks(served as TSchema)(manifest)[0];
      const answer = await server.admin("POST", "/admin/v1/apply", manifest);
      assert.equal(answer.status, 400);
      assert.deepEqual(fault?.path, answer.body.path);
    });
  }

  test("the manifest schema and the server accept every complete manifest in the guides", async () => {
    const docs = join(packageRoot(), "docs");
    const guides = readdirSync(docs)
      .filter((name) => name.endsWith(".md"))
      .map((name) => readFileSync(join(docs, name), "utf8"));
    const blocks = [...guides.join("\n").matchAll(/```yaml\n(.*?)```/gs)].map(
      ([, text = ""]) => text,
    );
    const whole = blocks.filter((text) => /^company:/m.test(text));
    assert.ok(whole.length >= 2);
    for (const [index, text] of whole.entries()) {
      assert.equal(manifestChecks(served as TSchema)(parse(text))[0], undefined, text);
      const manifest = parse(
        text
          .replaceAll(/\$\{[A-Z_]+_URL\}/g, "postgres://reader@warehouse.example/crm")
          .replaceAll(
            /\$\{BIGQUERY_KEY\}/g,
            '{\\"client_email\\": \\"a@b.example\\", \\"private_key\\": \\"key\\"}',
          )
          .replaceAll(/\$\{[A-Z_]+\}/g, `the-long-secret-of-manifest-${index}`),
      );
      const answer = await server.admin("POST", "/admin/v1/apply", manifest);
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
    }
  });

  test("a manifest may name its schema in a $schema member", async () => {
    const $schema = `${server.url}/manifest.schema.json`;
    const manifest = { $schema, company: { name: "Acme" }, workspaces: [] };
    assert.equal((await server.admin("POST", "/admin/v1/apply", manifest)).status, 200);
  });

  test("the manifest schema describes every section and setting", () => {
    assert.deepEqual(undescribed(served), [], "Give it a description; a section an `about`.");
    assert.ok(served.title && served.description);
  });

  test("rapport schema prints the manifest schema without a server", async () => {
    const { code, stdout } = await runCommand(["schema"], {});
    assert.equal(code, 0);
    assert.deepEqual(JSON.parse(stdout), served);
  });
});
