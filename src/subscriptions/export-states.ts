import { selectAllEmailStates, selectAllGroupStates } from "./export-store.ts";

export type { ExportedEmailState, ExportedGroupState } from "./export-store.ts";

/** All group states of a workspace with the names of their users, in portions. */
export const readAllGroupStates: (
  ...of: Parameters<typeof selectAllGroupStates>
) => ReturnType<typeof selectAllGroupStates> = selectAllGroupStates;

/** The email states of all addresses of a workspace, in portions. */
export const readAllEmailStates: (
  ...of: Parameters<typeof selectAllEmailStates>
) => ReturnType<typeof selectAllEmailStates> = selectAllEmailStates;
