/* Every endpoint below /admin/v1 with every single permission of a dashboard user. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  COMPANY_PERMISSIONS,
  WORKSPACE_PERMISSIONS,
} from "../../../src/core/base/context/dashboard-permissions.ts";
import { keyOf } from "../../../src/core/http/endpoint.ts";
import { administered, refusalOf, startPermittedPeople } from "../permitted-people.ts";
import type { SignedIn } from "../signed-in.ts";

const { server, personWith } = await startPermittedPeople();
const ofWorkspace = new Map<string, SignedIn>();
for (const name of WORKSPACE_PERMISSIONS)
  ofWorkspace.set(name, await personWith("workspace", [name]));
const ofCompany = new Map<string, SignedIn>();
for (const name of COMPANY_PERMISSIONS) ofCompany.set(name, await personWith("company", [name]));
const companyAdmin = ofCompany.get("admin") as SignedIn;

for (const contract of administered) {
  const { of, permissions } = contract.access;
  describe(`a single permission for ${keyOf(contract)}`, () => {
    test("each single permission opens it only if it is the one that is declared, or admin", async () => {
      const own = of === "workspace" ? ofWorkspace : ofCompany;
      const foreign = of === "workspace" ? ofCompany : ofWorkspace;
      const ofOwn = [...own].map(async ([name, browser]) => {
        const opens = name === "admin" || (permissions.length === 1 && permissions[0] === name);
        const refusal = await refusalOf(server, browser, contract);
        assert.equal(refusal === undefined, opens, `${name}: ${refusal}`);
      });
      const ofForeign = [...foreign].map(async ([name, browser]) => {
        if (browser === companyAdmin) return;
        assert.notEqual(await refusalOf(server, browser, contract), undefined, name);
      });
      await Promise.all([...ofOwn, ...ofForeign]);
    });
  });
}
