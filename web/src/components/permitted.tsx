import { ActionIcon, Button, type ButtonProps, Menu, Tooltip } from "@mantine/core";
import type { ReactNode } from "react";
import type {
  CompanyPermission,
  WorkspacePermission,
} from "../../../src/core/base/context/dashboard-permissions.ts";
import { useSession } from "../api/session.ts";
import { useWorkspace } from "../api/workspace.ts";

/* An action that a person may not do is disabled and says why. The keyboard reaches it all the same. */

/** The permissions of an action: all of these in the workspace, or one of the company. */
export type Needs =
  | WorkspacePermission
  | readonly WorkspacePermission[]
  | { readonly company: CompanyPermission };

/** Why the person may not do something; undefined if they may. */
export function useMissing(needs: Needs | undefined): string | undefined {
  const { administrator, permissions } = useSession();
  const inWorkspace = permissions.workspaces[useWorkspace()];
  if (needs === undefined || administrator) return undefined;
  const isOfCompany = typeof needs === "object" && "company" in needs;
  const held: readonly string[] = (isOfCompany ? permissions.company : inWorkspace) ?? [];
  const wanted = isOfCompany ? [needs.company] : [needs].flat();
  const missing = wanted.find((each) => !held.includes(each));
  if (missing === undefined) return undefined;
  return `You lack the permission ${missing} ${isOfCompany ? "of the company" : "in this workspace"}.`;
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
  readonly needs: Needs | undefined;
  readonly onClick?: () => void;
  readonly type?: "submit";
  readonly children: ReactNode;
  readonly "aria-label"?: string;
}

/** A button that says why it does nothing to a person who lacks its permission. */
export function PermittedButton({ needs, ...props }: PermittedButtonProps) {
  const missing = useMissing(needs);
  if (missing === undefined) return <Button {...props} />;
  const { onClick: _, disabled: __, ...look } = props;
  return (
    <Reason text={missing}>
      <Button {...look} type="button" data-disabled aria-disabled aria-description={missing} />
    </Reason>
  );
}

interface PermittedIconProps {
  readonly needs?: Needs | undefined;
  readonly label: string;
  readonly onClick?: () => void;
  readonly children: ReactNode;
}

/** A button that shows only an icon. */
export function PermittedIcon({ needs, label, onClick, ...props }: PermittedIconProps) {
  const missing = useMissing(needs);
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
  readonly needs: Needs;
  readonly leftSection?: ReactNode;
  readonly onClick: () => void;
  readonly children: ReactNode;
}

/** An entry of a menu, with the reason below its name. */
export function PermittedItem({ needs, leftSection, onClick, children }: PermittedItemProps) {
  const missing = useMissing(needs);
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
