import type { WorkspaceSettings } from "./workspace-settings.ts";

export type Channel = "email" | "sms" | "whatsapp";

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
