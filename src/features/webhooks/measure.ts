import { readWorkspaceNames } from "../../core/admin/workspaces/find-workspace.ts";
import type { Metrics } from "../../core/base/observe/metrics.ts";
import { settleAll } from "../../core/database/database.ts";
import type { StoringServices } from "../../core/database/storing-services.ts";
import { selectBehind } from "./positions-store.ts";
import { countPaused } from "./store.ts";

type MeasureServices = StoringServices & { readonly metrics: Pick<Metrics, "webhooks"> };

/** Sets the metrics of all webhooks. Without webhooks it costs two small statements. */
export async function measureWebhooks({
  database,
  clock,
  metrics,
}: MeasureServices): Promise<void> {
  const [behind, paused] = await settleAll([selectBehind(database), countPaused(database)]);
  const names = behind.length > 0 ? await readWorkspaceNames(database) : new Map<number, string>();
  const now = clock.now().getTime();
  metrics.webhooks(
    paused,
    behind.map(({ workspaceId, webhookId, since }) => ({
      workspace: names.get(workspaceId) ?? "",
      webhook: webhookId,
      seconds: since ? Math.max(0, (now - since.getTime()) / 1_000) : 0,
    })),
  );
}
