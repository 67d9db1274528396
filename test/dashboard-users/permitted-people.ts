/* Dashboard users with some permissions, and what the endpoints below /admin/v1 say to them. */
import assert from "node:assert/strict";
import { type AdministratorAccess, type Contract, pathsOf } from "../../src/core/http/endpoint.ts";
import { ENDPOINTS } from "../../src/server/assembled.ts";
import { freePort } from "../free-port.ts";
import { startOwnServer, type TestServer } from "../harness.ts";
import { declare, scimClient } from "../scim-client.ts";
import { startProvider, visit } from "./identity-provider.ts";
import { continueSession, type SignedIn } from "./signed-in.ts";

type Administered = Contract & { readonly access: AdministratorAccess };

/** The endpoints below /admin/v1. */
export const administered = ENDPOINTS.map(({ contract }) => contract).filter(
  (contract): contract is Administered => contract.access.by === "administrator",
);

export interface PermittedPeople {
  readonly server: TestServer;
  /** Signs a new person in who has these permissions of the company or of the workspace `demo`. */
  personWith(of: "workspace" | "company", permissions: readonly string[]): Promise<SignedIn>;
}

export async function startPermittedPeople(): Promise<PermittedPeople> {
  const port = await freePort();
  const provider = await startProvider(port);
  const server = await startOwnServer({ port, oidc: provider.settings });
  await declare(server);
  const scim = scimClient(server);
  return {
    server,
    async personWith(of, permissions) {
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
    },
  };
}

/**
 * Sends a request whose permissions are checked before anything else. @returns the refusal, if it
 * is one of these.
 */
export async function refusalOf(
  { url }: TestServer,
  browser: SignedIn,
  contract: Contract,
): Promise<string | undefined> {
  const path = (pathsOf(contract)[0] ?? "")
    .replace(":name", "demo")
    .replaceAll(/:\w+/g, "9f1c0a52-6a0e-4a3e-9d55-0c9b1f3c2d11");
  const response = await fetch(url + path, {
    method: contract.method,
    headers: { ...browser.headers, "content-type": "text/nothing" },
  });
  // The body of a success may be a stream without an end.
  if (response.ok) return void (await response.body?.cancel());
  const text = await response.text();
  assert.notEqual(response.status, 401, text);
  return text.includes("You lack the permission") ? text : undefined;
}
