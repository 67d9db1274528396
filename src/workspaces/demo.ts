import { keptSecret } from "../access/kept-secret.ts";
import { findKeyHolder } from "../access/keys.ts";
import { BY_THE_SERVER } from "../audit/audit.ts";
import { type ApplyServices, applyManifest } from "./apply.ts";
import { selectWorkspaces } from "./store.ts";

/** What a first start without a manifest makes, so that there is something to talk to. */
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
    },
  ],
});

/**
 * Makes the demo workspace on a database that has no workspace. Its key is kept in the data folder
 * (mode 0600), because the database has only its hash.
 *
 * @returns the key, where this data folder has it and it opens the demo workspace.
 */
export async function ensureDemo(
  services: ApplyServices,
  dataDir: string,
): Promise<string | undefined> {
  const isEmpty = (await selectWorkspaces(services.database)).length === 0;
  const key = await keptSecret(dataDir, "demo-api-key", "demo");
  if (isEmpty) await applyManifest(services, demoManifest(key), BY_THE_SERVER);
  return (await findKeyHolder(services.database, key, services.clock.now())) && key;
}
