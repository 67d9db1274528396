import { readKeyHolders } from "../../../core/admin/access/keys.ts";
import { Problem } from "../../../core/base/problem.ts";
import type { StoringServices } from "../../../core/database/storing-services.ts";
import type { StoredExport } from "./store.ts";

/* An export ends with the API key that asked for it: a link, an archive under way, a file, a report. */

type Made = Pick<StoredExport, "workspaceId" | "makerHash" | "makerAddress">;

/** How often it is looked whether the key may still export. */
const LOOK_EVERY_MS = 500;

/** Whether the call that asked for an export could not be made any more. */
export async function isMakerGone(
  { database, clock }: StoringServices,
  { workspaceId, makerHash, makerAddress }: Made,
): Promise<boolean> {
  // An earlier version did not store who asked.
  if (makerHash === null || makerAddress === null) return false;
  const holder = (await readKeyHolders(database, [makerHash], clock.now())).get(makerHash);
  if (holder?.workspace.id !== workspaceId || !holder.allows(makerAddress)) return true;
  return !holder.permissions.has("all") && !holder.permissions.has("users.export.segment");
}

export const MAKER_GONE = "The API key that asked for this export may no longer export.";

/** Aborts a signal within a second after the key of an export may no longer export. */
export function watchMaker(
  services: StoringServices,
  found: Made,
): { readonly signal: AbortSignal; stop(): void } {
  const controller = new AbortController();
  const look = async () => {
    // An outage says nothing about the key.
    const isGone = await isMakerGone(services, found).catch(() => false);
    if (isGone) controller.abort(new Problem("FORBIDDEN", MAKER_GONE));
  };
  const timer = setInterval(() => void look(), LOOK_EVERY_MS).unref();
  return { signal: controller.signal, stop: () => clearInterval(timer) };
}
