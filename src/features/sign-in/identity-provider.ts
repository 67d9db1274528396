import { readFile } from "node:fs/promises";
import * as oidc from "openid-client";
import type { OidcSettings } from "../../core/base/oidc-settings.ts";
import { Problem } from "../../core/base/problem.ts";

/*
 * Sign-in through an OpenID Connect provider: the authorization code flow with PKCE, found by
 * discovery. The state of an attempt travels in a cookie of the browser that began it, so that any
 * server process can finish it and no other browser can. docs/decisions/sign-in.md
 */

/** The cookie's contents between the redirect to the provider and the one back. */
export interface SignInAttempt {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  /** A path of the dashboard. */
  readonly returnTo: string;
}

export interface IdentityProvider {
  readonly view: { readonly name: string; readonly url: string };
  /** @returns where to send the browser. @throws Problem UNAVAILABLE if the provider cannot be reached. */
  begin(redirectUri: string, returnTo: string): Promise<{ url: string; attempt: SignInAttempt }>;
  /**
   * @param callback the address that the provider sent the browser to, with its query.
   * @returns the user name of the person.
   * @throws Problem FORBIDDEN if the provider refuses, or confirms no user name.
   */
  finish(callback: URL, attempt: SignInAttempt): Promise<string>;
}

const SCOPE = "openid email profile";

const TIMEOUT_SECONDS = 10;

/** Configurations, keys and tokens take some kilobytes. */
const LARGEST_BODY = 1_048_576;

/** Reads the provider's responses with a bound; the library would read them whole. */
const boundedFetch: oidc.CustomFetch = async (url, options) => {
  const response = await fetch(url, options as RequestInit);
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of response.body ?? []) {
    bytes += part.length;
    // Leaving the loop cancels the body.
    if (bytes > LARGEST_BODY) throw new Error("The identity provider's response is too large.");
    parts.push(part);
  }
  const { status, statusText, headers } = response;
  const body = parts.length > 0 ? Buffer.concat(parts) : null;
  return new Response(body, { status, statusText, headers });
};

/** The secret that the provider knows, if any. @throws an Error in words for a file that cannot be read. */
export async function readClientSecret({
  clientSecret,
  clientSecretFile: path,
}: Pick<OidcSettings, "clientSecret" | "clientSecretFile">): Promise<string | undefined> {
  if (clientSecret !== undefined || path === undefined) return clientSecret;
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new Error(`OIDC_CLIENT_SECRET_FILE=${path}: it cannot be read (${error.code}).`);
  });
  return text.trim();
}

/** Signs people in with OpenID Connect. The provider is asked for its configuration at the first sign-in. */
export async function createIdentityProvider(settings: OidcSettings): Promise<IdentityProvider> {
  const { name, userClaim } = settings;
  const secret = await readClientSecret(settings);
  let configuration: Promise<oidc.Configuration> | undefined;

  /**
   * Requested at the first sign-in, and again after a failure: the provider may start after
   * Rapport.
   */
  const discovered = (): Promise<oidc.Configuration> => {
    configuration ??= discover(settings, secret).catch((error: unknown) => {
      configuration = undefined;
      throw unreachable(error);
    });
    return configuration;
  };

  return {
    view: { name, url: "/dashboard/sign-in/oidc" },
    async begin(redirectUri, returnTo) {
      const attempt = {
        state: oidc.randomState(),
        nonce: oidc.randomNonce(),
        verifier: oidc.randomPKCECodeVerifier(),
        returnTo,
      };
      const url = oidc.buildAuthorizationUrl(await discovered(), {
        redirect_uri: redirectUri,
        scope: SCOPE,
        state: attempt.state,
        nonce: attempt.nonce,
        code_challenge: await oidc.calculatePKCECodeChallenge(attempt.verifier),
        code_challenge_method: "S256",
      });
      return { url: url.href, attempt };
    },
    async finish(callback, { state, nonce, verifier }) {
      const provider = await discovered();
      const tokens = await oidc
        .authorizationCodeGrant(provider, callback, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        })
        .catch((error: unknown) => {
          throw refusedByProvider(error);
        });
      const claims = tokens.claims();
      if (claims?.[userClaim] !== undefined) return userNameIn({ ...claims }, userClaim);
      const about = await oidc
        .fetchUserInfo(provider, tokens.access_token, claims?.sub ?? "")
        .catch((error: unknown) => {
          throw refusedByProvider(error);
        });
      return userNameIn({ ...about }, userClaim);
    },
  };
}

/** Sends the client's secret the way that the provider takes it; `client_secret_basic` is the standard's default. */
async function discover(
  { issuer, clientId }: OidcSettings,
  secret: string | undefined,
): Promise<oidc.Configuration> {
  const url = new URL(issuer);
  // The settings allow http only on a loopback address.
  const execute = url.protocol === "http:" ? [oidc.allowInsecureRequests] : [];
  const found = await oidc.discovery(url, clientId, undefined, oidc.None(), {
    execute,
    timeout: TIMEOUT_SECONDS,
    [oidc.customFetch]: boundedFetch,
  });
  if (secret === undefined) return found;
  const metadata = found.serverMetadata();
  const { token_endpoint_auth_methods_supported: methods = ["client_secret_basic"] } = metadata;
  const authentication = methods.includes("client_secret_basic")
    ? oidc.ClientSecretBasic(secret)
    : oidc.ClientSecretPost(secret);
  const configuration = new oidc.Configuration(metadata, clientId, secret, authentication);
  configuration.timeout = TIMEOUT_SECONDS;
  configuration[oidc.customFetch] = boundedFetch;
  for (const extend of execute) extend(configuration);
  return configuration;
}

/** An email address that the provider has not verified may belong to another person. */
function userNameIn(claims: Readonly<Record<string, unknown>>, userClaim: string): string {
  const { [userClaim]: userName, email_verified: isVerified } = claims;
  const isConfirmed = userClaim !== "email" || isVerified === true || isVerified === "true";
  if (typeof userName === "string" && userName !== "" && isConfirmed) return userName;
  throw new Problem(
    "FORBIDDEN",
    userClaim === "email"
      ? "The identity provider does not confirm that your email address is yours, so you cannot sign in with it."
      : `The identity provider sends no '${userClaim}' for you, so you cannot sign in with it.`,
  );
}

const unreachable = (cause: unknown): Problem =>
  new Problem("UNAVAILABLE", "The identity provider cannot be reached. Try again shortly.", {
    retryAfterSeconds: 5,
    cause,
  });

/** The provider's message may repeat the caller's input, so only its code is shown. */
function refusedByProvider(error: unknown): Problem {
  const refused = "The identity provider did not confirm the sign-in. Begin again.";
  if (error instanceof oidc.AuthorizationResponseError) {
    const denied = "The identity provider did not let you sign in. Ask an administrator.";
    return new Problem("FORBIDDEN", error.error === "access_denied" ? denied : refused);
  }
  return isOutage(error) ? unreachable(error) : new Problem("FORBIDDEN", refused);
}

/** Whether the provider failed, and not the person: no connection, no HTTP or TLS, no response in time, 5xx, or too many requests. */
function isOutage(error: unknown): boolean {
  const { code, status, cause } = error as {
    code?: string;
    status?: number;
    cause?: { status?: number };
  };
  // `fetch` says so of whatever keeps it from a response: names, connections, certificates, no HTTP.
  const isNetwork = code === "OAUTH_TIMEOUT" || (error instanceof TypeError && cause !== undefined);
  const answered = status ?? cause?.status ?? 0;
  return isNetwork || answered >= 500 || answered === 429;
}
