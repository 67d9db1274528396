import { keptSecret } from "../access/kept-secret.ts";
import { findKeyHolder } from "../access/keys.ts";
import { BY_THE_SERVER } from "../context/context.ts";
import { type ApplyServices, applyManifest } from "../workspaces/apply-manifest.ts";
import { listWorkspaces } from "../workspaces/manage-workspaces.ts";
import type { Config } from "./config.ts";
import { DEMO_KEY_FILE, type DemoKey } from "./welcome.ts";

/** What a first start without a manifest creates, so that the first request works. */
const demoManifest = (key: string) => ({
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
      preference_centers: [{ id: "0f4e6c1a-7d02-4c55-9a3e-2b8d51c7f6a4", name: "main" }],
    },
  ],
});

/**
 * Creates the demo workspace on a database without workspaces, if the settings allow it. Its key is kept
 * in the data folder (mode 0600), because the database only stores its hash.
 *
 * @returns the key, if this data folder has it and it opens the demo workspace.
 */
export async function findDemoKey(
  services: ApplyServices,
  { dataDir, demo }: Pick<Config, "dataDir" | "demo">,
): Promise<DemoKey | undefined> {
  if (!demo) return undefined;
  const isNew = (await listWorkspaces(services)).length === 0;
  const key = await keptSecret(dataDir, DEMO_KEY_FILE, "demo");
  if (isNew) await applyManifest(services, demoManifest(key), BY_THE_SERVER);
  const holder = await findKeyHolder(services.database, key, services.clock.now());
  return holder && { key, isNew };
}
