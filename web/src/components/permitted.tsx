import { Button, type ButtonProps, Tooltip } from "@mantine/core";
import type { ReactNode } from "react";
import type { WorkspacePermission } from "../../../src/context/dashboard-permissions.ts";
import { useSession } from "../api/session.ts";

/** A permission in a workspace. */
export interface Needed {
  readonly workspace: string;
  readonly needs: WorkspacePermission;
}

/** Why the person may not do something; undefined where they may. */
export function useMissing(needed: Needed | undefined): string | undefined {
  const { administrator, permissions } = useSession();
  if (needed === undefined) return undefined;
  const { workspace, needs } = needed;
  if (administrator || permissions.workspaces[workspace]?.includes(needs)) return undefined;
  return `You lack the permission ${needs} in this workspace.`;
}

interface PermittedButtonProps
  extends Needed,
    Pick<ButtonProps, "leftSection" | "size" | "variant" | "loading"> {
  readonly onClick: () => void;
  readonly children: ReactNode;
}

/** A button that says why it does nothing to a person who lacks its permission. The keyboard reaches it all the same. */
export function PermittedButton({ workspace, needs, onClick, ...props }: PermittedButtonProps) {
  const missing = useMissing({ workspace, needs });
  if (missing === undefined) return <Button {...props} onClick={onClick} />;
  return (
    <Tooltip label={missing} events={{ hover: true, focus: true, touch: true }}>
      <Button {...props} data-disabled aria-disabled aria-description={missing} />
    </Tooltip>
  );
}
