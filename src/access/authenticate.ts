import type { Database } from "../database/database.ts";
import { isAllowed } from "../ip-allowlist.ts";
import { Problem } from "../problem.ts";
import type { Permission } from "./permissions.ts";
import { hashSecret, sameSecret } from "./secrets.ts";
import { selectKeyHolder } from "./store.ts";
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
  /** @throws Problem UNAUTHENTICATED. */
  administrator(authorization: string | undefined): void;
  /** Reads everything anew: keys or workspaces have changed. */
  forget(): void;
}

/**
 * Tells who sends a request from its `Authorization: Bearer` header.
 *
 * Keys are looked up by their hash and remembered for a second, so that the hot path asks the
 * database nothing; a change made through this process is seen at once, one made through another
 * process within that second.
 */
export function createAuthenticator(database: Database, adminToken: string): Authenticator {
  const remembered = new Map<string, { holder: KeyHolder | undefined; until: number }>();

  async function lookUp(token: string): Promise<KeyHolder | undefined> {
    const hash = hashSecret(token);
    const known = remembered.get(hash);
    if (known && known.until > performance.now()) return known.holder;
    const holder = await selectKeyHolder(database, hash);
    if (remembered.size >= REMEMBERED_TOKENS) remembered.clear();
    remembered.set(hash, { holder, until: performance.now() + TRUST_MS });
    return holder;
  }

  return {
    async keyHolder(authorization, permission, ip) {
      const token = bearerToken(authorization);
      const holder = token === undefined ? undefined : await lookUp(token);
      if (!holder) throw new Problem("UNAUTHENTICATED", "Invalid API key");
      if (!isAllowed(holder.ipAllowlist, ip)) {
        throw new Problem("FORBIDDEN", "This API key may not be used from this address.");
      }
      if (!holder.permissions.has("all") && !holder.permissions.has(permission)) {
        throw new Problem("FORBIDDEN", `This API key lacks the permission ${permission}.`);
      }
      return holder;
    },
    administrator(authorization) {
      const token = bearerToken(authorization);
      if (token === undefined || !sameSecret(token, adminToken)) {
        throw new Problem("UNAUTHENTICATED", "Invalid admin token");
      }
    },
    forget: () => remembered.clear(),
  };
}

/** The token of an `Authorization: Bearer TOKEN` header; the scheme's case does not matter. */
function bearerToken(authorization: string | undefined): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(authorization ?? "")?.[1];
}
