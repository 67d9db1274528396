/* Sign-in while the identity provider cannot be reached, fails, or answers without end: nobody's failed sign-in. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, describe, test } from "node:test";
import { startProvider, visit } from "../../dashboard-users/identity-provider.ts";
import { freePort } from "../../free-port.ts";
import { startOwnServer } from "../../harness.ts";
import { declare, scimClient } from "../../scim-client.ts";

const provider = await startProvider(await freePort());

const BEGIN = "/dashboard/sign-in/oidc";

describe("an outage of the identity provider", () => {
  test("a sign-in while the identity provider cannot be reached gives a page that says so", async () => {
    const own = await startOwnServer({
      oidc: { ...provider.settings, issuer: `http://127.0.0.1:${await freePort()}` },
    });
    const { status, text } = await visit(own, BEGIN);
    assert.equal(status, 503);
    assert.match(text, /cannot be reached/);
  });

  test("an identity provider that fails, has too many requests, or cannot be spoken to is an outage, and nobody's failed sign-in", async () => {
    const ownPort = await freePort();
    const failing = await startProvider(ownPort);
    const own = await startOwnServer({ port: ownPort, oidc: failing.settings, maxFailedAuth: 2 });
    await declare(own);
    const { userName } = await scimClient(own).user({});
    failing.signsIn({ email: userName as string, email_verified: true });
    for (const path of ["/.well-known/openid-configuration", "/token", "/me"]) {
      for (const status of [500, 502, 503, 429, "no HTTP"] as const) {
        failing.fails(path, status);
        const { status: answered, text } = await visit(own, BEGIN);
        assert.equal(answered, 503, `${path} ${status}: ${text}`);
        assert.match(text, /cannot be reached/);
      }
      failing.fails(path, undefined);
    }
    assert.equal((await visit(own, BEGIN)).status, 200);
  });

  test("an identity provider that answers without end is left after a few megabytes", async () => {
    let sentMb = 0;
    const endless = createServer((_, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      const send = () => {
        while (!response.destroyed) {
          sentMb += 1;
          if (!response.write(" ".repeat(1_048_576))) return void response.once("drain", send);
        }
      };
      send();
    });
    after(() => endless.close());
    await once(endless.listen(0, "127.0.0.1"), "listening");
    const { port } = endless.address() as AddressInfo;
    const own = await startOwnServer({
      oidc: { ...provider.settings, issuer: `http://127.0.0.1:${port}` },
    });
    const { status, text } = await visit(own, BEGIN);
    assert.equal(status, 503);
    assert.match(text, /cannot be reached/);
    assert.ok(sentMb < 32, `${sentMb} MB were sent.`);
  });
});
