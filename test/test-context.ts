import type { WorkspaceContext } from "../src/core/base/context/context.ts";
import type { Workspace } from "../src/core/base/context/workspace.ts";
import { DEFAULT_SETTINGS } from "../src/core/base/context/workspace-settings.ts";

/** A workspace with default settings for tests below the HTTP layer. */
export const testWorkspace = (given: Partial<Workspace> = {}): Workspace => ({
  id: 1,
  name: "test",
  allowReset: false,
  settings: DEFAULT_SETTINGS,
  feed: null,
  appIds: new Set(),
  groupChannels: new Map(),
  ...given,
});

/** The context of a call in a workspace. */
export const contextIn = (workspace: Workspace): WorkspaceContext => ({
  actor: "key",
  actorName: null,
  call: "a test",
  requestId: "0",
  address: "127.0.0.1",
  workspace,
});
