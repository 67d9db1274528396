import type { Clock } from "../clock.ts";
import type { Database } from "../database/database.ts";
import { isAllowed } from "../ip-allowlist.ts";
import { Problem } from "../problem.ts";
import type { TokenHolder } from "./company.ts";
import { API_KEYS } from "./keys.ts";
import type { Permission } from "./permissions.ts";
import { remember } from "./remembered.ts";
import { SCIM_TOKENS } from "./scim-tokens.ts";
import { sameSecret } from "./secrets.ts";
import type { Sightings } from "./sightings.ts";
import { selectKeyHolders, selectTokenHolders } from "./store.ts";
import type { KeyHolder } from "./workspace.ts";

export interface Authenticator {
  /** The holder of an API key that is used from `ip`. @throws Problem UNAUTHENTICATED or FORBIDDEN. */
  keyHolder(
    authorization: string | undefined,
    permission: Permission,
    ip: string,
  ): Promise<KeyHolder>;
  /**
   * The holder of a SCIM token. spec: Authentication; decision: SCIM.
   *
   * @param origin the header `X-Request-Origin`.
   * @throws Problem UNAUTHENTICATED; FORBIDDEN for another origin than the token's.
   */
  tokenHolder(authorization: string | undefined, origin: unknown): Promise<TokenHolder>;
  /** @throws Problem UNAUTHENTICATED. */
  administrator(authorization: string | undefined): void;
  /** Reads everything anew: keys or workspaces have changed. */
  forget(): void;
}

export interface AuthenticatorServices {
  readonly database: Database;
  readonly clock: Clock;
  /** Gets to know which keys and tokens are used. */
  readonly sightings: Sightings;
}

/**
 * Tells who sends a request from its `Authorization: Bearer` header.
 *
 * Keys and tokens are looked up by their hash and remembered for a second: a change made through this
 * process is seen at once, one made through another process within that second.
 */
export function createAuthenticator(
  { database, clock, sightings }: AuthenticatorServices,
  adminToken: string,
): Authenticator {
  const keys = remember((hashes) => selectKeyHolders(database, hashes, clock.now()));
  const tokens = remember((hashes) => selectTokenHolders(database, hashes, clock.now()));

  return {
    async keyHolder(authorization, permission, ip) {
      const holder = await keys.find(bearerToken(authorization));
      if (!holder) throw new Problem("UNAUTHENTICATED", "Invalid API key");
      if (!isAllowed(holder.ipAllowlist, ip)) {
        throw new Problem("FORBIDDEN", "This API key may not be used from this address.");
      }
      if (!holder.permissions.has("all") && !holder.permissions.has(permission)) {
        throw new Problem("FORBIDDEN", `This API key lacks the permission ${permission}.`);
      }
      sightings.note(API_KEYS.table, holder.keyId);
      return holder;
    },
    async tokenHolder(authorization, origin) {
      const holder = await tokens.find(bearerToken(authorization));
      if (!holder) throw new Problem("UNAUTHENTICATED", "Invalid SCIM token");
      if (holder.requiredOrigin !== undefined && holder.requiredOrigin !== origin) {
        throw new Problem(
          "FORBIDDEN",
          "X-Request-Origin must be the service origin that belongs to this SCIM token.",
        );
      }
      sightings.note(SCIM_TOKENS.table, holder.tokenId);
      return holder;
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

/** The token of an `Authorization: Bearer TOKEN` header; the scheme's case does not matter. */
function bearerToken(authorization: string | undefined): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(authorization ?? "")?.[1];
}
