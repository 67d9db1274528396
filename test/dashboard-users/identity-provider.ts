/*
 * An OpenID Connect provider for tests (the library oidc-provider, certified), and a browser that
 * follows its redirects. People sign in there without a password: `signsIn` names the person.
 */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after } from "node:test";
// @ts-expect-error: it comes without types.
import Provider from "oidc-provider";
import type { Config } from "../../src/server/config.ts";
import { freePort } from "../free-port.ts";
import type { TestServer } from "../harness.ts";

export const CLIENT_SECRET = "the-secret-of-the-client";

/** The provider's claims about a person. */
export interface Claims {
  readonly email?: string;
  readonly email_verified?: boolean;
  readonly preferred_username?: string;
}

export interface TestProvider {
  readonly settings: NonNullable<Config["oidc"]>;
  /** The person who signs in next; undefined if the provider refuses to sign in. */
  signsIn(person: Claims | undefined): void;
  /** Answers requests to a path with this status from now on, or with no HTTP; undefined: as it should. */
  fails(path: string, how: number | "no HTTP" | undefined): void;
  /** Requests to the provider, in order. */
  readonly asked: URL[];
}

/** @param port of the server that people sign in to. */
export async function startProvider(serverPort: number): Promise<TestProvider> {
  const port = await freePort();
  const issuer = `http://127.0.0.1:${port}`;
  const asked: URL[] = [];
  let person: Claims | undefined;
  const failures = new Map<string, number | "no HTTP" | undefined>();
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: "rapport",
        client_secret: CLIENT_SECRET,
        redirect_uris: [`http://127.0.0.1:${serverPort}/dashboard/sign-in/callback`],
      },
    ],
    cookies: { keys: ["a key of the tests"] },
    claims: {
      openid: ["sub"],
      email: ["email", "email_verified"],
      profile: ["name", "preferred_username"],
    },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    findAccount: (_context: unknown, accountId: string) => ({
      accountId,
      claims: () => ({ sub: accountId, ...JSON.parse(accountId) }),
    }),
    async loadExistingGrant({ oidc }: any) {
      const { clientId } = oidc.client;
      const grant = new provider.Grant({ clientId, accountId: oidc.session.accountId });
      grant.addOIDCScope("openid email profile");
      await grant.save();
      return grant;
    },
  });
  const handle = provider.callback();
  const server = createServer(async (request, response) => {
    asked.push(new URL(request.url ?? "", issuer));
    const failure = failures.get(request.url ?? "");
    if (failure === "no HTTP") return request.socket.end("certificate has expired");
    if (failure !== undefined) return response.writeHead(failure).end("busy");
    if (!request.url?.startsWith("/interaction/")) return handle(request, response);
    const refusal = { error: "access_denied", error_description: "not today" };
    const result = person ? { login: { accountId: JSON.stringify(person) } } : refusal;
    await provider.interactionFinished(request, response, result);
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    settings: {
      issuer,
      clientId: "rapport",
      clientSecret: CLIENT_SECRET,
      clientSecretFile: undefined,
      name: "Acme",
      userClaim: "email",
    },
    signsIn(next) {
      person = next;
    },
    fails(path, how) {
      failures.set(path, how);
    },
    asked,
  };
}

export interface Visited {
  readonly status: number;
  readonly text: string;
  /** Every address that the browser came through, the last one first shown. */
  readonly path: readonly URL[];
  /** Its cookies of the server, as it would send them back. */
  readonly cookie: string;
}

/** Opens a path as a browser does: follows redirects, and keeps the cookies of each host. */
export async function visit(
  server: TestServer,
  path: string,
  jars = new Map<string, Map<string, string>>(),
): Promise<Visited> {
  let url = new URL(path, server.url);
  const passed: URL[] = [];
  for (let steps = 0; steps < 12; steps++) {
    passed.push(url);
    const jar = jars.get(url.host) ?? new Map<string, string>();
    jars.set(url.host, jar);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
    const response = await fetch(url, { redirect: "manual", headers: { cookie } });
    for (const set of response.headers.getSetCookie()) {
      const [pair = ""] = set.split(";");
      const [name = "", value = ""] = [pair.split("=", 1)[0], pair.slice(pair.indexOf("=") + 1)];
      if (value === "" || /Max-Age=0|Expires=Thu, 01 Jan 1970/i.test(set)) jar.delete(name);
      else jar.set(name, value);
    }
    const location = response.headers.get("location");
    if (location === null) {
      const kept = jars.get(new URL(server.url).host) ?? new Map();
      const cookies = [...kept].map(([name, value]) => `${name}=${value}`).join("; ");
      return {
        status: response.status,
        text: await response.text(),
        path: passed,
        cookie: cookies,
      };
    }
    await response.arrayBuffer();
    url = new URL(location, url);
  }
  return assert.fail(`too many redirects: ${passed.join(" ")}`);
}
