import type { Company } from "../../base/context/context.ts";
import type { Permission } from "../../base/context/permissions.ts";
import type { Queryable } from "../../database/database.ts";

/** An API key, as found by one of its secrets. */
export interface KeyRow {
  readonly secretHash: string;
  readonly keyId: string;
  readonly keyName: string;
  readonly permissions: readonly (Permission | "all")[];
  readonly ipAllowlist: readonly string[];
  readonly workspaceId: number;
}

/** The keys that these secrets open now. */
export const selectOpenKeys = (database: Queryable, secretHashes: readonly string[], now: Date) =>
  database.query<KeyRow>(
    `select s.secret_hash as "secretHash", k.key_id as "keyId", k.name as "keyName",
       to_jsonb(k.permissions) as permissions, to_jsonb(k.ip_allowlist) as "ipAllowlist",
       k.workspace_id as "workspaceId"
     from secrets s join api_keys k on k.key_id = s.owner_id
     where s.secret_hash = any($1::text[]) and (s.expires_at is null or s.expires_at > $2)`,
    [secretHashes, now],
  );

export interface TokenHolder {
  readonly tokenId: string;
  readonly tokenName: string;
  readonly company: Company;
  /** The required value of `X-Request-Origin`; undefined if the token does not require it. */
  readonly requiredOrigin: string | undefined;
  /** The permissions in the company that it may give users. */
  readonly grantable: readonly string[];
}

interface TokenRow {
  secret_hash: string;
  token_id: string;
  name: string;
  service_origin: string;
  require_origin: boolean;
  company_id: string;
  company_name: string;
  company_permissions: string[];
}

/** The holders of the SCIM tokens that these secrets open now, by hash. */
export async function selectTokenHolders(
  database: Queryable,
  secretHashes: readonly string[],
  now: Date,
): Promise<Map<string, TokenHolder>> {
  const rows = await database.query<TokenRow>(
    `select s.secret_hash, t.token_id, t.name, t.service_origin, t.require_origin,
       to_jsonb(t.company_permissions) as company_permissions, c.company_id,
       c.name as company_name
     from secrets s join scim_tokens t on t.token_id = s.owner_id
       join companies c on c.company_id = t.company_id
     where s.secret_hash = any($1::text[]) and (s.expires_at is null or s.expires_at > $2)`,
    [secretHashes, now],
  );
  return new Map(
    rows.map((row) => [
      row.secret_hash,
      {
        tokenId: row.token_id,
        tokenName: row.name,
        company: { id: row.company_id, name: row.company_name },
        requiredOrigin: row.require_origin ? row.service_origin : undefined,
        grantable: row.company_permissions,
      },
    ]),
  );
}
