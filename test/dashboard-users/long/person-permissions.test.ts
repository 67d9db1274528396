/*
 * The endpoints that each permission of a dashboard user opens: every endpoint below /admin/v1. The cases follow from the
 * declarations; docs/dashboard.md has the same as a table. Each endpoint with each permission:
 * dashboard-users/long/person-permission-pairs.test.ts.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import {
  COMPANY_PERMISSIONS,
  WORKSPACE_PERMISSIONS,
} from "../../../src/core/base/context/dashboard-permissions.ts";
import { packageRoot } from "../../../src/core/base/package-root.ts";
import {
  type AdministratorAccess,
  type Contract,
  pathsOf,
} from "../../../src/core/http/endpoint.ts";
import { administered, refusalOf, startPermittedPeople } from "../permitted-people.ts";
import { type SignedIn, signIn } from "../signed-in.ts";

const { server, personWith } = await startPermittedPeople();
const refusalTo = (browser: SignedIn, contract: Contract) => refusalOf(server, browser, contract);

const nameOf = (contract: Contract): string => `${contract.method} ${pathsOf(contract)[0]}`;

const nobody = await personWith("workspace", []);
const companyAdmin = await personWith("company", ["admin"]);

const signedIn = new Map<string, Promise<SignedIn>>();

/** Somebody with exactly these permissions of a kind. Each is signed in once. */
function personOf(of: AdministratorAccess["of"], names: readonly string[]): Promise<SignedIn> {
  const kind = of === "workspace" ? of : "company";
  const key = `${kind} ${names}`;
  const person = signedIn.get(key) ?? personWith(kind, names);
  signedIn.set(key, person);
  return person;
}

/** A person with every permission of a kind but one, and but `admin`, which opens everything. */
function personWithout(of: AdministratorAccess["of"], name: string): Promise<SignedIn> {
  const all: readonly string[] = of === "workspace" ? WORKSPACE_PERMISSIONS : COMPANY_PERMISSIONS;
  return personOf(
    of,
    all.filter((each) => each !== name && each !== "admin"),
  );
}

for (const contract of administered) {
  const { of, permissions } = contract.access;
  describe(`a person's permission for ${nameOf(contract)}`, () => {
    test("a person without its permissions is refused, and a company admin is not", async () => {
      assert.match((await refusalTo(nobody, contract)) ?? "", new RegExp(permissions[0] ?? ""));
      assert.equal(await refusalTo(companyAdmin, contract), undefined);
    });

    test("all other permissions of its kind together do not open it", async () => {
      for (const name of permissions.filter((each) => each !== "admin")) {
        const refusal = await refusalTo(await personWithout(of, name), contract);
        assert.match(refusal ?? "", new RegExp(`permission ${name}`));
      }
    });

    test("all permissions that are declared open it together, and none of them can be missing", async () => {
      assert.equal(await refusalTo(await personOf(of, permissions), contract), undefined);
      for (const missing of permissions) {
        const others = permissions.filter((name) => name !== missing);
        const refusal = await refusalTo(await personOf(of, others), contract);
        assert.match(refusal ?? "", new RegExp(`permission ${missing} `));
      }
    });
  });
}

test("every endpoint below /admin/v1 declares at least one permission", () => {
  const open = administered.filter(({ access }) => access.permissions.length === 0);
  assert.deepEqual(open.map(nameOf), []);
});

test("the administrator who signed in with the admin token may call every endpoint", async () => {
  const browser = await signIn(server);
  for (const contract of administered) assert.equal(await refusalTo(browser, contract), undefined);
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
  const wanted = administered.map((contract) => {
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
