import Type from "typebox";
import type { WorkspaceContext } from "../../base/context/context.ts";
import {
  CAPTURED_PERMISSIONS,
  PERMISSIONS,
  type Permission,
} from "../../base/context/permissions.ts";
import type { Workspace } from "../../base/context/workspace.ts";
import type { Queryable } from "../../database/database.ts";
import { hashSecret } from "../secrets/secrets.ts";
import { loadWorkspaces } from "../workspaces/find-workspace.ts";
import { textArray } from "./credential-store.ts";
import type { CredentialKind } from "./credentials.ts";
import { allowlistOf, isAllowlistEntry } from "./ip-allowlist.ts";
import { selectOpenKeys } from "./store.ts";

/** The permissions of an API key, and the addresses that may use it. */
export interface KeyGrant {
  readonly permissions: readonly (Permission | "all")[];
  /** Addresses and CIDR blocks; empty for everywhere. */
  readonly ipAllowlist: readonly string[];
}

const KEY_PERMISSIONS = ["all", ...PERMISSIONS, ...CAPTURED_PERMISSIONS] as const;

export const API_KEYS: CredentialKind<KeyGrant, WorkspaceContext> = {
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
  secretName: "key",
  auditKind: "api_key",
  ownerOf: ({ workspace }) => ({ id: workspace.id, workspace: workspace.name }),
  members: {
    permissions: Type.Array(Type.Enum([...KEY_PERMISSIONS]), {
      maxItems: KEY_PERMISSIONS.length,
      description: "The key's permissions: all, or a list.",
    }),
    ip_allowlist: Type.Array(
      Type.Refine(Type.String(), isAllowlistEntry, () => "must be an IP address or CIDR"),
      {
        maxItems: 1_000,
        description:
          "Addresses and CIDR blocks that the key may be used from; empty means everywhere.",
      },
    ),
  },
  defaults: { ip_allowlist: [] },
  grantOf: ({ permissions, ip_allowlist }) =>
    ({ permissions, ipAllowlist: ip_allowlist }) as KeyGrant,
  membersOf: ({ permissions, ipAllowlist }) => ({ permissions, ip_allowlist: ipAllowlist }),
};

/** An API key as a request uses it: its workspace and its permissions there. */
export interface KeyHolder {
  readonly keyId: string;
  readonly keyName: string;
  readonly secretHash: string;
  readonly workspace: Workspace;
  readonly permissions: ReadonlySet<Permission | "all">;
  readonly allows: (address: string) => boolean;
}

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
    keys.flatMap(({ secretHash, workspaceId, permissions, ipAllowlist, keyId, keyName }) => {
      const workspace = workspaces.get(workspaceId);
      if (!workspace) return [];
      const allows = allowlistOf(ipAllowlist);
      const holder = {
        keyId,
        keyName,
        secretHash,
        workspace,
        permissions: new Set(permissions),
        allows,
      };
      return [[secretHash, holder] as const];
    }),
  );
}

/** Finds the holder of a key. */
export async function findKeyHolder(
  database: Queryable,
  key: string,
  now: Date,
): Promise<KeyHolder | undefined> {
  const hash = hashSecret(key);
  return (await readKeyHolders(database, [hash], now)).get(hash);
}
