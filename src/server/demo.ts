import { findKeyHolder, readKeyHolders } from "../core/admin/access/keys.ts";
import { hashSecret } from "../core/admin/secrets/secrets.ts";
import {
  findSharedSecret,
  readKeptSecret,
  type SharedSecret,
  shareSecret,
} from "../core/admin/secrets/shared-secret.ts";
import { type ApplyServices, applyManifest } from "../core/admin/workspaces/apply-manifest.ts";
import { listWorkspaces } from "../core/admin/workspaces/manage-workspaces.ts";
import type { Clock } from "../core/base/clock.ts";
import { BY_THE_SERVER } from "../core/base/context/context.ts";
import type { Config } from "./config.ts";
import { DEMO_KEY_FILE } from "./welcome.ts";

/** The workspace of a first start without a manifest, so that the first request works. */
const demoManifest = (key: string, ofFeatures: object) => ({
  company: { name: "Demo" },
  workspaces: [
    {
      name: "demo",
      allow_reset: true,
      api_keys: [{ name: "demo", key, permissions: ["all"] }],
      apps: [{ id: "7f1c0a52-6a0e-4a3e-9d55-0c9b1f3c2d11", name: "Web", platform: "web" }],
      subscription_groups: [
        { id: "ed06e19a-51bb-4c4e-8a3d-9b4a7d3a1c20", name: "Newsletter", channel: "email" },
        { id: "1f6a0f0b-43d4-4b1c-8f43-5a3c6e0d7b9e", name: "Alerts", channel: "sms" },
      ],
      ...ofFeatures,
    },
  ],
});

/**
 * Creates the demo workspace on a database without workspaces, if the settings allow it. Its key is
 * kept in the data folder (mode 0600), because the database only stores its hash. If several
 * servers start at once, one creates it.
 *
 * @param ofFeatures what features declare in the workspace.
 * @returns the key, if it opens the demo workspace; without its secret, if another server's folder has that.
 */
export async function findDemoKey(
  services: ApplyServices & { readonly clock: Clock },
  { dataDir, demo }: Pick<Config, "dataDir" | "demo">,
  ofFeatures: object,
): Promise<SharedSecret | undefined> {
  if (!demo) return undefined;
  const { database, clock } = services;
  if ((await listWorkspaces(database)).length === 0) {
    const shared = await shareSecret(database, dataDir, DEMO_KEY_FILE, "demo");
    if (shared.secret === undefined) return shared;
    await applyManifest(services, demoManifest(shared.secret, ofFeatures), BY_THE_SERVER);
    return { ...shared, isNew: true };
  }
  const kept = await readKeptSecret(dataDir, DEMO_KEY_FILE);
  if (kept !== undefined && (await findKeyHolder(database, kept, clock.now()))) {
    return { hash: hashSecret(kept), secret: kept, isNew: false, origin: undefined };
  }
  const shared = await findSharedSecret(database, dataDir, DEMO_KEY_FILE);
  const isInUse = shared && (await readKeyHolders(database, [shared.hash], clock.now())).size > 0;
  return isInUse ? shared : undefined;
}
