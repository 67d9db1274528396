import { ActionIcon, Menu } from "@mantine/core";
import { Ellipsis } from "lucide-react";
import type { ReactNode } from "react";
import { type Needed, PermittedIcon, useMissing } from "./permitted.tsx";

interface RowActionsProps {
  readonly of: string;
  /** Without it everyone who sees the row has the actions. */
  readonly needed?: Needed;
  readonly children: ReactNode;
}

/** The actions of a row, at its end; people who lack the permission see a note. */
export function RowActions({ of: name, needed, children }: RowActionsProps) {
  const isForbidden = useMissing(needed) !== undefined;
  const label = `Actions for ${name}`;
  const icon = <Ellipsis size={16} />;
  if (isForbidden) {
    return (
      <PermittedIcon needed={needed} label={label}>
        {icon}
      </PermittedIcon>
    );
  }
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="sm" aria-label={label}>
          {icon}
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>{children}</Menu.Dropdown>
    </Menu>
  );
}
