/*
 * The endpoints that each permission of a dashboard user opens: every endpoint below /admin/v1 with
 * every permission. The cases follow from the declarations; docs/dashboard.md has the same as a
 * table.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import {
  COMPANY_PERMISSIONS,
  WORKSPACE_PERMISSIONS,
} from "../../src/base/context/dashboard-permissions.ts";
import { packageRoot } from "../../src/base/package-root.ts";
import { type AdministratorAccess, type Contract, pathsOf } from "../../src/http/endpoint.ts";
import { ENDPOINTS } from "../../src/server/app.ts";
import { freePort } from "../free-port.ts";
import { startOwnServer } from "../harness.ts";
import { sized } from "../sizes.ts";
import { startProvider, visit } from "./identity-provider.ts";
import { declare, scimClient } from "./scim/scim-client.ts";
import { continueSession, type SignedIn, signIn } from "./signed-in.ts";

/**
 * One in so many pairs of an endpoint and a permission that it does not require is tried. That no other permission opens an
 * endpoint is shown for all of them by people with every permission but the required one.
 */
const SHARE = sized(9, 1);

const port = await freePort();
const provider = await startProvider(port);
const server = await startOwnServer({ port, oidc: provider.settings });
await declare(server);
const scim = scimClient(server);

type Administered = Contract & { readonly access: AdministratorAccess };

const contracts = ENDPOINTS.map(({ contract }) => contract).filter(
  (contract): contract is Administered => contract.access.by === "administrator",
);

const nameOf = (contract: Contract): string => `${contract.method} ${pathsOf(contract)[0]}`;

/** A person with these permissions of the company or of the workspace `demo`. */
async function personWith(of: "workspace" | "company", permissions: readonly string[]) {
  const appGroup = [{ appGroupName: "demo", appGroupPermissions: permissions }];
  const { userName } = await scim.user({
    permissions:
      of === "workspace"
        ? { companyPermissions: [], appGroup }
        : { companyPermissions: permissions, appGroup: [] },
  });
  provider.signsIn({ email: userName as string, email_verified: true });
  const { cookie } = await visit(server, "/dashboard/sign-in/oidc");
  return continueSession(server, cookie);
}

/**
 * Sends a request whose permissions are checked before anything else. @returns the refusal, if it
 * is one of these.
 */
async function refusalOf(browser: SignedIn, contract: Contract): Promise<string | undefined> {
  const path = (pathsOf(contract)[0] ?? "")
    .replace(":name", "demo")
    .replaceAll(/:\w+/g, "9f1c0a52-6a0e-4a3e-9d55-0c9b1f3c2d11");
  const response = await fetch(server.url + path, {
    method: contract.method,
    headers: { ...browser.headers, "content-type": "text/nothing" },
  });
  // The body of a success may be a stream without an end.
  if (response.ok) return void (await response.body?.cancel());
  const text = await response.text();
  assert.notEqual(response.status, 401, text);
  return text.includes("You lack the permission") ? text : undefined;
}

const nobody = await personWith("workspace", []);
const ofWorkspace = new Map<string, SignedIn>();
for (const name of WORKSPACE_PERMISSIONS)
  ofWorkspace.set(name, await personWith("workspace", [name]));
const ofCompany = new Map<string, SignedIn>();
for (const name of COMPANY_PERMISSIONS) ofCompany.set(name, await personWith("company", [name]));
const companyAdmin = ofCompany.get("admin") as SignedIn;

/** People with every permission of a kind but one, and but `admin`, which opens everything. */
const withoutOne = new Map<string, Promise<SignedIn>>();

function personWithout(of: AdministratorAccess["of"], name: string): Promise<SignedIn> {
  const kind = of === "workspace" ? of : "company";
  const all: readonly string[] = kind === "workspace" ? WORKSPACE_PERMISSIONS : COMPANY_PERMISSIONS;
  const key = `${kind} ${name}`;
  const others = all.filter((each) => each !== name && each !== "admin");
  const person = withoutOne.get(key) ?? personWith(kind, others);
  withoutOne.set(key, person);
  return person;
}

let turn = 0;
const isTried = (): boolean => turn++ % SHARE === 0;

for (const contract of contracts) {
  const { of, permissions } = contract.access;
  describe(`a person's permission for ${nameOf(contract)}`, () => {
    test("a person without its permissions is refused, and a company admin is not", async () => {
      assert.match((await refusalOf(nobody, contract)) ?? "", new RegExp(permissions[0] ?? ""));
      assert.equal(await refusalOf(companyAdmin, contract), undefined);
    });

    test("each single permission opens it only if it is the one that is declared, or admin", async () => {
      const own = of === "workspace" ? ofWorkspace : ofCompany;
      const foreign = of === "workspace" ? ofCompany : ofWorkspace;
      const ofOwn = [...own].map(async ([name, browser]) => {
        const opens = name === "admin" || (permissions.length === 1 && permissions[0] === name);
        if (!opens && !isTried()) return;
        const refusal = await refusalOf(browser, contract);
        assert.equal(refusal === undefined, opens, `${name}: ${refusal}`);
      });
      const ofForeign = [...foreign].map(async ([name, browser]) => {
        if (browser === companyAdmin || !isTried()) return;
        assert.notEqual(await refusalOf(browser, contract), undefined, name);
      });
      await Promise.all([...ofOwn, ...ofForeign]);
    });

    test("all other permissions of its kind together do not open it", async () => {
      for (const name of permissions.filter((each) => each !== "admin")) {
        const refusal = await refusalOf(await personWithout(of, name), contract);
        assert.match(refusal ?? "", new RegExp(`permission ${name}`));
      }
    });

    if (permissions.length > 1) {
      test("all permissions that are declared open it together, and none of them can be missing", async () => {
        assert.equal(of, "workspace");
        assert.equal(await refusalOf(await personWith(of, permissions), contract), undefined);
        for (const missing of permissions) {
          const others = permissions.filter((name) => name !== missing);
          const refusal = await refusalOf(await personWith(of, others), contract);
          assert.match(refusal ?? "", new RegExp(`permission ${missing} `));
        }
      });
    }
  });
}

test("every endpoint below /admin/v1 declares at least one permission", () => {
  const open = contracts.filter(({ access }) => access.permissions.length === 0);
  assert.deepEqual(open.map(nameOf), []);
});

test("the administrator who signed in with the admin token may call every endpoint", async () => {
  const browser = await signIn(server);
  for (const contract of contracts) assert.equal(await refusalOf(browser, contract), undefined);
});

test("docs/dashboard.md says of every endpoint which permissions it needs", () => {
  const page = readFileSync(join(packageRoot(), "docs", "dashboard.md"), "utf8");
  const written = new Map<string, string>();
  for (const [, needs = "", calls = ""] of page.matchAll(
    /^\| ([^|]+) \| [^|]+ \| (`[A-Z].*) \|$/gm,
  )) {
    for (const [, call = ""] of calls.matchAll(/`([A-Z]+ [^`]+)`/g))
      written.set(call, needs.trim());
  }
  const wanted = contracts.map((contract) => {
    const { of, permissions } = contract.access;
    const kind = of === "workspace" ? "" : "company: ";
    const path = (pathsOf(contract)[0] ?? "")
      .replace("/admin/v1/workspaces/:name/", "…/")
      .replaceAll(/:(\w+)/g, "{$1}");
    const needs = permissions.map((name) => `${kind}\`${name}\``).join(" and ");
    return [`${contract.method} ${path}`, needs] as const;
  });
  assert.deepEqual(Object.fromEntries(written), Object.fromEntries(wanted));
});
