import { useParams } from "@tanstack/react-router";
import { useEffect } from "react";
import { useSession } from "../api/session.ts";

/** The workspace that a person looked at last in this tab, for pages that belong to none. */
const KEY = "rapport-workspace";

/**
 * The workspace of the address; on a page of the company the previous one, or the person's first.
 */
export function useShownWorkspace(): string | undefined {
  const { workspaces } = useSession();
  const { workspace } = useParams({ strict: false });
  useEffect(() => {
    if (workspace !== undefined) sessionStorage.setItem(KEY, workspace);
  }, [workspace]);
  if (workspace !== undefined) return workspace;
  const last = sessionStorage.getItem(KEY);
  return workspaces.find((name) => name === last) ?? workspaces[0];
}
