/* `rapport export config`: the manifest that creates a workspace again, on another server. */
import assert from "node:assert/strict";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { parse } from "yaml";
import { startOwnServer, type TestServer } from "../../../../harness.ts";
import { temporaryFolder } from "../../../../stored-rows.ts";
import { runCommand } from "../../../../system/child-server.ts";
import { translatedWorkspace } from "../../../../translated-workspace.ts";

const folder = await temporaryFolder();
const first = await startOwnServer();
const second = await startOwnServer();

const asVariable = (name: string) => `\${${name}}`;

/** Looks like it held a variable. */
const APP_NAME = `Web ${asVariable("NOT_A_VARIABLE")} ${asVariable("lower_case")}`;

const PASSWORD = "password-of-the-warehouse";

const MANIFEST = {
  company: {
    name: "Acme",
    scim_tokens: [{ name: "idp", token: "a-token-of-the-idp", service_origin: "acme.example" }],
    permission_sets: [{ name: "readers", permissions: ["basic_access"] }],
    scim_defaults: { department: "engineering" },
  },
  workspaces: [
    {
      ...translatedWorkspace(),
      name: "demo",
      allow_reset: true,
      api_keys: [
        { name: "dev", key: "a-secret-of-dev", permissions: ["all"] },
        {
          name: "Dev",
          key: "another-secret-of-dev",
          permissions: ["users.track"],
          ip_allowlist: ["10.0.0.0/8"],
        },
      ],
      apps: [{ id: "web", name: APP_NAME, platform: "web" }],
      subscription_groups: [{ id: "news", name: "News", channel: "email" }],
      teams: [{ name: "Growth", id: "growth" }],
      integrations: [
        {
          id: "6e1d3c4a-93b0-4c7e-8a55-0f2b7c9d1e34",
          name: "CRM",
          type: "attributes",
          schedule: "*/15 * * * *",
          contact_emails: "ops@example.com",
          warehouse: {
            type: "postgres",
            url: `postgres://reader:${PASSWORD}@warehouse.example/crm`,
            table: "public.users",
          },
        },
      ],
      preference_centers: [{ id: "center", name: "Center", title: "Choose" }],
    },
  ],
};

const run = (server: TestServer, args: string[], environment: Record<string, string> = {}) =>
  runCommand([...args, "--url", server.url], { ADMIN_TOKEN: server.adminToken, ...environment });

describe("rapport export config", () => {
  test("an exported manifest creates the same workspace on an empty server and contains no secret", async () => {
    const applied = await first.admin("POST", "/admin/v1/apply", MANIFEST);
    assert.equal(applied.status, 200, JSON.stringify(applied.body));
    // Created through the API: no manifest declared it.
    const path = "/admin/v1/workspaces/demo/apps/ios";
    await first.admin("PUT", path, { name: "iPhone", platform: "ios" });
    const file = join(folder, "rapport.yaml");
    const { code, stderr } = await run(first, ["export", "config", file]);
    assert.equal(code, 0, stderr);
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    const text = await readFile(file, "utf8");
    for (const secret of ["a-secret-of-dev", "another-secret", "a-token-of-the-idp", PASSWORD])
      assert.ok(!text.includes(secret), secret);
    const exported = parse(text);
    assert.deepEqual(
      exported.workspaces[0].api_keys.map((key: any) => key.key),
      ["API_KEY_DEMO_DEV", "API_KEY_DEMO_DEV_2"].map(asVariable),
    );

    const variables = [...text.matchAll(/^# {3}export (\w+)=/gm)].map(([, name = ""]) => name);
    const environment = Object.fromEntries(
      variables.map((name) => [name, name === "DOLLAR" ? "$" : `a-new-secret-for-${name}`]),
    );
    const url = "postgres://reader:new@warehouse.example/crm";
    const missing = await run(second, ["apply", file]);
    assert.match(missing.stderr, /environment variable/);
    const again = await run(second, ["apply", file, "--yes"], {
      ...environment,
      INTEGRATION_DEMO_CRM_URL: url,
    });
    assert.equal(again.code, 0, again.stderr);

    const copy = await run(second, ["export", "config"]);
    assert.deepEqual(parse(copy.stdout), exported);
    const apps = await second.admin("GET", "/admin/v1/workspaces/demo/apps");
    assert.deepEqual(apps.body.apps.map((app: any) => app.name).sort(), [APP_NAME, "iPhone"]);
    const dev = exported.workspaces[0].api_keys.find((each: any) => each.name === "dev");
    const key = environment[dev.key.slice(2, -1)] ?? "";
    const body = { attributes: [{ external_id: "ada", first_name: "Ada" }] };
    assert.equal((await second.send("POST", "/users/track", body, { key })).status, 201);
  });
});
