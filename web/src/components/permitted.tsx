import { ActionIcon, Button, type ButtonProps, Menu, Tooltip } from "@mantine/core";
import type { ReactNode } from "react";
import type {
  CompanyPermission,
  WorkspacePermission,
} from "../../../src/core/base/context/dashboard-permissions.ts";
import { useSession } from "../api/session.ts";

/* An action that a person may not do is disabled and says why. The keyboard reaches it all the same. */

/** The permissions of an action: all of these. */
export interface Needed {
  /** Absent for permissions of the company. */
  readonly workspace?: string;
  readonly needs: WorkspacePermission | CompanyPermission | readonly WorkspacePermission[];
}

/** Why the person may not do something; undefined if they may. */
export function useMissing(needed: Needed | undefined): string | undefined {
  const { administrator, permissions } = useSession();
  if (needed === undefined || administrator) return undefined;
  const { workspace, needs } = needed;
  const held: readonly string[] | undefined =
    workspace === undefined ? permissions.company : permissions.workspaces[workspace];
  const missing = [needs].flat().find((each) => !held?.includes(each));
  if (missing === undefined) return undefined;
  return `You lack the permission ${missing} ${workspace === undefined ? "of the company" : "in this workspace"}.`;
}

/** Shows a reason under the pointer, at the touch of a finger and with the focus. */
const Reason = ({ text, children }: { readonly text: string; readonly children: ReactNode }) => (
  <Tooltip label={text} events={{ hover: true, focus: true, touch: true }}>
    {children}
  </Tooltip>
);

type Look = "leftSection" | "rightSection" | "size" | "variant" | "loading" | "disabled";

interface PermittedButtonProps extends Pick<ButtonProps, Look> {
  /** Absent for what everyone may do. */
  readonly needed: Needed | undefined;
  readonly onClick?: () => void;
  readonly type?: "submit";
  readonly children: ReactNode;
  readonly "aria-label"?: string;
}

/** A button that says why it does nothing to a person who lacks its permission. */
export function PermittedButton({ needed, ...props }: PermittedButtonProps) {
  const missing = useMissing(needed);
  if (missing === undefined) return <Button {...props} />;
  const { onClick: _, disabled: __, ...look } = props;
  return (
    <Reason text={missing}>
      <Button {...look} type="button" data-disabled aria-disabled aria-description={missing} />
    </Reason>
  );
}

interface PermittedIconProps {
  readonly needed?: Needed | undefined;
  readonly label: string;
  readonly onClick?: () => void;
  readonly children: ReactNode;
}

/** A button that shows only an icon. */
export function PermittedIcon({ needed, label, onClick, ...props }: PermittedIconProps) {
  const missing = useMissing(needed);
  const look = { variant: "subtle", color: "gray", size: "sm", "aria-label": label } as const;
  if (missing === undefined) {
    return <ActionIcon {...look} {...props} {...(onClick && { onClick })} />;
  }
  return (
    <Reason text={missing}>
      <ActionIcon {...look} {...props} data-disabled aria-disabled aria-description={missing} />
    </Reason>
  );
}

interface PermittedItemProps {
  readonly needed: Needed;
  readonly leftSection?: ReactNode;
  readonly onClick: () => void;
  readonly children: ReactNode;
}

/** An entry of a menu, with the reason below its name. */
export function PermittedItem({ needed, leftSection, onClick, children }: PermittedItemProps) {
  const missing = useMissing(needed);
  if (missing === undefined) {
    return (
      <Menu.Item leftSection={leftSection} onClick={onClick}>
        {children}
      </Menu.Item>
    );
  }
  return (
    <Menu.Item
      leftSection={leftSection}
      className="forbidden"
      closeMenuOnClick={false}
      aria-disabled
    >
      {children}
      <div className="forbidden-reason">{missing}</div>
    </Menu.Item>
  );
}
