import type { Queryable } from "../database/database.ts";
import type { CredentialKind } from "./credentials.ts";
import type { Permission } from "./permissions.ts";
import { hashSecret } from "./secrets.ts";
import { selectKeyHolders } from "./store.ts";
import type { KeyHolder } from "./workspace.ts";

/** What an API key may do, and from where. */
export interface KeyGrant {
  readonly permissions: readonly (Permission | "all")[];
  /** Addresses and CIDR blocks; empty for everywhere. */
  readonly ipAllowlist: readonly string[];
}

const textArray = (column: string, member: string) => ({
  column,
  read: `to_jsonb(${column})`,
  write: `array(select jsonb_array_elements_text(new.granted::jsonb->'${member}'))`,
});

/** API keys: each belongs to a workspace. */
export const API_KEYS: CredentialKind<KeyGrant> = {
  table: {
    name: "api_keys",
    id: "key_id",
    owner: "workspace_id",
    grant: {
      permissions: textArray("permissions", "permissions"),
      ipAllowlist: textArray("ip_allowlist", "ipAllowlist"),
    },
  },
  noun: "API key",
  belongs: "in this workspace",
  prefix: "key",
};

/** Who holds a key, by the key itself. */
export async function findKeyHolder(
  database: Queryable,
  key: string,
  now: Date,
): Promise<KeyHolder | undefined> {
  const hash = hashSecret(key);
  return (await selectKeyHolders(database, [hash], now)).get(hash);
}
