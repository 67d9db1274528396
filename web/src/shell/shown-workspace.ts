import { useParams } from "@tanstack/react-router";
import { useSession } from "../api/session.ts";

/** The workspace that a person looked at last, for pages that belong to none. */
let last: string | undefined;

/** The workspace of the address; on a page of the company the one before it, or the person's first. */
export function useShownWorkspace(): string | undefined {
  const { workspaces } = useSession();
  const { workspace } = useParams({ strict: false });
  if (workspace !== undefined) {
    last = workspace;
    return workspace;
  }
  return workspaces.find((name) => name === last) ?? workspaces[0];
}
