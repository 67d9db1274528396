import type { Database } from "../database/database.ts";
import { isAllowed } from "../ip-allowlist.ts";
import { Problem } from "../problem.ts";
import type { Company } from "./company.ts";
import type { Permission } from "./permissions.ts";
import { hashSecret, sameSecret } from "./secrets.ts";
import { selectKeyHolder, selectTokenHolder } from "./store.ts";
import type { KeyHolder } from "./workspace.ts";

/** How long a server process relies on what it read of a key and its workspace, in milliseconds. */
const TRUST_MS = 1_000;

/** How many tokens are remembered at once; beyond that the memory starts afresh. */
const REMEMBERED_TOKENS = 10_000;

export interface Authenticator {
  /** The holder of an API key that is used from `ip`. @throws Problem UNAUTHENTICATED or FORBIDDEN. */
  keyHolder(
    authorization: string | undefined,
    permission: Permission,
    ip: string,
  ): Promise<KeyHolder>;
  /**
   * The company of a SCIM token. spec: Authentication; decision: SCIM.
   *
   * @param origin the header `X-Request-Origin`.
   * @throws Problem UNAUTHENTICATED; FORBIDDEN for another origin than the token's.
   */
  scimCompany(authorization: string | undefined, origin: unknown): Promise<Company>;
  /** @throws Problem UNAUTHENTICATED. */
  administrator(authorization: string | undefined): void;
  /** Reads everything anew: keys or workspaces have changed. */
  forget(): void;
}

/**
 * Tells who sends a request from its `Authorization: Bearer` header.
 *
 * Keys and tokens are looked up by their hash and remembered for a second, so that the hot path asks the
 * database nothing; a change made through this process is seen at once, one made through another
 * process within that second.
 */
export function createAuthenticator(database: Database, adminToken: string): Authenticator {
  const keys = briefMemory((hash) => selectKeyHolder(database, hash));
  const tokens = briefMemory((hash) => selectTokenHolder(database, hash));

  return {
    async keyHolder(authorization, permission, ip) {
      const holder = await keys.holderOf(bearerToken(authorization));
      if (!holder) throw new Problem("UNAUTHENTICATED", "Invalid API key");
      if (!isAllowed(holder.ipAllowlist, ip)) {
        throw new Problem("FORBIDDEN", "This API key may not be used from this address.");
      }
      if (!holder.permissions.has("all") && !holder.permissions.has(permission)) {
        throw new Problem("FORBIDDEN", `This API key lacks the permission ${permission}.`);
      }
      return holder;
    },
    async scimCompany(authorization, origin) {
      const holder = await tokens.holderOf(bearerToken(authorization));
      if (!holder) throw new Problem("UNAUTHENTICATED", "Invalid SCIM token");
      if (holder.requiredOrigin !== undefined && holder.requiredOrigin !== origin) {
        throw new Problem(
          "FORBIDDEN",
          "X-Request-Origin must be the service origin that belongs to this SCIM token.",
        );
      }
      return holder.company;
    },
    administrator(authorization) {
      const token = bearerToken(authorization);
      if (token === undefined || !sameSecret(token, adminToken)) {
        throw new Problem("UNAUTHENTICATED", "Invalid admin token");
      }
    },
    forget() {
      keys.forget();
      tokens.forget();
    },
  };
}

/** Remembers for a second who holds a token, or that nobody does. */
function briefMemory<Holder>(select: (hash: string) => Promise<Holder | undefined>) {
  const remembered = new Map<string, { holder: Holder | undefined; until: number }>();
  return {
    async holderOf(token: string | undefined): Promise<Holder | undefined> {
      if (token === undefined) return undefined;
      const hash = hashSecret(token);
      const known = remembered.get(hash);
      if (known && known.until > performance.now()) return known.holder;
      const holder = await select(hash);
      if (remembered.size >= REMEMBERED_TOKENS) remembered.clear();
      remembered.set(hash, { holder, until: performance.now() + TRUST_MS });
      return holder;
    },
    forget: () => remembered.clear(),
  };
}

/** The token of an `Authorization: Bearer TOKEN` header; the scheme's case does not matter. */
function bearerToken(authorization: string | undefined): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(authorization ?? "")?.[1];
}
