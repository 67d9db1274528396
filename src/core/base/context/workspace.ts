import type { WorkspaceSettings } from "./workspace-settings.ts";

export type Channel = "email" | "sms" | "whatsapp";

/**
 * Subscription groups of a workspace. Pages show thousands, 100 at a time. Their ids are read with the workspace: 6,000 take 26 ms on the embedded engine, 500
 * take 6 ms.
 */
export const MOST_GROUPS = 6_000;

/** The workspace of a request, with everything declared about it. */
export interface Workspace {
  readonly id: number;
  readonly name: string;
  /** Whether it may be emptied by a reset. */
  readonly allowReset: boolean;
  readonly settings: WorkspaceSettings;
  /** How often its change feed was turned on; null while it is off. */
  readonly feed: number | null;
  readonly appIds: ReadonlySet<string>;
  readonly groupChannels: ReadonlyMap<string, Channel>;
}
