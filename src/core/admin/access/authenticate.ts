import { Problem } from "../../base/problem.ts";
import type { StoringServices } from "../../database/storing-services.ts";
import type { Authenticator, Presented } from "../../http/callers.ts";
import type { Access, AdministratorAccess } from "../../http/endpoint.ts";
import { adminPrintOf, hasHash } from "../secrets/secrets.ts";
import { findCompany, findWorkspace } from "../workspaces/find-workspace.ts";
import type { FailedAttempts } from "./failed-attempts.ts";
import { createHolderCache } from "./holder-cache.ts";
import { API_KEYS, readKeyHolders } from "./keys.ts";
import type { LastUsed } from "./last-used.ts";
import {
  callerOf,
  findPresented,
  refuseUnpermitted,
  type SessionFinder,
  type SignInHint,
} from "./presented-session.ts";
import { SCIM_TOKENS } from "./scim-tokens.ts";
import { selectTokenHolders } from "./store.ts";

export interface AuthenticatorServices extends StoringServices {
  readonly lastUsed: LastUsed;
  readonly failedAttempts: FailedAttempts;
  readonly sessions: SessionFinder;
}

/**
 * Identifies the caller of a request by its `Authorization: Bearer` header.
 *
 * Keys and tokens are looked up by their hash and cached for a second: a change made through this process
 * takes effect at once, one made through another process within that second.
 */
export function createAuthenticator(
  services: AuthenticatorServices,
  adminTokenHashes: readonly string[],
  signInHint: SignInHint = async () => ({}),
): Authenticator {
  const first = createIdentifier(services, adminTokenHashes, signInHint);
  const again = createIdentifier({ ...services, ...UNNOTICED }, adminTokenHashes, signInHint, 0);
  return { ...first, confirm: again.identify };
}

/** To confirm a caller is no use of the key, and its end no failed attempt. */
const UNNOTICED: Pick<AuthenticatorServices, "lastUsed" | "failedAttempts"> = {
  lastUsed: { note: () => {}, write: async () => {} },
  failedAttempts: {
    refuse: () => new Problem("UNAUTHENTICATED", "The right to this request has ended."),
    note: () => {},
    refuseLocked: () => {},
  },
};

/** @param trustMs how long keys and tokens are cached. */
function createIdentifier(
  services: AuthenticatorServices,
  adminTokenHashes: readonly string[],
  signInHint: SignInHint,
  trustMs?: number,
): Pick<Authenticator, "identify" | "forget"> {
  const { database } = services;
  const keys = createKeyCheck(services, trustMs);
  const tokens = createTokenCheck(services, trustMs);
  const findSession = (presented: Presented) => findPresented(services, signInHint, presented);

  /** If a request has a key or token, only that counts; its cookies are ignored. */
  async function administrator(access: AdministratorAccess, presented: Presented) {
    const { authorization, browser } = presented;
    if (authorization === undefined && browser?.sessionSecret !== undefined) {
      const session = await findSession(presented);
      refuseUnpermitted(session.person, access, presented.workspaceName);
      return callerOf(session);
    }
    services.failedAttempts.refuseLocked("administrator", presented.address);
    const token = bearerToken(authorization);
    const hash = token && adminTokenHashes.find((each) => hasHash(token, each));
    if (!hash) throw services.failedAttempts.refuse("administrator", presented.address);
    return { actor: "administrator", actorName: null, adminPrint: adminPrintOf(hash) } as const;
  }

  return {
    async identify(access, presented) {
      switch (access.by) {
        case "key": {
          const { keyId, keyName, secretHash, workspace } = await keys.check(access, presented);
          return { actor: "key", actorName: keyName, keyId, secretHash, workspace };
        }
        case "scim": {
          const { tokenName, company, grantable } = await tokens.check(presented);
          return { actor: "scim", actorName: tokenName, company, grantable };
        }
        case "administrator": {
          const caller = await administrator(access, presented);
          if (access.of === "company") return { ...caller, company: await findCompany(database) };
          if (access.of !== "workspace") return caller;
          return {
            ...caller,
            workspace: await findWorkspace(database, presented.workspaceName ?? ""),
          };
        }
        case "session":
          return callerOf(await findSession(presented));
        case "anybody":
          return { actor: "anybody", actorName: null };
      }
    },
    forget() {
      keys.forget();
      tokens.forget();
    },
  };
}

/** The workspace of a request's API key, if the key may make the request. */
function createKeyCheck(
  { database, clock, lastUsed, failedAttempts }: AuthenticatorServices,
  trustMs: number | undefined,
) {
  const read = (hashes: readonly string[]) => readKeyHolders(database, hashes, clock.now());
  const keys = createHolderCache(read, trustMs);
  return {
    forget: keys.forget,
    async check(
      { permission, refuseWithout }: Access & { by: "key" },
      { authorization, address, baseUrl }: Presented,
    ) {
      const sent = bearerToken(authorization);
      const holder = await keys.find(sent);
      if (!holder) throw failedAttempts.refuse("key", address, sent);
      if (!holder.allows(address)) {
        throw new Problem("FORBIDDEN", "This API key may not be used from this address.");
      }
      refuseWithout?.(holder.workspace, baseUrl);
      if (!holder.permissions.has("all") && !holder.permissions.has(permission)) {
        throw new Problem("FORBIDDEN", `This API key lacks the permission ${permission}.`);
      }
      lastUsed.note(API_KEYS.table, holder.keyId);
      return holder;
    },
  };
}

/** Who holds the SCIM token of a request. */
function createTokenCheck(
  { database, clock, lastUsed, failedAttempts }: AuthenticatorServices,
  trustMs: number | undefined,
) {
  const read = (hashes: readonly string[]) => selectTokenHolders(database, hashes, clock.now());
  const tokens = createHolderCache(read, trustMs);
  return {
    forget: tokens.forget,
    async check({ authorization, origin, address }: Presented) {
      failedAttempts.refuseLocked("scim", address);
      const sent = bearerToken(authorization);
      const holder = await tokens.find(sent);
      if (!holder) throw failedAttempts.refuse("scim", address, sent);
      if (holder.requiredOrigin !== undefined && holder.requiredOrigin !== origin) {
        throw new Problem(
          "FORBIDDEN",
          "X-Request-Origin must be the service origin that belongs to this SCIM token.",
        );
      }
      lastUsed.note(SCIM_TOKENS.table, holder.tokenId);
      return holder;
    },
  };
}

/** The token of an `Authorization: Bearer TOKEN` header; the scheme's case does not matter. */
function bearerToken(authorization: string | undefined): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(authorization ?? "")?.[1];
}
