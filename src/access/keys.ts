import type { Permission } from "../context/permissions.ts";
import type { KeyHolder } from "../context/workspace.ts";
import type { Queryable } from "../database/database.ts";
import { loadWorkspaces } from "../workspaces/find-workspace.ts";
import type { CredentialKind } from "./credentials.ts";
import { hashSecret } from "./secrets.ts";
import { selectOpenKeys } from "./store.ts";

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

/** The holders of the keys that these secrets open now, by the secret's hash. */
export async function readKeyHolders(
  database: Queryable,
  secretHashes: readonly string[],
  now: Date,
): Promise<Map<string, KeyHolder>> {
  const keys = await selectOpenKeys(database, secretHashes, now);
  const ids = new Set(keys.map((key) => key.workspaceId));
  const workspaces = await loadWorkspaces(database, [...ids]);
  return new Map(
    keys.flatMap(({ secretHash, workspaceId, permissions, ...key }) => {
      const workspace = workspaces.get(workspaceId);
      return workspace
        ? [[secretHash, { ...key, permissions: new Set(permissions), workspace }] as const]
        : [];
    }),
  );
}

/** The holder of a key, by the key itself. */
export async function findKeyHolder(
  database: Queryable,
  key: string,
  now: Date,
): Promise<KeyHolder | undefined> {
  const hash = hashSecret(key);
  return (await readKeyHolders(database, [hash], now)).get(hash);
}
